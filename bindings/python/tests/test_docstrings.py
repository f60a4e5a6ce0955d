"""Docstrings: everything public has one, and every ``:raises`` in it is true."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from workbook import TOOLS

import toolfold
from toolfold import Approver, Confirm, Conversation, Engine, Forward, Turn, _toolfold
from toolfold._toolfold import restore_outcome

FULL = Engine(TOOLS, "excel", "full")
ASKING = '[[rule]]\ntool = "drop"\ndecide = "ask"\n'
COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}}
#: A call that uses an id again.
#: An integer with more digits than Python reads by default.
HUGE = '{"count":' + "9" * 5000 + "}"


def everything() -> Iterator[tuple[str, Any]]:
    for name in _toolfold.__all__:
        value = getattr(_toolfold, name)
        if callable(value):
            yield name, value
        if isinstance(value, type):
            yield from ((f"{name}.{own}", member) for own, member in vars(value).items() if own[0] != "_")


def test_everything_public_has_a_docstring() -> None:
    found = dict(everything())
    assert {"Engine", "Engine.conversation", "Forward.arguments", "tokens"} < found.keys()
    assert [name for name, value in found.items() if not (value.__doc__ or "").strip()] == []


def test_no_docstring_speaks_rust() -> None:
    rust = r"\b(?:Vec|Option|String|Some|Ok|Err|true|false|&str|usize|u\d+)\b|::"
    assert [name for name, value in everything() if re.search(rust, value.__doc__ or "")] == []


def talk() -> Conversation:
    return FULL.conversation(id="c")


def forwarded(arguments: str) -> Forward:
    outcome = Engine([{"name": "f", "inputSchema": COUNT}], False).conversation().call("f", arguments)
    assert isinstance(outcome, Forward)
    return outcome


def over() -> Turn:
    turn = talk().turn({"role": "assistant", "content": "x"})
    turn.messages()
    return turn


def asked(approver: Approver, arguments: str = "{}") -> Confirm:
    engine = Engine([{"name": "drop", "inputSchema": COUNT}], False, policy=ASKING, approvals=approver)
    outcome = engine.conversation(id="c").call("drop", arguments, "1")
    assert isinstance(outcome, Confirm)
    return outcome


def pending(arguments: str = "{}") -> toolfold.Approval:
    approver = Approver()
    return approver.get(asked(approver, arguments).approval)


def after_a_no(answer: Callable[[Approver, str], object]) -> object:
    approver = Approver()
    id = asked(approver).approval
    approver.reject(id)
    return answer(approver, id)


def broken(place: Path) -> Approver:
    """A store that somebody else destroyed."""
    approver = Approver(place / "approvals.db")
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    with closing(sqlite3.connect(place / "approvals.db")) as database, database:
        for (table,) in database.execute(tables).fetchall():
            database.execute(f'DROP TABLE "{table}"')
    return approver


#: What makes each documented error, by what documents it; the argument is an empty folder.
RAISES: dict[str, list[Callable[[Path], object]]] = {
    "Approval.arguments InputError": [lambda _: pending(HUGE).arguments],
    "Approver ApprovalError": [lambda place: Approver(place), lambda _: Approver(__file__)],
    "Approver.approve ApprovalError": [lambda _: after_a_no(Approver.approve)],
    "Approver.get ApprovalError": [lambda _: Approver().get("ap-1")],
    "Approver.pending ApprovalError": [lambda place: broken(place).pending()],
    "Approver.reject ApprovalError": [lambda _: after_a_no(Approver.reject)],
    "Approver.verify ApprovalError": [lambda place: broken(place).verify()],
    "Confirm.arguments InputError": [lambda _: asked(Approver(), HUGE).arguments],
    "Conversation.activate CallError": [lambda _: talk().activate("nope")],
    "Conversation.answer CallError": [lambda _: talk().answer("1", "ok")],
    "Conversation.call InputError": [
        lambda _: talk().call("list_sheets", {"file_path": object()}),
        lambda _: talk().call("list_sheets", b"\xff"),
    ],
    "Conversation.child StartError": [lambda _: talk().child(["nope"])],
    "Conversation.direct InputError": [lambda _: talk().direct("call_tool", {"name": object()})],
    "Conversation.follows InputError": [lambda _: talk().follows([("1",)])],  # type: ignore[list-item]
    "Conversation.pause CallError": [lambda _: talk().pause("1")],
    "Conversation.resume CallError": [lambda _: talk().resume("ap-1")],
    "Conversation.seen InputError": [lambda _: talk().seen({"messages": object()})],
    "Conversation.seen WireError": [lambda _: talk().seen("no JSON"), lambda _: talk().seen({"role": "user"})],
    "Conversation.turn InputError": [lambda _: talk().turn({"role": object()})],
    "Conversation.turn WireError": [
        lambda _: talk().turn({"type": "tool_use", "id": "1", "name": "f", "input": {}}),
        lambda _: talk().turn({"choices": []}),
        lambda _: talk().turn("no JSON"),
    ],
    "Engine ApprovalError": [lambda place: Engine("excel", policy="excel", approvals=place)],
    "Engine InputError": [
        lambda place: Engine(place / "missing.json"),
        lambda _: Engine(5),  # type: ignore[arg-type]
        lambda _: Engine("excel", 5),  # type: ignore[arg-type]
        lambda _: Engine("excel", policy=[5]),  # type: ignore[list-item]
        lambda _: Engine("excel", skills=5),  # type: ignore[arg-type]
        lambda _: Engine("excel", approvals=5),  # type: ignore[arg-type]
        lambda _: Engine("excel", arm="nope"),
    ],
    "Engine LoadError": [
        lambda _: Engine("[{"),
        lambda _: Engine(TOOLS[:1], "excel"),
        lambda _: Engine("excel", policy="rule = 5"),
    ],
    "Engine.conversation InputError": [
        lambda _: FULL.conversation("nope"),
        lambda _: FULL.conversation(arm="nope"),
        lambda _: FULL.conversation(history={"messages": object()}),
        lambda _: FULL.conversation(steps=[("1", "list_sheets", {"file_path": object()})]),
        lambda _: FULL.conversation(steps=[("1", 5)]),  # type: ignore[list-item]
        lambda _: FULL.conversation(history=[], steps=[]),
        lambda _: FULL.conversation(without=["nope"]),
    ],
    "Engine.conversation StartError": [
        lambda _: FULL.conversation(arm="native"),
        lambda _: FULL.conversation(arm="native", history=[]),
        lambda _: FULL.conversation(arm="native", steps=[]),
        lambda _: FULL.conversation(arm="index", without=["bridge"]),
    ],
    "Engine.conversation WireError": [lambda _: FULL.conversation(history="no JSON")],
    "Engine.replay RestoreError": [
        lambda _: FULL.replay(""),
        lambda _: FULL.replay("no JSON"),
        lambda _: FULL.replay(FULL.conversation(id="a").take_log() + FULL.conversation(id="b").take_log()),
    ],
    "Engine.report InputError": [lambda _: FULL.report("nope")],
    "Engine.restore InputError": [lambda _: FULL.restore({"version": object()})],
    "restore_outcome RestoreError": [lambda _: restore_outcome("{}"), lambda _: restore_outcome('{"forward": {}}')],
    "Engine.restore RestoreError": [
        lambda _: FULL.restore({}),
        lambda _: Engine(TOOLS, False).restore(FULL.conversation(arm="lean").snapshot()),
    ],
    "Engine.run_script CallError": [lambda _: FULL.run_script(forwarded(HUGE))],
    "Engine.with_tools InputError": [lambda place: FULL.with_tools(place)],
    "Engine.with_tools LoadError": [lambda _: FULL.with_tools("[1]"), lambda _: FULL.with_tools(TOOLS[:1])],
    "Forward.arguments InputError": [lambda _: forwarded(HUGE).arguments],
    "Turn.finish CallError": [
        lambda _: talk().turn({"content": "x"}).finish("1", "ok"),
        lambda _: over().finish("1", "ok"),
    ],
    "Turn.message CallError": [lambda _: over().message],
    "Turn.messages CallError": [lambda _: over().messages()],
    "Turn.outcomes CallError": [lambda _: over().outcomes],
    "Turn.resume CallError": [lambda _: talk().turn({"content": "x"}).resume("ap-1"), lambda _: over().resume("ap-1")],
    "Turn.runnable CallError": [lambda _: over().runnable],
    "Turn.waiting CallError": [lambda _: over().waiting],
    "tokens InputError": [lambda _: toolfold.tokens("{}"), lambda _: toolfold.tokens([], "nope")],
}


def test_what_is_documented_is_tried() -> None:
    errors = ((name, re.findall(r":raises (\w+):", value.__doc__)) for name, value in everything())
    documented = {f"{name} {error}" for name, each in errors for error in each}
    assert documented == RAISES.keys()


@pytest.mark.parametrize("what", RAISES)
def test_it_raises_what_it_says(what: str, tmp_path: Path) -> None:
    error = getattr(toolfold, what.split()[1])
    for number, attempt in enumerate(RAISES[what]):
        with pytest.raises(toolfold.ToolfoldError) as raised:
            attempt(tmp_path)
        assert type(raised.value) is error, f"attempt {number}: {raised.value!r}"
