"""What a type checker must see in the stubs: ``test_stubs.py`` checks this file with mypy; it is never run.

Every ``type: ignore`` is a mistake that must be found: mypy --strict complains about one that is not needed.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Literal, NoReturn, TypedDict

from typing_extensions import assert_never, assert_type

import toolfold
from toolfold import Approver, Confirm, Conversation, Engine, Entry, Forward, OpenedTool, Outcome, Refuse, Reply, Turn

Dicts = list[dict[str, Any]]
#: What goes to a provider: each SDK has types of its own for it.
Wired = list[Any]


class Message(TypedDict):
    role: str
    content: str


def every_outcome(outcome: Outcome) -> None:
    match outcome:
        case Forward(target, arguments):
            assert_type(target, str)
            assert_type(arguments, dict[str, Any])
        case Reply(content, is_error):
            assert_type(content, str)
            assert_type(is_error, bool)
            assert_type(outcome.opened, tuple[OpenedTool, ...])
        case Confirm(target, arguments, approval):
            assert_type(approval, str)
        case Refuse(content):
            assert_type(outcome.messages, Wired)
        case _:
            assert_never(outcome)


def one_outcome_forgotten(outcome: Outcome) -> None:
    match outcome:
        case Forward() | Reply() | Confirm():
            pass
        case _:
            assert_never(outcome)  # type: ignore[arg-type]


def what_resume_gives(conversation: Conversation, turn: Turn) -> None:
    for outcome in (conversation.resume("ap-1"), turn.resume("ap-1")):
        match outcome:
            case Forward() | Reply() | Confirm() | Refuse():
                pass
            case _:
                assert_never(outcome)


def a_field_too_many(outcome: Outcome) -> None:
    match outcome:
        case Forward(target, arguments, approval):  # type: ignore[misc]
            pass
        case Refuse(content, is_error):  # type: ignore[misc]
            pass


def names_are_closed(reply: Reply, entry: Entry, approver: Approver) -> None:
    match reply.kind:
        case "expanded" | "activated" | "invalid" | "shown" | "unknown_tool" | "loop" | "finished":
            pass
        case other:
            assert_never(other)
    assert_type(approver.get("1").state, Literal["pending", "approved", "rejected", "consumed", "expired"])
    assert_type(reply.policy, Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"])
    if entry.detail == "ful":  # type: ignore[comparison-overlap]
        pass


def what_comes_out(engine: Engine, conversation: Conversation, turn: Turn) -> None:
    assert_type(conversation.call("f", {"a": 1}), Reply | Forward | Confirm | Refuse)
    assert_type(conversation.entries(), tuple[Entry, ...])
    assert_type(conversation.tools(), Wired)
    assert_type(conversation.answer("1", "ok"), Wired)
    assert_type(conversation.snapshot(), bytes)
    assert_type(conversation.tokens(), tuple[int | None, str])
    assert_type(toolfold.tokens([]), tuple[int | None, str])
    assert_type(turn.outcomes, tuple[Reply | Forward | Confirm | Refuse, ...])
    assert_type(turn.runnable, tuple[Forward, ...])
    assert_type(turn.waiting, tuple[Confirm, ...])
    assert_type(turn.messages(), Wired)
    assert_type(engine.names, tuple[str, ...])
    assert_type(engine.report(), Dicts)
    assert_type(engine.diagnostics, Dicts)
    assert_type(Approver().pending(), tuple[toolfold.Approval, ...])
    assert_type(toolfold.__version__, str)


def what_goes_in(messages: list[Message], text: str, path: Path, given: object) -> None:
    tools: list[dict[str, Any]] = []
    for form in (tools, tuple(tools), iter(tools), {"tools": tools}, text, text.encode(), path):
        Engine(form).with_tools(form)
    Engine(tools, False, "lean", [path, text], (path, text), approvals=Approver(path))
    engine = Engine(tools, path, policy=path, skills=path, approvals=text)
    engine.conversation(history=messages).seen(messages)
    conversation = engine.conversation(steps=[("1", "f", {"a": 1}), ("2", "f", text), ("3", "f", None), ("1", True)])
    conversation.call("f", text.encode())
    conversation.call("f", given)
    conversation.turn(messages[0])
    conversation.turn(given)
    assert_type(Engine.from_functions([what_comes_out, len], policy=path), Engine)
    conversation.child(("f",)).seen_calls(["1"])
    engine.restore(conversation.snapshot())
    toolfold.tokens(tools, model=None)


def what_does_not(engine: Engine, conversation: Conversation, outcome: Outcome) -> None:
    Engine(5)  # type: ignore[arg-type]
    Engine(["read_file"])  # type: ignore[list-item]
    Engine("excel", 5)  # type: ignore[arg-type]
    Engine("excel", skills=b"skills")  # type: ignore[arg-type]
    Engine("excel", None, "lean", None, None, "a.db")  # type: ignore[call-arg]
    Engine("excel", approvals=5)  # type: ignore[arg-type]
    Engine("excel", polices="excel")  # type: ignore[call-arg]
    engine.conversation("openai-chat", None, None, "lean")  # type: ignore[call-arg]
    engine.conversation(steps=[("1", 5)])  # type: ignore[list-item]
    engine.conversation(steps={"1": True})  # type: ignore[arg-type]
    conversation.call(5, {})  # type: ignore[arg-type]
    conversation.child([5])  # type: ignore[list-item]
    conversation.redeliver().strip()  # type: ignore[union-attr]
    outcome.arguments  # type: ignore[union-attr]
    engine.names.append("f")  # type: ignore[attr-defined]


def nothing_is_set_or_hashed(forward: Forward, entry: Entry) -> None:
    forward.target = "f"  # type: ignore[misc]
    keys: list[Hashable] = [forward, entry]  # type: ignore[list-item]
    print(keys, forward == entry)


def not_pickled(engine: Engine) -> NoReturn:
    engine.__reduce__()


class Own(Forward):  # type: ignore[misc]
    pass
