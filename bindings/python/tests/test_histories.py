"""The message for the history, as the library and the session return it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolfold import Engine

CASES = Path(__file__).resolve().parents[3] / "tests/fixtures/conversation/histories.jsonl"
TOOL = {"name": "put", "description": "Put it.", "inputSchema": {"type": "object", "properties": {"path": {}}}}


@pytest.mark.parametrize("line", CASES.read_text(encoding="utf-8").splitlines())
def test_histories(line: str) -> None:
    case = json.loads(line)
    conversation = Engine([TOOL], arm="full").conversation(wire=case["wire"])
    turn = conversation.turn(json.dumps(case["message"]))
    assert json.dumps(turn.message) == json.dumps(case["history"])
