"""Only True approves a call, in the loops and in the adapters."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from toolfold import ApprovalError, Approver, Conversation, Engine, InputError
from toolfold._adapter import Folder
from toolfold._loop import Dialogue, talk, talk_async
from toolfold._result import Said

TOOL = {"name": "drop_table", "description": "Drops a table.", "input_schema": {"type": "object", "properties": {}}}
POLICY = '[[rule]]\ntool = "*"\ndecide = "ask"\n'
CALL = {"id": "c0", "type": "function", "function": {"name": "drop_table", "arguments": "{}"}}
SAID: list[dict[str, Any]] = [{"role": "assistant", "tool_calls": [CALL]}, {"role": "assistant", "content": "ok"}]


async def forgotten(asked: Any) -> bool:
    return False


class Host:
    """A model that calls once, and the list of what ran."""

    def __init__(self) -> None:
        self.approver, self.ran, self.said = Approver(), list[str](), iter(SAID)
        engine = Engine([TOOL], policy=POLICY, approvals=self.approver)
        self.dialogue = Dialogue(engine.conversation(id="c"), [], "messages", {}, lambda said: Said("", [said]))

    def send(self, **_: Any) -> Any:
        return next(self.said)

    async def asend(self, **_: Any) -> Any:
        return next(self.said)

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        self.ran.append(name)
        return "done"

    def answers(self) -> str:
        return json.dumps(self.dialogue.history)


@pytest.mark.parametrize(("said", "ran"), [(True, ["drop_table"]), (False, []), (None, [])])
def test_a_loop_asks(said: bool | None, ran: list[str]) -> None:
    host = Host()
    talk(host.dialogue, host.send, host.run, lambda asked: said, host.approver, 5)
    assert host.ran == ran
    assert ("a person rejected it" in host.answers()) == (said is False)


@pytest.mark.parametrize("said", ["no", "yes", 1, 0, object(), forgotten])
def test_what_is_no_bool_is_an_error_and_runs_nothing(said: Any) -> None:
    def ask(asked: Any) -> Any:
        return said(asked) if said is forgotten else said

    host = Host()
    with pytest.raises(InputError, match="True runs the call") as raised:
        talk(host.dialogue, host.send, host.run, ask, host.approver, 5)
    assert "<coroutine" in str(raised.value) or said is not forgotten
    assert (host.ran, len(host.approver.pending())) == ([], 1)


def test_an_asynchronous_loop_awaits_the_person() -> None:
    host = Host()
    asyncio.run(talk_async(host.dialogue, host.asend, host.run, forgotten, host.approver, 5))
    assert host.ran == [] and "a person rejected it" in host.answers()


@pytest.mark.parametrize("said", ["no", 1, object()])
def test_an_adapter_takes_nothing_else_for_a_yes(said: Any) -> None:
    folder = Folder(policy=POLICY)
    engine = folder.bind([TOOL])
    conversation: Conversation = folder.conversation(engine, "c", [])
    outcome: Any = conversation.call("drop_table", "{}", "c0")
    assert type(folder.settle(conversation, outcome, said)).__name__ == "Refuse"
    assert folder.approver.get(outcome.approval).state == "rejected"


def test_an_answer_that_came_another_way_stands() -> None:
    """The console rejects while the host's own request is still open: the host's approval is too late."""
    host = Host()

    def ask(asked: Any) -> bool:
        host.approver.reject(asked.approval, "not on a Monday")
        return True

    talk(host.dialogue, host.send, host.run, ask, host.approver, 5)
    assert host.ran == [] and "not on a Monday" in host.answers()


def test_the_approver_of_another_engine_is_an_error() -> None:
    """Both stores have an ap-1: an approval of one must not approve the other."""
    host, other = Host(), Approver()
    rename = {**TOOL, "name": "rename_table"}
    Engine([rename], policy=POLICY, approvals=other).conversation(id="c").call("rename_table", "{}", "c0")
    with pytest.raises(InputError, match="ap-1 of this approver is another call, of rename_table"):
        talk(host.dialogue, host.send, host.run, lambda asked: True, other, 5)
    assert host.ran == [] and [one.tool for one in other.pending()] == ["rename_table"]
    empty = Host()
    with pytest.raises(ApprovalError):
        talk(empty.dialogue, empty.send, empty.run, lambda asked: True, Approver(), 5)
