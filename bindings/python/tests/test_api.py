"""The package itself: engine, conversation, outcomes, approvals, errors, threads."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import threading
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from workbook import POLICY, TOOLS

import toolfold
from toolfold import Confirm, Forward, Refuse, Reply

HUGE = 10**40 + 1


@pytest.fixture(scope="module")
def engine() -> toolfold.Engine:
    return toolfold.Engine(TOOLS, "excel", "lean")


def test_tools_in_every_form(tmp_path: Path) -> None:
    text = json.dumps(TOOLS)
    file = tmp_path / "tools.json"
    file.write_text(text, encoding="utf-8")
    forms: list[Any] = [TOOLS, tuple(TOOLS), iter(TOOLS), text, text.encode(), file, str(file), {"tools": TOOLS}]
    digests = {toolfold.Engine(form, "excel", "stable").conversation().digest for form in forms}
    assert len(digests) == 1
    named = toolfold.Engine("excel", arm="stable")
    assert {named.conversation().digest} == digests and len(named) == 49 and "read_excel" in named.names
    mcp = [{"name": t["function"]["name"], "inputSchema": t["function"]["parameters"]} for t in TOOLS]
    assert len(toolfold.Engine({"tools": mcp})) == 49
    assert len(toolfold.Engine(TOOLS).with_tools(TOOLS[:5])) == 5


def test_array_and_entries_are_one(engine: toolfold.Engine) -> None:
    conversation = engine.conversation("openai-chat", "gpt-5.4", "c-1")
    tools, entries = conversation.tools(), conversation.entries()
    assert json.loads(conversation.tools_json()) == tools
    assert [t["function"]["name"] for t in tools] == [entry.name for entry in entries]
    assert [t["function"]["parameters"] for t in tools] == [entry.parameters for entry in entries]
    assert conversation.entries() is entries, "kept for as long as the array is the same"
    assert [entry.name for entry in entries if entry.own] == ["expand_tools"]
    folded = next(entry for entry in entries if entry.detail != "full")
    assert not folded.strict and json.loads(folded.parameters_json) == folded.parameters
    assert (conversation.id, conversation.wire, conversation.model) == ("c-1", "openai-chat", "gpt-5.4")
    assert conversation.arm == "lean" and "lean" in conversation.explain()


def test_the_four_outcomes() -> None:
    conversation = toolfold.Engine(TOOLS, "excel", "lean", POLICY).conversation(id="c")
    match conversation.call("list_sheets", {"file_path": "a.xlsx"}, "1"):
        case Forward(target, arguments):
            assert (target, arguments) == ("list_sheets", {"file_path": "a.xlsx"})
        case other:
            pytest.fail(repr(other))
    match conversation.call("list_sheets", {}, "2"):
        case Reply(content, True):
            assert "/file_path: missing" in content
        case other:
            pytest.fail(repr(other))
    match conversation.call("delete_file", {"file_path": "a.xlsx", "confirm": True}, "3"):
        case Confirm(target, arguments, approval):
            assert target == "delete_file" and approval in conversation.pending
        case other:
            pytest.fail(repr(other))
    opened = conversation.call("expand_tools", {"categories": ["sheet"]}, "4")
    assert isinstance(opened, Reply) and opened.kind == "expanded"
    assert "rename_sheet" in [tool.name for tool in opened.opened] and "rename_sheet" in conversation.opened
    again = conversation.call("expand_tools", {"categories": ["sheet"]}, "4")
    assert again == opened, "the same id gives the same outcome"
    assert opened.messages == [{"role": "tool", "tool_call_id": "4", "content": opened.content}]
    other = conversation.call("list_sheets", {"file_path": "b"}, "4")
    assert isinstance(other, Forward) and other.arguments == {"file_path": "b"}, "an id is a label"


def test_approve_reject_and_refuse(tmp_path: Path) -> None:
    person = toolfold.Approver(tmp_path / "approvals.db", by="ada")
    conversation = toolfold.Engine(TOOLS, "excel", policy=POLICY, approvals=person).conversation(id="c")
    outcomes = [conversation.call("delete_file", {"file_path": f"{n}.xlsx"}, str(n)) for n in range(2)]
    assert [waiting.tool for waiting in person.pending()] == ["delete_file", "delete_file"]
    yes, no = outcomes
    assert isinstance(yes, Confirm) and isinstance(no, Confirm) and yes.shown["target"] == "delete_file"
    assert conversation.resume(yes.approval) == yes or isinstance(conversation.resume(yes.approval), Confirm)
    assert person.approve(yes.approval).state == "approved"
    assert isinstance(conversation.resume(yes.approval), Forward)
    person.reject(no.approval, "it is the only copy")
    refused = conversation.resume(no.approval)
    assert isinstance(refused, Refuse) and "it is the only copy" in refused.content
    for answer in (person.approve, person.reject):
        with pytest.raises(toolfold.ApprovalError):
            answer(no.approval)
    assert person.verify() == () and person.get(yes.approval).arguments == {"file_path": "0.xlsx"}


def test_an_approval_outlives_its_process(tmp_path: Path) -> None:
    def started() -> toolfold.Conversation:
        settings: Any = {"policy": POLICY, "approvals": tmp_path / "approvals.db"}
        return toolfold.Engine(TOOLS, "excel", **settings).conversation(id="c")

    call = ("delete_file", {"file_path": "a.xlsx"}, "call-1")
    asked = started().call(*call)
    assert isinstance(asked, Confirm) and started().call(*call) == asked, "asked once"
    toolfold.Approver(tmp_path / "approvals.db").approve(asked.approval)
    assert isinstance(started().call(*call), Forward), "runs once"
    later = started().call(*call)
    assert isinstance(later, Refuse) and f"approval {asked.approval} was already used" in later.reason, "and never again"
    anew = started().call(*call[:2], "call-2")
    assert isinstance(anew, Confirm) and anew.approval != asked.approval, "another call is another question"


@pytest.mark.parametrize("number", [HUGE, -HUGE, 2**63, 1.5])
def test_numbers_are_exact(engine: toolfold.Engine, number: Any) -> None:
    conversation = engine.conversation()
    written = {"file_path": "a", "max_rows": number}
    for given in (written, json.dumps(written), json.dumps(written).encode()):
        outcome = conversation.call("read_excel", given)
        if isinstance(number, float):
            assert isinstance(outcome, Reply) and "max_rows" in outcome.content
        else:
            assert isinstance(outcome, Forward) and outcome.arguments["max_rows"] == number
            assert str(number) in outcome.arguments_json


class Text(str):
    """A text that is no ``str`` exactly."""


class Level(IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    "value",
    ["", 'quote " and \\ and /', "\x00\x1f\x7f\b\f\n\r\t", "\u2028 设置 🙂", 0, -(2**63), 2**63 - 1, 2**64, True, False, None]
    + [1.5, -0.0, 1e300, Text("a"), Level.HIGH, [1, "a"], {"b": {}}, ("t",)],
)
@pytest.mark.parametrize("key", ["a", 'ä "quoted"', 7, True, None, 1.5])
def test_a_dict_is_written_as_json_writes_it(value: Any, key: Any) -> None:
    conversation = toolfold.Engine([{"name": "t", "input_schema": {"type": "object"}}]).conversation()
    given = {"first": 1, key: value}
    outcome = conversation.call("t", given)
    assert isinstance(outcome, Forward)
    assert outcome.arguments_json == json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def test_a_turn_answers_every_call(engine: toolfold.Engine) -> None:
    conversation = engine.conversation("anthropic", "claude-sonnet-4-6")
    blocks = [("list_sheets", {"file_path": "a"}), ("nope", {}), ("read_excel", {"file_path": "a"})]
    content = [{"type": "tool_use", "id": f"t{n}", "name": name, "input": i} for n, (name, i) in enumerate(blocks)]
    turn = conversation.turn({"role": "assistant", "content": content})
    assert [type(outcome) for outcome in turn.outcomes] == [Forward, Reply, Forward] and len(turn) == 3
    first, second = turn.runnable
    turn.finish(first.id, "Sheet1")
    assert turn.runnable == (second,), "the other has no result yet"
    with pytest.raises(toolfold.CallError):
        turn.finish(first.id, "twice")
    (message,) = turn.messages()
    assert [block["tool_use_id"] for block in message["content"]] == ["t0", "t1", "t2"]
    assert message["content"][2]["is_error"], "what gave no result failed"
    for use in (turn.messages, lambda: turn.outcomes):
        with pytest.raises(toolfold.CallError, match="it is over"):
            use()
    assert len(conversation.turn({"role": "assistant", "content": []})) == 0


def test_conversations_out_of_what_was_kept(engine: toolfold.Engine) -> None:
    conversation = engine.conversation(id="c")
    opened = conversation.call("expand_tools", {"categories": ["sheet"]}, "1")
    log, snapshot = conversation.take_log(), conversation.snapshot()
    assert conversation.take_log() == "" and len(log.splitlines()) >= 2
    call = {"id": "1", "type": "function", "function": {"name": "expand_tools", "arguments": '{"categories":["sheet"]}'}}
    history = [{"role": "assistant", "tool_calls": [call]}, *opened.messages]
    steps: Any = [("1", "expand_tools", {"categories": ["sheet"]}), ("1", True)]
    copies = [
        engine.restore(snapshot),
        engine.replay(log),
        engine.conversation(id="c", history=history),
        engine.conversation(id="c", steps=steps),
        conversation.fork(),
    ]
    assert all(copy.opened == conversation.opened != () for copy in copies)
    assert conversation.follows(steps) and not conversation.follows([*steps, ("2", "expand_tools", {})])
    assert "rename_sheet" in (conversation.redeliver() or "")
    conversation.seen([])
    assert conversation.opened == () and conversation.redeliver() is None
    child = conversation.child(["read_excel"])
    assert [entry.name for entry in child.entries()] == ["read_excel"] and child.id.startswith("c/")


@pytest.mark.parametrize("what", ["engine", "conversation", "turn", "approver"])
def test_what_holds_an_engine_is_not_pickled(engine: toolfold.Engine, what: str) -> None:
    conversation = engine.conversation()
    every: dict[str, Any] = {"engine": engine, "conversation": conversation, "approver": toolfold.Approver()}
    every["turn"] = conversation.turn({"role": "assistant", "content": "x"})
    # A copy of a handle that threads share is the handle.
    for use in (pickle.dumps, copy.deepcopy) if what in ("conversation", "turn") else (pickle.dumps,):
        with pytest.raises(TypeError, match="is not pickled: "):
            use(every[what])


def test_threads_share_a_conversation(engine: toolfold.Engine) -> None:
    conversation, seen, barrier = engine.conversation(id="c"), [], threading.Barrier(8)

    def work(number: int) -> None:
        for turn in range(50):
            # Without it, one thread may wait while the others make 320 calls, after which its own is forgotten.
            barrier.wait(60)
            outcome = conversation.call("list_sheets", {"file_path": f"{number}-{turn}"}, f"{number}-{turn}")
            assert isinstance(outcome, Forward) and outcome.arguments == {"file_path": f"{number}-{turn}"}
            assert len(conversation.entries()) == 50 and conversation.digest
            seen.append(conversation.answer(outcome.id, "ok")[0]["tool_call_id"])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads) and len(set(seen)) == 400


def test_what_it_costs(engine: toolfold.Engine) -> None:
    rows = {row["arm"]: row for row in engine.report("openai-chat", "gpt-4.1")}
    assert rows["full"]["tokens"] > 3 * rows["lean"]["tokens"] > 0 and rows["lean"]["tools"] == 50
    tokens, meter = toolfold.tokens(TOOLS, "openai-chat", "gpt-4.1")
    assert (tokens, meter) == (rows["full"]["tokens"], "billed:openai-chat/gpt-4.1")
    assert engine.conversation("anthropic").tokens()[1].startswith("estimate:anthropic/")
    assert toolfold.tokens([], "openai-chat", "unheard-of")[1] == "json/o200k_base"
