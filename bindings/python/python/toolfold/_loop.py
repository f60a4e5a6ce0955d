"""The loops over a provider's SDK. Only sending a request and reading a response differ between APIs."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from . import Approver, Confirm, Conversation, InputError, Turn
from ._consent import Consent, answer_approval

#: The maximum number of requests of one loop.
MOST_REQUESTS = 50

#: A message or an item, in the format of its API.
Message: TypeAlias = dict[str, Any]
#: Runs a tool by its host's name. A result that is not a string is sent as JSON; an exception is a failed call.
Run: TypeAlias = Callable[[str, dict[str, Any]], Any]
#: Shows a call to a person: True runs it, False rejects it, None leaves it pending.
Ask: TypeAlias = Callable[[Confirm], bool | None]
#: The same, possibly as a coroutine function.
AskAsync: TypeAlias = Callable[[Confirm], bool | None | Awaitable[bool | None]]


@dataclass
class Dialogue:
    """A conversation over one API, and the history that its requests send."""

    conversation: Conversation
    #: The whole history. Everything is appended to it.
    history: list[Message]
    #: The member of a request that holds the history.
    member: str
    #: The other members of each request.
    fixed: dict[str, Any]
    #: Returns a response's text, and the items that it adds to the history.
    read: Callable[[Any], tuple[str, list[Message]]]

    def request(self) -> dict[str, Any]:
        # Calls that the host has trimmed since the last request count as closed.
        self.conversation.seen(self.history)
        own = {"model": self.conversation.model, self.member: self.history, "tools": self.conversation.tools()}
        return {**own, **self.fixed}

    def take(self, response: Any) -> tuple[str, Turn]:
        text, said = self.read(response)
        self.history += said
        return text, self._turn(said)

    def left(self) -> Turn | None:
        """The calls at the end of the history. A host that ended before it answered them continues here."""
        said: list[Message] = []
        for item in reversed(self.history):
            answer = str(item.get("type")).endswith("_output")
            if answer or item.get("role", "assistant") != "assistant" or (said and self.member == "messages"):
                break
            said.insert(0, item)
        turn = self._turn(said) if said else None
        return turn if turn else None

    def _turn(self, said: list[Message]) -> Turn:
        return self.conversation.turn(said[0] if self.member == "messages" else said)


def talk(
    dialogue: Dialogue, send: Callable[..., Any], run: Run, ask: Ask | None, approver: Approver | None, most: int
) -> str:
    """Runs the loop until the model makes no more calls, and returns its last text."""
    text, turn = "", dialogue.left()
    for _ in range(most):
        if turn is None:
            text, turn = dialogue.take(send(**dialogue.request()))
        if not turn:
            break
        for waiting in turn.waiting if ask and approver else ():
            assert ask and approver
            if settled(waiting, ask(waiting), approver):
                turn.resume(waiting.approval)
        for call in turn.runnable:
            try:
                turn.finish(call.id, as_text(run(call.target, call.arguments)))
            except Exception as why:  # Reported to the model, like every failure of a tool.
                turn.finish(call.id, _failure(why), is_error=True)
        dialogue.history += turn.messages()
        turn = None
    return text


async def talk_async(
    dialogue: Dialogue,
    send: Callable[..., Awaitable[Any]],
    run: Run,
    ask: AskAsync | None,
    approver: Approver | None,
    most: int,
) -> str:
    """The same with an asynchronous client; ``run`` and ``ask`` may be coroutine functions."""
    text, turn = "", dialogue.left()
    for _ in range(most):
        if turn is None:
            text, turn = dialogue.take(await send(**dialogue.request()))
        if not turn:
            break
        for waiting in turn.waiting if ask and approver else ():
            assert ask and approver
            said = ask(waiting)
            if settled(waiting, await said if inspect.isawaitable(said) else said, approver):
                turn.resume(waiting.approval)
        for call in turn.runnable:
            try:
                made = run(call.target, call.arguments)
                turn.finish(call.id, as_text(await made if inspect.isawaitable(made) else made))
            except Exception as why:
                turn.finish(call.id, _failure(why), is_error=True)
        dialogue.history += turn.messages()
        turn = None
    return text


def settled(asked: Confirm, said: object, approver: Approver) -> bool:
    """Stores a person's decision, and returns whether there was one. Only True approves: a missing ``await`` does not."""
    if said is None:
        return False
    if not isinstance(said, bool):
        raise InputError(f"ask gave {said!r}: True runs the call, False refuses it, None leaves it waiting")
    answer_approval(approver, asked, said)
    # Pending approvals of the same call with different arguments are from before the history was changed.
    Consent(approver, True).replace(asked, asked.id)
    return True


def _failure(why: Exception) -> str:
    return f"{type(why).__name__}: {why}"


def as_text(result: Any) -> str:
    """Returns a tool's result as text for the model."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
