"""The tools of a conversation for ``client.beta.messages.tool_runner`` of the Anthropic SDK, which runs them itself.

Imported by ``toolfold.anthropic``.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError

from . import Approver, Confirm, Conversation, Forward, Outcome, Reply, _log
from ._consent import note_of, noted
from ._loop import Ask, AskAsync, settled
from ._result import Blocks
from ._tools import Edit, Run, RunAsync, as_text


def runner_tools(
    conversation: Conversation, run: Run, *, ask: Ask | None = None, approver: Approver | None = None
) -> list[BetaBuiltinFunctionTool]:
    """Returns the tools of a conversation for ``client.beta.messages.tool_runner``, which runs them itself."""
    _log.started(conversation)
    return [_RunnerTool(entry, conversation, run, ask, approver) for entry in conversation.tools()]


def arunner_tools(
    conversation: Conversation, run: RunAsync, *, ask: AskAsync | None = None, approver: Approver | None = None
) -> list[BetaAsyncBuiltinFunctionTool]:
    """``runner_tools`` for the runner of ``AsyncAnthropic``; ``run`` and ``ask`` may be coroutine functions."""
    _log.started(conversation)
    return [_AsyncRunnerTool(entry, conversation, run, ask, approver) for entry in conversation.tools()]


def attach(runner: Any, tools: Sequence[object]) -> None:
    """Lets the tools of ``runner_tools`` append the tools that they open to their runner (arm ``append``)."""
    for tool in tools:
        if isinstance(tool, _Tool):
            tool.runner = runner


class _Tool:
    """What both kinds of tools share: everything but the code that runs, and who is asked."""

    runner: Any = None

    def __init__(self, entry: Any, conversation: Conversation, run: Any, ask: Any, approver: Approver | None) -> None:
        self.entry, self.conversation, self.run = entry, conversation, run
        self.ask, self.approver = ask, approver

    def to_dict(self) -> Any:
        return self.entry

    def judged(self, input: object) -> Outcome:
        # The runner does not pass the id of the call: the conversation generates one.
        outcome = self.conversation.call(self.entry["name"], input)
        _log.judged(self.conversation, outcome)
        return outcome

    def decided(self, asked: Confirm, answer: object) -> Outcome:
        assert self.approver
        decision = settled(self.conversation, asked, answer, self.approver)
        if isinstance(decision, Edit):
            return decision.outcome
        return self.conversation.resume(asked.approval) if decision else asked

    def answered(self, outcome: Outcome) -> Any:
        """Returns the answer to a call that is not run."""
        assert not isinstance(outcome, Forward)
        if isinstance(outcome, Reply) and self.runner and self.conversation.betas:
            for block in outcome.messages[-1]["content"] if outcome.opened else ():
                added = type(self)(block["tool"]["definition"], self.conversation, self.run, self.ask, self.approver)
                added.runner = self.runner
                self.runner.add_tools(added)
        if isinstance(outcome, Reply) and not outcome.is_error:
            # Under native deferral these are blocks that refer to definitions.
            return outcome.messages[0]["content"][0]["content"]
        raise ToolError(outcome.content)

    def ended(self, call: Forward, result: Any) -> Any:
        self.conversation.report_result(call.id)
        if isinstance(result, Blocks):
            note = note_of(self.conversation, call)
            return [*([{"type": "text", "text": note}] if note else []), *result]
        return noted(self.conversation, call, as_text(result))

    def failed(self, call: Forward, why: BaseException) -> ToolError:
        self.conversation.report_result(call.id, False)
        return ToolError(noted(self.conversation, call, f"{type(why).__name__}: {why}"))


class _RunnerTool(_Tool, BetaBuiltinFunctionTool):
    def call(self, input: object) -> Any:
        outcome = self.judged(input)
        if isinstance(outcome, Confirm) and self.ask and self.approver:
            outcome = self.decided(outcome, self.ask(outcome))
        if not isinstance(outcome, Forward):
            return self.answered(outcome)
        try:
            return self.ended(outcome, self.run(outcome.target, outcome.arguments))
        except Exception as why:
            raise self.failed(outcome, why) from why


class _AsyncRunnerTool(_Tool, BetaAsyncBuiltinFunctionTool):
    async def call(self, input: object) -> Any:
        outcome = self.judged(input)
        if isinstance(outcome, Confirm) and self.ask and self.approver:
            said = self.ask(outcome)
            outcome = self.decided(outcome, await said if inspect.isawaitable(said) else said)
        if not isinstance(outcome, Forward):
            return self.answered(outcome)
        try:
            made = self.run(outcome.target, outcome.arguments)
            return self.ended(outcome, await made if inspect.isawaitable(made) else made)
        except Exception as why:
            raise self.failed(outcome, why) from why
