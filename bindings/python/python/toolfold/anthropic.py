"""The Anthropic SDK without a framework: a complete loop over Messages, and tools for its own ``tool_runner``.

    conversation = engine.conversation("anthropic", "claude-sonnet-4-6", id="c-42")
    text = chat(client, conversation, messages, run, max_tokens=4096)

    runner = client.beta.messages.tool_runner(tools=runner_tools(conversation, run), ...)

Under arm ``native``, folded tools are sent with ``defer_loading`` and ``expand_tools`` answers with ``tool_reference`` blocks, in
both. Under arm ``append``, opened tools are appended as ``tool_addition`` blocks. ``chat`` sets the beta header; a runner needs
``attach(runner, tools)`` and ``betas=list(conversation.betas)``, and adds the tools with ``add_tools``.
"""

from __future__ import annotations

from typing import Any

import anthropic

from . import Approver, Conversation
from ._loop import MOST_REQUESTS, Ask, AskAsync, Dialogue, Message, Run, talk, talk_async
from .anthropic_runner import attach, runner_tools

__all__ = ["achat", "attach", "chat", "runner_tools"]


def chat(
    client: anthropic.Anthropic,
    conversation: Conversation,
    messages: list[Message],
    run: Run,
    *,
    ask: Ask | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    **request: Any,
) -> str:
    """Runs the loop until the model makes no more calls, and returns its last text.

    A history that ends with unanswered calls is resumed: the calls are checked and run before anything is sent. An approved
    call is not run a second time.

    :param conversation: on wire ``anthropic``.
    :param messages: the history, to which everything is appended.
    :param run: runs a tool by its name, with its arguments.
    :param ask, approver: who approves calls that require approval; without them, such a call is answered as waiting.
    :param most: the maximum number of requests; after that, the text so far is returned.
    :param request: the other members of the request, including ``max_tokens``.
    """
    return talk(_dialogue(conversation, messages, request), client.messages.create, run, ask, approver, most)


async def achat(
    client: anthropic.AsyncAnthropic,
    conversation: Conversation,
    messages: list[Message],
    run: Run,
    *,
    ask: AskAsync | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    **request: Any,
) -> str:
    """``chat`` for the asynchronous client; ``run`` and ``ask`` may be coroutine functions."""
    dialogue = _dialogue(conversation, messages, request)
    return await talk_async(dialogue, client.messages.create, run, ask, approver, most)


def _dialogue(conversation: Conversation, messages: list[Message], fixed: dict[str, Any]) -> Dialogue:
    if betas := conversation.betas:
        headers = dict(fixed.get("extra_headers") or {})
        headers["anthropic-beta"] = ",".join(filter(None, [headers.get("anthropic-beta"), *betas]))
        fixed = {**fixed, "extra_headers": headers}
    return Dialogue(conversation, messages, "messages", fixed, _read)


def _read(response: Any) -> tuple[str, list[Message]]:
    content = [block.model_dump(mode="json", exclude_none=True) for block in response.content]
    text = "".join(block["text"] for block in content if block["type"] == "text")
    return text, [{"role": "assistant", "content": content}]
