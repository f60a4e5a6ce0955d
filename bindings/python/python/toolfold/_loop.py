"""The loops over a provider's SDK. Only sending a request and reading a response differ between APIs."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from . import Approver, Confirm, Conversation, InputError, Turn, WireError, _log
from ._consent import Consent, answer_approval, same_call
from ._result import LIMIT, WAITING, Blocks, Message, Result, Said, Usage, plain
from ._tools import Edit, Run, RunAsync, Unsent, Work, run_all, run_all_async, stand_in

#: The maximum number of requests of one loop.
MOST_REQUESTS = 50

#: The stop reason of Anthropic for a response that the next request continues, although it has no call to run.
GOES_ON = "pause_turn"

#: A person's decision: True runs the call, other arguments are checked and run instead, False rejects it, None leaves it pending.
Decision: TypeAlias = bool | Mapping[str, Any] | None
#: Shows a call to a person, and returns the decision.
Ask: TypeAlias = Callable[[Confirm], Decision]
#: The same, possibly as a coroutine function.
AskAsync: TypeAlias = Callable[[Confirm], Decision | Awaitable[Decision]]

_UNSENT: WeakKeyDictionary[Conversation, Unsent] = WeakKeyDictionary()


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
        self.unsent = _UNSENT.setdefault(self.conversation, Unsent())
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
        """Appends the answers to all calls. A result that is blocks replaces the text that represents it, and the answer to a
        call that a person edited replaces that to the model's call."""
        outcomes, messages = turn.outcomes, turn.messages()
        wire = self.conversation.wire
        answers = messages[0]["content"] if wire == "anthropic" else messages
        member, text = ("output", "input_text") if wire == "openai-responses" else ("content", "text")
        for outcome, answer in zip(outcomes, answers):
            result: str | Blocks | None = self.unsent.blocks.get(outcome.id)
            edit, note = self.unsent.edit(outcome), ""
            if edit:
                note, result, failed = edit.answer(self.conversation)
                answer.pop("is_error", None)
                answer |= {"is_error": True} if failed and wire == "anthropic" else {}
            elif isinstance(result, Blocks):
                note = answer[member].removesuffix(stand_in(result)).rstrip("\n")
            if isinstance(result, Blocks):
                answer[member] = [*([{"type": text, "text": note}] if note else []), *result]
            elif edit:
                answer[member] = "\n".join(filter(None, [note, result]))
        self.history += messages
        for outcome in outcomes:
            self.unsent.sent(outcome)

    def decide(self, turn: Turn, asked: Confirm, answer: object, approver: Approver) -> None:
        """Stores a person's decision, and continues with the call."""
        if decision := settled(self.conversation, asked, answer, approver):
            if isinstance(decision, Edit):
                self.unsent.edits[asked.id] = decision
            turn.resume(asked.approval)

    def work(self, turn: Turn) -> Work:
        """Returns the calls of a turn to run."""
        return Work(self.conversation, turn, self.unsent)

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
                dialogue.decide(turn, waiting, ask(waiting), approver)
            run_all(dialogue.work(turn), run, concurrent)
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
                dialogue.decide(turn, waiting, await answer if inspect.isawaitable(answer) else answer, approver)
            await run_all_async(dialogue.work(turn), run, concurrent)
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


def settled(conversation: Conversation, asked: Confirm, answer: object, approver: Approver) -> Edit | bool:
    """Stores a person's decision. Only True and a mapping approve: a missing ``await`` does not.

    :returns: False if there was no decision; the edit if the person changed the arguments; otherwise True.
    """
    if answer is None:
        return False
    consent, edited = Consent(approver, True), None
    if isinstance(answer, Mapping):
        edited = (asked.target, dict(answer))
    elif not isinstance(answer, bool):
        raise InputError(
            f"ask returned {answer!r}: True runs the call, a mapping runs it with these arguments, False rejects it, "
            "None leaves it waiting"
        )
    outcome = None
    if edited is None or same_call(asked, edited):
        answer_approval(approver, asked, answer is not False)
    else:
        outcome = consent.edit(conversation, asked, edited)
    # Pending approvals of the same call with different arguments are from before the history was changed.
    consent.replace(asked, asked.id)
    return Edit(asked, outcome) if outcome else True


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
