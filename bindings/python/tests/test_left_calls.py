"""A host that ended between the model's calls and their answers: the loop continues from the history."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from toolfold import Approver, Engine
from toolfold._loop import Dialogue, talk, talk_async
from toolfold._result import Said

TOOLS = [
    {"name": name, "description": name, "input_schema": {"type": "object", "properties": {}}} for name in ("look", "drop")
]
POLICY = '[[rule]]\ntool = "look"\ndecide = "allow"\n\n[[rule]]\ntool = "drop"\ndecide = "ask"\n'
USER = {"role": "user", "content": "go"}


def called(wire: str, *names: str) -> list[dict[str, Any]]:
    """What a model said, calling these tools."""
    if wire == "openai-responses":
        return [{"type": "reasoning", "id": "r", "summary": []}] + [
            {"type": "function_call", "call_id": f"c{at}", "name": name, "arguments": "{}"} for at, name in enumerate(names)
        ]
    if wire == "anthropic":
        blocks = [{"type": "tool_use", "id": f"c{at}", "name": name, "input": {}} for at, name in enumerate(names)]
        return [{"role": "assistant", "content": blocks}]
    functions = [{"name": name, "arguments": "{}"} for name in names]
    calls = [{"id": f"c{at}", "type": "function", "function": own} for at, own in enumerate(functions)]
    return [{"role": "assistant", "content": None, "tool_calls": calls}]


def words(wire: str) -> list[dict[str, Any]]:
    if wire == "openai-responses":
        text = {"type": "output_text", "text": "ok", "annotations": []}
        return [{"type": "message", "id": "m", "status": "completed", "role": "assistant", "content": [text]}]
    return [{"role": "assistant", "content": "ok"}]


WIRES = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages"}


class Host:
    """One process, which has only the history and the store."""

    def __init__(self, wire: str, history: list[Any], store: Path) -> None:
        self.wire, self.ran, self.sent = wire, list[str](), list[list[Any]]()
        self.approver = Approver(store)
        engine = Engine(TOOLS, policy=POLICY, approvals=self.approver)
        own = engine.conversation(wire, id="c", history=history)
        self.dialogue = Dialogue(own, history, WIRES[wire], {}, lambda said: Said("ok", said))

    def send(self, **request: Any) -> list[dict[str, Any]]:
        self.sent.append(json.loads(json.dumps(request[WIRES[self.wire]])))
        return words(self.wire)

    async def asend(self, **request: Any) -> list[dict[str, Any]]:
        return self.send(**request)

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        self.ran.append(name)
        return f"{name} done"

    def talk(self) -> str:
        return talk(self.dialogue, self.send, self.run, lambda asked: True, self.approver, 5).text


@pytest.mark.parametrize("wire", WIRES)
def test_calls_that_nobody_answered_are_taken_up(wire: str, tmp_path: Path) -> None:
    history = [USER, *called(wire, "look", "drop")]
    host = Host(wire, history, tmp_path / "a.db")
    assert host.talk() == "ok"
    assert host.ran == ["look", "drop"] and len(host.sent) == 1
    assert "look done" in str(host.sent[0]) and "drop done" in str(host.sent[0]), "answered before anything is sent"
    # The same history in another process, which has no record of how the run ended.
    again = Host(wire, [USER, *called(wire, "look", "drop")], tmp_path / "a.db")
    again.talk()
    assert again.ran == ["look"], "what a person approved is not run a second time"
    assert "approval ap-1 was already used" in str(again.sent[0])


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("ends", ["user", "words", "nothing", "answered"])
def test_any_other_history_is_sent_as_it_is(wire: str, ends: str, tmp_path: Path) -> None:
    first = Host(wire, [USER, *called(wire, "look")], tmp_path / "a.db")
    first.talk()
    answered = first.sent[0]
    history = {"user": [USER], "words": [USER, *words(wire)], "nothing": [], "answered": answered}[ends]
    host = Host(wire, list(history), tmp_path / "a.db")
    assert host.talk() == "ok" and host.ran == [] and host.sent == [history]


def test_the_asynchronous_loop_takes_them_up_too(tmp_path: Path) -> None:
    host = Host("openai-chat", [USER, *called("openai-chat", "look")], tmp_path / "a.db")
    asyncio.run(talk_async(host.dialogue, host.asend, host.run, None, None, 5))
    assert host.ran == ["look"] and "look done" in str(host.sent[0])
