"""The calls of a message, run one after the other or at the same time; those that a person edited, with their new arguments."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from . import Confirm, Conversation, Forward, Outcome, Refuse, Reply, Turn
from ._consent import EDITED, note_of
from ._result import Blocks

#: Runs a tool by its host's name. A result that is not a string is sent as JSON, ``Blocks`` are sent unchanged; an exception
#: is a failed call.
Run: TypeAlias = Callable[[str, dict[str, Any]], Any]
#: The same, possibly as a coroutine function.
RunAsync: TypeAlias = Callable[[str, dict[str, Any]], Any | Awaitable[Any]]

#: The answer to an edited call whose run was interrupted.
INTERRUPTED = "The call was interrupted. Check whether it took effect before you call the tool again."


@dataclass
class Edit:
    """A call that a person edited, and its answer. The turn has only the call that the model made, as rejected."""

    asked: Confirm
    #: The outcome of the call with the person's arguments.
    outcome: Outcome
    #: Its result, once it has ended.
    result: str | Blocks = INTERRUPTED
    is_error: bool = True
    begun: bool = False

    def answers(self, outcome: Outcome) -> bool:
        """Returns whether this edit replaces a call of the model."""
        same = outcome.id == self.asked.id and outcome.target == self.asked.target
        return same and isinstance(outcome, Refuse) and EDITED in outcome.reason

    def answer(self, conversation: Conversation) -> tuple[str, str | Blocks, bool]:
        """Returns the text that precedes the result, the result, and whether it is an error."""
        if not isinstance(self.outcome, Forward):
            return "", self.outcome.content, not isinstance(self.outcome, Reply) or self.outcome.is_error
        conversation.report_result(self.outcome.id, not self.is_error)  # Ignored unless the run was interrupted.
        return note_of(conversation, self.outcome) or "", self.result, self.is_error


@dataclass
class Unsent:
    """Answers that are not in the history yet, by the id of their call. An interrupted loop continues with them."""

    blocks: dict[str, Blocks] = field(default_factory=dict)
    edits: dict[str, Edit] = field(default_factory=dict)

    def edit(self, outcome: Outcome) -> Edit | None:
        """Returns the edit that replaces a call of the model, if any."""
        own = self.edits.get(outcome.id)
        return own if own and own.answers(outcome) else None

    def sent(self, outcome: Outcome) -> None:
        self.blocks.pop(outcome.id, None)
        self.edits.pop(outcome.id, None)


@dataclass
class Work:
    """The calls of one message to run."""

    conversation: Conversation
    turn: Turn
    unsent: Unsent

    def runnable(self) -> list[Forward]:
        edits = filter(None, map(self.unsent.edit, self.turn.outcomes))
        edited = [own.outcome for own in edits if isinstance(own.outcome, Forward) and not own.begun]
        return [*self.turn.runnable, *edited]

    def begin(self, call: Forward) -> None:
        """An edited call that was interrupted does not run again: its approval is used."""
        if edit := self._edit(call):
            edit.begun = True

    def finish(self, call: Forward, result: Any) -> None:
        """Stores the result of a call."""
        if edit := self._edit(call):
            edit.result, edit.is_error = result if isinstance(result, Blocks) else as_text(result), False
            self.conversation.report_result(call.id)
        elif isinstance(result, Blocks):
            self.unsent.blocks[call.id] = result
            self.turn.finish(call.id, stand_in(result))
        else:
            self.turn.finish(call.id, as_text(result))

    def fail(self, call: Forward, why: Exception) -> None:
        """Stores the failure of a call."""
        text = f"{type(why).__name__}: {why}"
        if edit := self._edit(call):
            edit.result = text
            self.conversation.report_result(call.id, False)
        else:
            self.turn.finish(call.id, text, is_error=True)

    def _edit(self, call: Forward) -> Edit | None:
        return next((own for own in self.unsent.edits.values() if own.outcome.id == call.id), None)


def run_all(work: Work, run: Run, concurrent: int) -> None:
    """Runs the calls of a turn. Each result is stored when its call ends, so an interruption loses none of them.

    :param concurrent: the maximum number of calls that run at the same time, each in a thread of its own.
    """

    def one(call: Forward) -> None:
        work.begin(call)
        try:
            work.finish(call, run(call.target, call.arguments))
        except Exception as why:  # Reported to the model, like every failure of a tool.
            work.fail(call, why)

    calls = work.runnable()
    if concurrent == 1 or len(calls) < 2:
        for call in calls:
            one(call)
        return
    with ThreadPoolExecutor(min(concurrent, len(calls)), "toolfold") as pool:
        running = [pool.submit(copy_context().run, one, call) for call in calls]
        try:
            for ended in as_completed(running):
                ended.result()
        except BaseException:
            # Calls that have begun end, and their results are stored; the others do not begin.
            for waiting in running:
                waiting.cancel()
            raise


async def run_all_async(work: Work, run: RunAsync, concurrent: int) -> None:
    """The same in tasks of the event loop. An interruption cancels the calls that have not ended."""
    free = asyncio.Semaphore(concurrent)

    async def one(call: Forward) -> None:
        async with free:
            work.begin(call)
            try:
                made = run(call.target, call.arguments)
                work.finish(call, await made if inspect.isawaitable(made) else made)
            except Exception as why:
                work.fail(call, why)

    calls = work.runnable()
    if concurrent == 1 or len(calls) < 2:
        for call in calls:
            await one(call)
        return
    tasks = [asyncio.ensure_future(one(call)) for call in calls]
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in ended:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def stand_in(blocks: Blocks) -> str:
    """Returns the text that the conversation stores for a result that is blocks."""
    return f"[{len(blocks)} content blocks]"


def as_text(result: Any) -> str:
    """Returns a tool's result as text for the model."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
