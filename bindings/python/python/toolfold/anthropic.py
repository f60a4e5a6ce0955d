"""The Anthropic SDK without a framework: a whole loop over Messages, and tools for its own ``tool_runner``.

    conversation = engine.conversation("anthropic", "claude-sonnet-4-6", id="c-42")
    text = chat(client, conversation, messages, run, max_tokens=4096)

    runner = client.beta.messages.tool_runner(tools=runner_tools(conversation, run), ...)

Under arm ``native`` folded tools are sent with ``defer_loading`` and ``expand_tools`` answers with ``tool_reference`` blocks, in
both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import anthropic
from anthropic.lib.tools import BetaBuiltinFunctionTool, ToolError

from . import Approver, Confirm, Conversation, Forward, Reply
from ._adapter import Ask, Run, answer, answer_async, as_text

__all__ = ["achat", "chat", "runner_tools"]

#: How many requests one loop makes at most.
MOST_REQUESTS = 50


def chat(
    client: anthropic.Anthropic,
    conversation: Conversation,
    messages: list[dict[str, Any]],
    run: Run,
    *,
    ask: Ask | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    **request: Any,
) -> str:
    """Talks until the model calls nothing more, and gives its last text.

    :param conversation: on wire ``anthropic``.
    :param messages: the history, to which everything is appended.
    :param run: runs a tool by its name, with its arguments.
    :param ask, approver: who is asked about calls that policy holds back; without them such a call is answered as waiting.
    :param most: the most requests; then the text so far is given.
    :param request: what else the request has, ``max_tokens`` among it.
    """
    text = ""
    for _ in range(most):
        made = client.messages.create(**_request(conversation, messages, request))
        text = _appended(messages, made)
        turn = conversation.turn(messages[-1])
        if not len(turn):
            break
        messages += answer(turn, run, ask, approver)
    return text


async def achat(
    client: anthropic.AsyncAnthropic,
    conversation: Conversation,
    messages: list[dict[str, Any]],
    run: Run,
    *,
    ask: Ask | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    **request: Any,
) -> str:
    """``chat`` for the asynchronous client; ``run`` may be a coroutine function."""
    text = ""
    for _ in range(most):
        made = await client.messages.create(**_request(conversation, messages, request))
        text = _appended(messages, made)
        turn = conversation.turn(messages[-1])
        if not len(turn):
            break
        messages += await answer_async(turn, run, ask, approver)
    return text


def _request(conversation: Conversation, messages: list[dict[str, Any]], more: dict[str, Any]) -> dict[str, Any]:
    # What the host has trimmed since the last request counts as closed again.
    conversation.seen(messages)
    return {"model": conversation.model, "messages": messages, "tools": conversation.tools(), **more}


def _appended(messages: list[dict[str, Any]], made: Any) -> str:
    content = [block.model_dump(mode="json", exclude_none=True) for block in made.content]
    messages.append({"role": "assistant", "content": content})
    return "".join(block["text"] for block in content if block["type"] == "text")


def runner_tools(
    conversation: Conversation, run: Run, *, ask: Ask | None = None, approver: Approver | None = None
) -> list[BetaBuiltinFunctionTool]:
    """The tools of a conversation for ``client.beta.messages.tool_runner``, which calls them itself."""
    ids = itertools.count()
    return [_RunnerTool(entry, conversation, run, ask, approver, ids) for entry in conversation.tools()]


class _RunnerTool(BetaBuiltinFunctionTool):
    def __init__(
        self,
        entry: dict[str, Any],
        conversation: Conversation,
        run: Run,
        ask: Ask | None,
        approver: Approver | None,
        ids: Iterable[int],
    ) -> None:
        self.entry, self.conversation, self.run = entry, conversation, run
        self.ask, self.approver, self.ids = ask, approver, iter(ids)

    def to_dict(self) -> Any:
        return self.entry

    def call(self, input: object) -> Any:
        # The runner does not say which call it is about.
        outcome = self.conversation.call(self.entry["name"], input, f"runner-{next(self.ids)}")
        if isinstance(outcome, Confirm) and self.ask and self.approver and (said := self.ask(outcome)) is not None:
            self.approver.approve(outcome.approval) if said else self.approver.reject(outcome.approval)
            outcome = self.conversation.resume(outcome.approval)
        if isinstance(outcome, Forward):
            return self._ran(outcome)
        if isinstance(outcome, Reply) and not outcome.is_error:
            # Under native deferral these are blocks that refer to definitions.
            return outcome.messages[0]["content"][0]["content"]
        raise ToolError(outcome.content)

    def _ran(self, call: Forward) -> Any:
        try:
            result = as_text(self.run(call.target, call.arguments))
        except Exception as why:
            self.conversation.report_result(call.id, False)
            raise ToolError(call.noted(f"{type(why).__name__}: {why}")) from why
        self.conversation.report_result(call.id)
        return call.noted(result)
