"""A loop of an SDK in a tool of another loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hosts.asking import DELETE, tools_of
from hosts.rules import called
from test_left_calls import WIRES, words
from workbook import POLICY

from toolfold import Approver, Engine
from toolfold._loop import Dialogue, talk
from toolfold._result import Said


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize("arm", ["lean", "index"])
def test_a_loop_in_a_tool_of_a_loop(arm: str, wire: str, yes: bool, tmp_path: Path) -> None:
    """The loops of the two SDKs ask through the given callback."""
    ran: list[Any] = []
    approver = Approver(tmp_path / "a.db")
    engine = Engine(tools_of(arm), "excel", arm, POLICY, approvals=approver)

    def made(id: str, call: tuple[str, dict[str, Any]]) -> Dialogue:
        conversation = engine.conversation(wire, id=id)
        name, arguments = called(*call, [entry.name for entry in conversation.entries()])
        own: dict[str, Any] = {"name": name, "arguments": json.dumps(arguments)}
        said: dict[str, list[Any]] = {
            "openai-chat": [{"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": own}]}],
            "openai-responses": [{"type": "function_call", "call_id": "c1", **own}],
            "anthropic": [{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": name, "input": arguments}]}],
        }
        left = [said[wire], words(wire)]
        dialogue = Dialogue(conversation, [], WIRES[wire], {}, lambda said: Said("ok", said))
        answers[id] = lambda **_: left.pop(0)
        return dialogue

    answers: dict[str, Any] = {}

    def inner(name: str, arguments: dict[str, Any]) -> str:
        ran.append((name, arguments))
        return "deleted"

    def outer(name: str, arguments: dict[str, Any]) -> str:
        return talk(made("inner", DELETE), answers["inner"], inner, lambda asked: yes, approver, 5).text

    dialogue = made("outer", ("read_excel", {"file_path": "a.xlsx"}))
    assert talk(dialogue, answers["outer"], outer, None, None, 5).text == "ok"
    assert ran == ([DELETE] if yes else []) and approver.get("ap-1").state == ("consumed" if yes else "rejected")
