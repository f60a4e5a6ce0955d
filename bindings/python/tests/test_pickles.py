"""Outcomes in another process, and copies of what frameworks copy."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolfold import Approver, Confirm, Engine, Forward, Outcome, Refuse, Reply
from toolfold._settings import Settings
from toolfold._toolfold import restore_outcome
from toolfold.errors import RestoreError

RULES = """
[[rule]]
tool = "*"
decide = "allow"
why = "the tests may"
[[rule]]
tool = "delete_file"
decide = "ask"
[[rule]]
tool = "rename_file"
args = { destination = "b" }
decide = "deny"
"""
#: More digits than 64 bits have, and text that JSON escapes.
CALLS: dict[type, tuple[str, str]] = {
    Forward: ("list_sheets", '{"file_path": "\\u6771\\"\\n.xlsx", "limit": 1000000000000000000000000000007}'),
    Reply: ("expand_tools", '{"tools": ["create_excel_chart"]}'),
    Confirm: ("delete_file", '{"file_path": "a.xlsx", "confirm": true}'),
    Refuse: ("rename_file", '{"source": "a", "destination": "b"}'),
}
WIRES = ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse", "mcp"]


def outcome_of(kind: type, wire: str = "openai-chat", arm: str = "lean") -> Outcome:
    made = Engine("excel", arm=arm, policy=RULES, approvals=Approver()).conversation(wire, id="k").call(*CALLS[kind], "c1")
    assert type(made) is kind, made
    return made


def members(outcome: Any) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in dir(outcome) if not name.startswith("__") and name != "noted"}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", CALLS)
def test_an_outcome_is_the_same_after_pickling(kind: type, wire: str) -> None:
    before = outcome_of(kind, wire)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        after = pickle.loads(pickle.dumps(before, protocol))
        assert after == before and type(after) is kind and repr(after) == repr(before)
        assert members(after) == members(before)


def test_every_member_was_compared() -> None:
    """The test above is worth something only if the members have values."""
    assert members(outcome_of(Forward))["arguments"]["limit"] == 10**30 + 7
    assert members(outcome_of(Forward))["reason"] and members(outcome_of(Confirm))["shown"]["why"]
    assert members(outcome_of(Reply))["opened"] and members(outcome_of(Reply))["messages"]


@pytest.mark.parametrize("arm", ["seed", "index", "search"])
def test_replies_of_every_delivery(arm: str) -> None:
    before = outcome_of(Reply, arm=arm)
    assert members(pickle.loads(pickle.dumps(before))) == members(before)


@pytest.mark.parametrize(("arm", "wire", "model"), [("append", "anthropic", "claude-opus-5"), ("native", "anthropic", "claude-opus-5")])
def test_replies_that_add_definitions(arm: str, wire: str, model: str) -> None:
    conversation = Engine("excel", arm=arm).conversation(wire, model)
    before = conversation.call("expand_tools", '{"tools": ["create_excel_chart"]}', "c1")
    assert members(pickle.loads(pickle.dumps(before))) == members(before)


def test_another_process_reads_an_outcome(tmp_path: Path) -> None:
    file = tmp_path / "outcomes"
    file.write_bytes(pickle.dumps([outcome_of(kind) for kind in CALLS]))
    code = "import pickle, sys; print([type(o).__name__ for o in pickle.load(open(sys.argv[1], 'rb'))])"
    shown = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == str([kind.__name__ for kind in CALLS])


@pytest.mark.parametrize("kind", CALLS)
def test_a_copy_of_an_outcome_is_the_outcome(kind: type) -> None:
    made = outcome_of(kind)
    assert copy.copy(made) is made and copy.deepcopy({"a": [made]})["a"][0] is made


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"forward": {}}', '{"forwards": {}}', "{" * 10_000])
def test_a_text_that_is_no_outcome_is_an_error(text: str) -> None:
    with pytest.raises(RestoreError, match="not an outcome of this version"):
        restore_outcome(text)


def test_settings_are_pickled_without_an_approver(tmp_path: Path) -> None:
    own = Settings(arm="lean", policy="excel", approvals=tmp_path / "a.db")
    assert pickle.loads(pickle.dumps(own)) == own and copy.deepcopy(own) == own
    with pytest.raises(TypeError, match="an Approver is not pickled"):
        pickle.dumps(Settings(approvals=Approver()))
