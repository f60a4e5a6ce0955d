"""The calls of a message, run one after the other or at the same time."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import Any, TypeAlias

from . import Forward, Turn
from ._result import Blocks

#: Runs a tool by its host's name. A result that is not a string is sent as JSON, ``Blocks`` are sent unchanged; an exception
#: is a failed call.
Run: TypeAlias = Callable[[str, dict[str, Any]], Any]
#: The same, possibly as a coroutine function.
RunAsync: TypeAlias = Callable[[str, dict[str, Any]], Any | Awaitable[Any]]


def run_all(turn: Turn, run: Run, concurrent: int, blocks: dict[str, Blocks]) -> None:
    """Runs the calls of a turn. Each result is stored when its call ends, so an interruption loses none of them.

    :param concurrent: the maximum number of calls that run at the same time, each in a thread of its own.
    :param blocks: receives the results that are blocks.
    """

    def one(call: Forward) -> None:
        try:
            finish(turn, call, run(call.target, call.arguments), blocks)
        except Exception as why:  # Reported to the model, like every failure of a tool.
            fail(turn, call, why)

    calls = turn.runnable
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


async def run_all_async(turn: Turn, run: RunAsync, concurrent: int, blocks: dict[str, Blocks]) -> None:
    """The same in tasks of the event loop. An interruption cancels the calls that have not ended."""
    free = asyncio.Semaphore(concurrent)

    async def one(call: Forward) -> None:
        async with free:
            try:
                made = run(call.target, call.arguments)
                finish(turn, call, await made if inspect.isawaitable(made) else made, blocks)
            except Exception as why:
                fail(turn, call, why)

    calls = turn.runnable
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


def finish(turn: Turn, call: Forward, result: Any, blocks: dict[str, Blocks]) -> None:
    """Stores the result of a call."""
    if isinstance(result, Blocks):
        blocks[call.id] = result
        turn.finish(call.id, stand_in(result))
    else:
        turn.finish(call.id, as_text(result))


def fail(turn: Turn, call: Forward, why: Exception) -> None:
    """Stores the failure of a call."""
    turn.finish(call.id, f"{type(why).__name__}: {why}", is_error=True)


def stand_in(blocks: Blocks) -> str:
    """Returns the text that the conversation stores for a result that is blocks."""
    return f"[{len(blocks)} content blocks]"


def as_text(result: Any) -> str:
    """Returns a tool's result as text for the model."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
