"""The loops over a provider's SDK. Only sending a request and reading a response differ between APIs."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from . import Approver, Confirm, Conversation, InputError, Turn, WireError, _log
from ._consent import Consent, answer_approval
from ._result import LIMIT, WAITING, Blocks, Message, Result, Said, Usage, plain
from ._tools import Run, RunAsync, run_all, run_all_async, stand_in

#: The maximum number of requests of one loop.
MOST_REQUESTS = 50

#: The stop reason of Anthropic for a response that the next request continues, although it has no call to run.
GOES_ON = "pause_turn"

#: Shows a call to a person: True runs it, False rejects it, None leaves it pending.
Ask: TypeAlias = Callable[[Confirm], bool | None]
#: The same, possibly as a coroutine function.
AskAsync: TypeAlias = Callable[[Confirm], bool | None | Awaitable[bool | None]]

#: The results that are blocks, until they are in the history: an interrupted loop continues with them.
_BLOCKS: WeakKeyDictionary[Conversation, dict[str, Blocks]] = WeakKeyDictionary()


@dataclass
class Dialogue:
    """A conversation over one API, and the history that its requests send."""

    conversation: Conversation
    #: The whole history. Everything is appended to it.
    history: list[Any]
    #: The member of a request that holds the history.
    member: str
    #: The other members of each request.
    fixed: dict[str, Any]
    #: Returns what a response contains.
    read: Callable[[Any], Said]
    #: The wire of the loop; None for any.
    wire: str | None = None
    usage: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        if self.wire not in (None, self.conversation.wire):
            raise WireError(
                f"this loop is for wire {self.wire}, and the conversation has wire {self.conversation.wire}: "
                f"create it with engine.conversation({self.wire!r}, …)"
            )
        self.blocks = _BLOCKS.setdefault(self.conversation, {})
        _log.started(self.conversation)

    def request(self) -> dict[str, Any]:
        history = [plain(item) for item in self.history]
        # Calls that the host has trimmed since the last request count as closed.
        self.conversation.seen(history)
        own = {"model": self.conversation.model, self.member: history, "tools": self.conversation.tools()}
        return {**own, **self.fixed}

    def take(self, response: Any) -> tuple[Said, Turn]:
        said = self.read(response)
        self.usage += said.usage
        self.history += said.items
        return said, self._turn(list(said.items))

    def left(self) -> Turn | None:
        """The calls at the end of the history. A host that ended before it answered them continues here."""
        said: list[Message] = []
        for item in map(plain, reversed(self.history)):
            answer = str(item.get("type")).endswith("_output")
            if answer or item.get("role", "assistant") != "assistant" or (said and self.member == "messages"):
                break
            said.insert(0, item)
        turn = self._turn(said) if said else None
        return turn if turn else None

    def _turn(self, said: list[Message]) -> Turn:
        turn = self.conversation.turn(said[0] if self.member == "messages" else said)
        for outcome in turn.outcomes:
            _log.judged(self.conversation, outcome)
        return turn

    def answer(self, turn: Turn) -> None:
        """Appends the answers to all calls. A result that is blocks replaces the text that represents it."""
        outcomes, messages = turn.outcomes, turn.messages()
        wire = self.conversation.wire
        answers = messages[0]["content"] if wire == "anthropic" else messages
        member, text = ("output", "input_text") if wire == "openai-responses" else ("content", "text")
        for outcome, answer in zip(outcomes, answers):
            if (blocks := self.blocks.get(outcome.id)) is not None:
                note = answer[member].removesuffix(stand_in(blocks)).rstrip("\n")
                answer[member] = [*([{"type": text, "text": note}] if note else []), *blocks]
        self.history += messages
        for outcome in outcomes:
            self.blocks.pop(outcome.id, None)

    def result(self, text: str, stop: str, asked: list[Confirm]) -> Result:
        pending = set(self.conversation.pending)
        waiting = {one.approval: one for one in asked if one.approval in pending}
        return Result(text, stop, self.usage, self.history, tuple(waiting.values()))


def talk(
    dialogue: Dialogue,
    send: Callable[..., Any],
    run: Run,
    ask: Ask | None,
    approver: Approver | None,
    most: int,
    *,
    concurrent: int = 1,
    pause: bool = False,
) -> Result:
    """Runs the loop until the model makes no more calls."""
    check(ask, approver, most, concurrent)
    said, stop, asked, turn = Said("", []), "", list[Confirm](), dialogue.left()
    for _ in range(most):
        if turn is None:
            said, turn = dialogue.take(send(**dialogue.request()))
            stop = said.stop
        if turn:
            for waiting in turn.waiting if ask and approver else ():
                assert ask and approver
                if settled(waiting, ask(waiting), approver):
                    turn.resume(waiting.approval)
            run_all(turn, run, concurrent, dialogue.blocks)
            asked += turn.waiting
            if pause and turn.waiting:
                return dialogue.result(said.text, WAITING, asked)
            dialogue.answer(turn)
        elif stop != GOES_ON:
            return dialogue.result(said.text, stop, asked)
        turn = None
    return dialogue.result(said.text, LIMIT, asked)


async def talk_async(
    dialogue: Dialogue,
    send: Callable[..., Awaitable[Any]],
    run: RunAsync,
    ask: AskAsync | None,
    approver: Approver | None,
    most: int,
    *,
    concurrent: int = 1,
    pause: bool = False,
) -> Result:
    """The same with an asynchronous client; ``run`` and ``ask`` may be coroutine functions."""
    check(ask, approver, most, concurrent)
    said, stop, asked, turn = Said("", []), "", list[Confirm](), dialogue.left()
    for _ in range(most):
        if turn is None:
            said, turn = dialogue.take(await send(**dialogue.request()))
            stop = said.stop
        if turn:
            for waiting in turn.waiting if ask and approver else ():
                assert ask and approver
                answer = ask(waiting)
                if settled(waiting, await answer if inspect.isawaitable(answer) else answer, approver):
                    turn.resume(waiting.approval)
            await run_all_async(turn, run, concurrent, dialogue.blocks)
            asked += turn.waiting
            if pause and turn.waiting:
                return dialogue.result(said.text, WAITING, asked)
            dialogue.answer(turn)
        elif stop != GOES_ON:
            return dialogue.result(said.text, stop, asked)
        turn = None
    return dialogue.result(said.text, LIMIT, asked)


def check(ask: object, approver: Approver | None, most: int, concurrent: int) -> None:
    """Checks the settings of a loop.

    :raises InputError: one of ``ask`` and ``approver`` is missing, or a limit is not at least 1.
    """
    if (ask is None) != (approver is None):
        raise InputError("give `ask` and `approver` together: the approver stores what the person answers")
    for name, limit in (("most", most), ("concurrent", concurrent)):
        if type(limit) is not int or limit < 1:
            raise InputError(f"`{name}` must be an integer of at least 1, not {limit!r}")


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


def streamed(start: Callable[..., Any], final: str, on_event: Callable[[Any], object]) -> Callable[..., Any]:
    """Returns a function that sends a request with the SDK's stream helper and passes on each of its events.

    :param start: the helper: ``client.….stream``.
    :param final: the method of its stream that returns the whole response.
    """

    def send(**request: Any) -> Any:
        with start(**request) as stream:
            for event in stream:
                on_event(event)
            return getattr(stream, final)()

    return send


def streamed_async(
    start: Callable[..., Any], final: str, on_event: Callable[[Any], object]
) -> Callable[..., Awaitable[Any]]:
    """The same with an asynchronous client; ``on_event`` may be a coroutine function."""

    async def send(**request: Any) -> Any:
        async with start(**request) as stream:
            async for event in stream:
                said = on_event(event)
                if inspect.isawaitable(said):
                    await said
            return await getattr(stream, final)()

    return send
