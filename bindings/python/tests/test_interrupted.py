"""A loop that is interrupted in the second of two calls: the first does not run again, and the loop continues."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from test_left_calls import POLICY, TOOLS, USER, WIRES, called, words

from toolfold import Approver, Engine
from toolfold._loop import Dialogue, talk, talk_async
from toolfold._result import Said


class Host:
    """A process that continues after an interruption: it keeps the conversation and the history."""

    def __init__(self, wire: str, *names: str, asks: bool = True) -> None:
        self.wire, self.ran, self.sent = wire, list[str](), list[Any]()
        self.approver = Approver()
        engine = Engine(TOOLS, policy=POLICY, approvals=self.approver)
        self.left = [called(wire, *names), words(wire)]
        own = engine.conversation(wire, id="c")
        self.dialogue = Dialogue(own, [USER], WIRES[wire], {}, lambda said: Said("ok", said))
        self.stop: BaseException | None = None

    def send(self, **request: Any) -> Any:
        self.sent.append(json.loads(json.dumps(request[WIRES[self.wire]])))
        return self.left.pop(0)

    async def asend(self, **request: Any) -> Any:
        return self.send(**request)

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        self.ran.append(name)
        if len(self.ran) == 2 and self.stop:
            why, self.stop = self.stop, None
            raise why
        return f"{name} done"

    def talk(self) -> str:
        return talk(self.dialogue, self.send, self.run, lambda asked: True, self.approver, 5).text

    def atalk(self) -> str:
        return asyncio.run(talk_async(self.dialogue, self.asend, self.run, lambda asked: True, self.approver, 5)).text


@pytest.mark.parametrize("how", ["talk", "atalk"])
@pytest.mark.parametrize("wire", WIRES)
def test_the_first_call_does_not_run_again(wire: str, how: str) -> None:
    host = Host(wire, "look", "look")
    host.stop = KeyboardInterrupt() if how == "talk" else asyncio.CancelledError()
    with pytest.raises(type(host.stop)):
        getattr(host, how)()
    assert host.ran == ["look", "look"]
    assert getattr(host, how)() == "ok"
    assert host.ran == ["look", "look", "look"], "the second call, which has not ended, runs once more"
    assert str(host.sent[-1]).count("look done") == 2, "the model reads both results"
    assert len(host.sent) == 2


@pytest.mark.parametrize("wire", WIRES)
def test_what_was_approved_and_interrupted_is_not_run_again(wire: str) -> None:
    """Whether it did its work is unknown: the answer tells the model to check, and the loop continues."""
    host = Host(wire, "look", "drop")
    host.stop = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        host.talk()
    assert host.talk() == "ok"
    assert host.ran == ["look", "drop"] and "already used" in str(host.sent[-1])
    assert [host.approver.get("ap-1").state, len(host.approver.pending())] == ["consumed", 0]


@pytest.mark.parametrize("wire", WIRES)
def test_an_interruption_while_a_person_is_asked(wire: str) -> None:
    host = Host(wire, "look", "drop")

    def ask(asked: Any) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        talk(host.dialogue, host.send, host.run, ask, host.approver, 5)
    assert host.ran == [] and len(host.approver.pending()) == 1
    assert host.talk() == "ok" and host.ran == ["look", "drop"]
    assert [host.approver.get("ap-1").state, len(host.approver.pending())] == ["consumed", 0], "asked once"
