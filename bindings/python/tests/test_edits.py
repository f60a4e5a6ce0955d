"""A person changes the arguments of a call: in a loop, and in frameworks that request the approval themselves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import MappingProxyType
from pathlib import Path
from typing import Any

import pytest
from hosts import missing
from hosts.asking import DELETE, asking
from test_left_calls import USER, WIRES, called, words

from toolfold import Approver, Engine, InputError
from toolfold._adapter import Folder
from toolfold._loop import Dialogue, talk, talk_async
from toolfold._result import Blocks, Said

SCHEMA = {"type": "object", "properties": {"table": {"type": "string"}, "rows": {"type": "integer"}}}
TOOLS = [{"name": name, "description": name, "input_schema": SCHEMA} for name in ("look", "drop")]
POLICY = """
[[rule]]
tool = "look"
decide = "allow"

[[rule]]
tool = "drop"
args = { table = "secret" }
decide = "deny"

[[rule]]
tool = "drop"
decide = "ask"
"""
HOWS = pytest.mark.parametrize("how", ["talk", "talk_async"])
EVERY = pytest.mark.parametrize("wire", WIRES)


class Host:
    """A model that calls `drop`, and a person who answers with `decision`."""

    def __init__(self, wire: str, decision: Any, *names: str) -> None:
        self.wire, self.decision, self.sent, self.ran = wire, decision, list[Any](), list[Any]()
        self.approver = Approver()
        engine = Engine(TOOLS, policy=POLICY, approvals=self.approver)
        self.conversation, self.history = engine.conversation(wire, id="c"), [USER, *called(wire, *names or ["drop"])]
        self.result: Callable[[], Any] = lambda: "done"

    def ask(self, asked: Any) -> Any:
        return self.decision

    def run(self, name: str, arguments: dict[str, Any]) -> Any:
        self.ran.append((name, arguments))
        return self.result()

    def send(self, **request: Any) -> Any:
        self.sent.append(json.loads(json.dumps(request[WIRES[self.wire]])))
        return words(self.wire)

    async def asend(self, **request: Any) -> Any:
        return self.send(**request)

    def talk(self, how: str = "talk", **more: Any) -> Any:
        dialogue = Dialogue(self.conversation, self.history, WIRES[self.wire], {}, lambda said: Said("ok", said, "stop"))
        if how == "talk":
            return talk(dialogue, self.send, self.run, self.ask, self.approver, 5, **more)
        return asyncio.run(talk_async(dialogue, self.asend, self.run, self.ask, self.approver, 5, **more))

    def answers(self) -> list[Any]:
        """The content of the answers in the last request, and those that are errors of wire `anthropic`."""
        last = self.sent[-1]
        if self.wire == "anthropic":
            return last[-1]["content"]
        return [item for item in last if item.get("role") == "tool" or item.get("type") == "function_call_output"]

    def contents(self) -> list[Any]:
        return [one["output" if self.wire == "openai-responses" else "content"] for one in self.answers()]

    def stored(self) -> list[tuple[str, dict[str, Any]]]:
        return [(one.state, one.arguments) for one in map(self.approver.get, ["ap-1", "ap-2"])]


@HOWS
@EVERY
@pytest.mark.parametrize("concurrent", [1, 3])
def test_an_edited_call_runs_with_the_others(wire: str, how: str, concurrent: int) -> None:
    host = Host(wire, MappingProxyType({"table": "a"}), "look", "drop", "look")
    result = host.talk(how, concurrent=concurrent, pause=True)
    assert (result.stop, result.waiting) == ("stop", ())
    assert sorted(host.ran, key=repr) == [("drop", {"table": "a"}), ("look", {}), ("look", {})]
    note = 'A person changed the arguments of this call before it ran: {"table":"a"}\ndone'
    assert host.contents() == ["done", note, "done"] and "is_error" not in str(host.answers()[1])
    assert host.stored() == [("rejected", {}), ("consumed", {"table": "a"})]
    assert host.approver.get("ap-2").by == "the host, who edited ap-1" and host.conversation.pending == ()
    assert len(host.sent) == 1 and host.approver.verify() == ()


@EVERY
@pytest.mark.parametrize(
    ("edited", "state", "read"),
    [({"table": "secret"}, None, "was not run"), ({"rows": "many"}, None, "invalid arguments"), ({"table": "a"}, "consumed", "Error: x")],
    ids=["denied", "invalid", "failed"],
)
def test_an_edited_call_is_checked_like_a_new_one(wire: str, edited: Any, state: str | None, read: str) -> None:
    host = Host(wire, edited)

    def fail() -> Any:
        raise RuntimeError("x")

    host.result = fail
    host.talk()
    (content,), (answer,) = host.contents(), host.answers()
    assert read in content and (wire != "anthropic" or answer["is_error"] is True)
    assert host.ran == ([("drop", edited)] if state else []) and host.approver.get("ap-1").state == "rejected"
    assert not state or host.approver.get("ap-2").state == state


@pytest.mark.parametrize(("decision", "same"), [({}, True), ({"rows": 1}, False)])
def test_a_mapping_with_the_shown_arguments_is_an_approval(decision: Any, same: bool) -> None:
    host = Host("openai-chat", decision)
    host.talk()
    assert host.ran == [("drop", decision)] and host.approver.get("ap-1").state == ("consumed" if same else "rejected")


def test_true_is_not_the_same_argument_as_one() -> None:
    """In Python, they are equal: an edit from 1 to True must not run the call that was shown."""
    host = Host("openai-chat", {"rows": True})
    function = host.history[-1]["tool_calls"][0]["function"]
    function["arguments"] = '{"rows": 1}'
    host.talk()
    assert host.ran == [] and "invalid arguments" in host.contents()[0]


def test_arguments_that_are_not_json_decide_nothing() -> None:
    host = Host("openai-chat", {"rows": object()})
    with pytest.raises(InputError, match="cannot be written as JSON"):
        host.talk()
    assert host.ran == [] and [one.id for one in host.approver.pending()] == ["ap-1"]


@HOWS
@EVERY
def test_content_blocks_of_an_edited_call(wire: str, how: str) -> None:
    blocks = [{"type": "input_text" if wire == "openai-responses" else "text", "text": "a"}]
    host = Host(wire, {"table": "a"})
    host.result = lambda: Blocks(blocks)
    host.talk(how)
    (note, *rest), *_ = host.contents()
    assert rest == blocks and note["text"].startswith("A person changed") and note["type"] == blocks[0]["type"]


@HOWS
@EVERY
def test_an_interrupted_loop_continues_with_the_edit(wire: str, how: str) -> None:
    """The edited call has ended when another call is interrupted: its result is sent, and it does not run again."""
    host = Host(wire, {"table": "a"}, "drop", "drop")
    results = iter(["first", KeyboardInterrupt()])

    def result() -> Any:
        found = next(results)
        if isinstance(found, BaseException):
            raise found
        return found

    host.result = result
    with pytest.raises(KeyboardInterrupt):
        host.talk(how)
    host.decision = False
    assert host.talk(how).text == "ok" and host.ran == [("drop", {"table": "a"})] * 2
    first, second = host.contents()
    assert first.endswith("\nfirst") and second.endswith("Check whether it took effect before you call the tool again.")


def test_an_edit_belongs_to_the_call_that_was_shown() -> None:
    """The host removes the message of an interrupted loop, and the model uses the id again for another call."""
    host = Host("openai-chat", {"table": "a"})

    def stop() -> Any:
        raise KeyboardInterrupt

    host.result = stop
    with pytest.raises(KeyboardInterrupt):
        host.talk()
    host.history[1:] = called("openai-chat", "look")
    host.result = lambda: "looked"
    host.talk()
    assert host.contents() == ["looked"] and [name for name, _ in host.ran] == ["drop", "look"]


def test_a_decision_made_elsewhere_in_the_meantime_is_preserved() -> None:
    host = Host("openai-chat", {"table": "a"})

    def ask(asked: Any) -> Any:
        host.approver.approve(asked.approval)
        return {"table": "a"}

    host.ask = ask  # type: ignore[method-assign]
    host.talk()
    assert host.ran == [("drop", {})] and host.approver.get("ap-1").state == "consumed"


@pytest.mark.parametrize("how", ["runner_tools", "arunner_tools"])
@pytest.mark.parametrize("edited", [{"table": "a"}, {"table": "secret"}])
def test_the_tools_of_a_runner(how: str, edited: dict[str, Any]) -> None:
    pytest.importorskip("anthropic")
    from anthropic.lib.tools import ToolError

    from toolfold import anthropic

    host = Host("anthropic", edited)
    tools: Any = getattr(anthropic, how)(host.conversation, host.run, ask=host.ask, approver=host.approver)
    (drop,) = [tool for tool in tools if tool.entry["name"] == "drop"]

    def call() -> Any:
        return drop.call({}) if how == "runner_tools" else asyncio.run(drop.call({}))

    if edited == {"table": "a"}:
        assert call() == 'A person changed the arguments of this call before it ran: {"table":"a"}\ndone'
        assert host.ran == [("drop", edited)] and host.stored() == [("rejected", {}), ("consumed", edited)]
    else:
        with pytest.raises(ToolError, match="was not run"):
            call()
        assert host.ran == []


@pytest.mark.parametrize("framework", ["langchain", "pydantic_ai"])
@pytest.mark.parametrize("arm", ["lean", "index"])
def test_an_edit_of_a_call_that_only_the_framework_suspended(framework: str, arm: str, tmp_path: Path) -> None:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    agent = asking(framework)([DELETE], arm, tmp_path, policy=None, own_rule=True)
    changed = {**DELETE[1], "sheet_name": "Other"}
    assert agent.start() and not agent.answer(changed)
    said = "A person changed the arguments" if framework == "pydantic_ai" else "a human reviewer replaced this tool call"
    assert agent.ran == [(DELETE[0], changed)] and said in agent.read[-1]


@pytest.mark.parametrize("framework", ["agent_framework", "openai_agents"])
def test_an_edit_that_the_framework_does_not_have_needs_a_policy(framework: str, tmp_path: Path) -> None:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    agent = asking(framework)([DELETE], "lean", tmp_path, policy=None, own_rule=True)
    assert agent.start()
    with pytest.raises(InputError, match="no call of this id waits for approval"):
        agent.answer({**DELETE[1], "sheet_name": "Other"})
    assert not agent.answer(True) and agent.ran == [DELETE]


@pytest.mark.parametrize("framework", ["agent_framework", "openai_agents"])
@pytest.mark.parametrize("edited", [{}, {"confirm": object()}, None], ids=["invalid", "not json", "same"])
def test_an_edit_is_checked_when_the_run_continues(framework: str, edited: Any, tmp_path: Path) -> None:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    agent = asking(framework)([DELETE], "lean", tmp_path)
    assert agent.start()
    if edited is None:
        assert not agent.answer(dict(DELETE[1])) and agent.ran == [DELETE] and agent.states() == ["consumed"]
    elif edited:
        with pytest.raises(InputError, match="cannot be written as JSON"):
            agent.answer({**DELETE[1], **edited})
        assert agent.states() == ["pending"]
    else:
        assert not agent.answer(edited) and agent.ran == [] and "invalid arguments" in agent.read[-1]


@pytest.mark.parametrize("framework", ["agent_framework", "openai_agents"])
def test_another_process_does_not_run_the_call_that_was_edited(framework: str, tmp_path: Path) -> None:
    """The edit is in the process that made it; the store has the rejection of the shown call."""
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    agent = asking(framework)([DELETE], "lean", tmp_path)
    assert agent.start()
    (asked,) = agent.approvals()
    Folder(policy=POLICY, approvals=agent.store).change(asked.conversation, asked.call, {"confirm": False})
    assert not agent.answer(True) and agent.ran == [] and agent.states() == ["rejected"]


@pytest.mark.parametrize("framework", ["google_adk", "langchain", "pydantic_ai"])
def test_a_call_that_was_approved_elsewhere_in_the_meantime_runs_as_it_was_shown(framework: str, tmp_path: Path) -> None:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    agent = asking(framework)([DELETE], "lean", tmp_path)
    assert agent.start()
    Approver(agent.store).approve("ap-1")
    assert not agent.answer({**DELETE[1], "sheet_name": "Other"})
    assert agent.ran == [DELETE] and agent.states() == ["consumed"] and "A person changed" not in agent.read[-1]
