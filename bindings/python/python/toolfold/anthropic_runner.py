"""The tools of a conversation for ``client.beta.messages.tool_runner`` of the Anthropic SDK, which runs them itself.

Imported by ``toolfold.anthropic``.
"""

from __future__ import annotations

from typing import Any

from anthropic.lib.tools import BetaBuiltinFunctionTool, ToolError

from . import Approver, Confirm, Conversation, Forward, Reply
from ._loop import Ask, Run, as_text, settled


def runner_tools(
    conversation: Conversation, run: Run, *, ask: Ask | None = None, approver: Approver | None = None
) -> list[BetaBuiltinFunctionTool]:
    """Returns the tools of a conversation for ``client.beta.messages.tool_runner``, which runs them itself."""
    return [_RunnerTool(entry, conversation, run, ask, approver) for entry in conversation.tools()]


def attach(runner: Any, tools: list[BetaBuiltinFunctionTool]) -> None:
    """Lets the tools of ``runner_tools`` append the tools that they open to their runner (arm ``append``)."""
    for tool in tools:
        if isinstance(tool, _RunnerTool):
            tool.runner = runner


class _RunnerTool(BetaBuiltinFunctionTool):
    runner: Any = None

    def __init__(
        self, entry: dict[str, Any], conversation: Conversation, run: Run, ask: Ask | None, approver: Approver | None
    ) -> None:
        self.entry, self.conversation, self.run = entry, conversation, run
        self.ask, self.approver = ask, approver

    def to_dict(self) -> Any:
        return self.entry

    def call(self, input: object) -> Any:
        # The runner does not pass the id of the call: the conversation generates one.
        outcome = self.conversation.call(self.entry["name"], input)
        if isinstance(outcome, Confirm) and self.ask and self.approver:
            if settled(outcome, self.ask(outcome), self.approver):
                outcome = self.conversation.resume(outcome.approval)
        if isinstance(outcome, Forward):
            return self._ran(outcome)
        if isinstance(outcome, Reply) and self.runner and self.conversation.betas:
            self._append(outcome)
        if isinstance(outcome, Reply) and not outcome.is_error:
            # Under native deferral these are blocks that refer to definitions.
            return outcome.messages[0]["content"][0]["content"]
        raise ToolError(outcome.content)

    def _append(self, reply: Reply) -> None:
        for block in reply.messages[-1]["content"] if reply.opened else ():
            added = _RunnerTool(block["tool"]["definition"], self.conversation, self.run, self.ask, self.approver)
            added.runner = self.runner
            self.runner.add_tools(added)

    def _ran(self, call: Forward) -> Any:
        try:
            result = as_text(self.run(call.target, call.arguments))
        except Exception as why:
            self.conversation.report_result(call.id, False)
            raise ToolError(call.noted(f"{type(why).__name__}: {why}")) from why
        self.conversation.report_result(call.id)
        return call.noted(result)
