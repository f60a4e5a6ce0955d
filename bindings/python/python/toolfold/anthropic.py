"""The Anthropic SDK without a framework: a whole loop over Messages, and tools for its own ``tool_runner``.

    conversation = engine.conversation("anthropic", "claude-sonnet-4-6", id="c-42")
    text = chat(client, conversation, messages, run, max_tokens=4096)

    runner = client.beta.messages.tool_runner(tools=runner_tools(conversation, run), ...)

Under arm ``native`` folded tools are sent with ``defer_loading`` and ``expand_tools`` answers with ``tool_reference`` blocks, in
both. Under arm ``append`` opened tools are appended as ``tool_addition`` blocks: ``chat`` names the beta, and a runner takes them
by ``add_tools`` once ``attach(runner, tools)`` was called; give it ``betas=list(conversation.betas)``.
"""

from __future__ import annotations

from typing import Any

import anthropic

from . import Approver, Conversation
from ._adapter import Ask, Run, answer, answer_async
from .anthropic_runner import attach, runner_tools

__all__ = ["achat", "attach", "chat", "runner_tools"]

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
    if betas := conversation.betas:
        headers = dict(more.get("extra_headers") or {})
        headers["anthropic-beta"] = ",".join(filter(None, [headers.get("anthropic-beta"), *betas]))
        more = {**more, "extra_headers": headers}
    return {"model": conversation.model, "messages": messages, "tools": conversation.tools(), **more}


def _appended(messages: list[dict[str, Any]], made: Any) -> str:
    content = [block.model_dump(mode="json", exclude_none=True) for block in made.content]
    messages.append({"role": "assistant", "content": content})
    return "".join(block["text"] for block in content if block["type"] == "text")
