"""The Anthropic SDK without a framework: a complete loop over Messages, and tools for its own ``tool_runner``.

    conversation = engine.conversation("anthropic", "claude-sonnet-4-6", id="c-42")
    result = chat(client, conversation, messages, run, max_tokens=4096)

    runner = client.beta.messages.tool_runner(tools=runner_tools(conversation, run), ...)

Under arm ``native``, folded tools are sent with ``defer_loading`` and ``expand_tools`` answers with ``tool_reference`` blocks, in
both. Under arm ``append``, opened tools are appended as ``tool_addition`` blocks. ``chat`` sets the beta header; a runner needs
``attach(runner, tools)`` and ``betas=list(conversation.betas)``, and adds the tools with ``add_tools``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic

from . import Approver, Conversation
from ._loop import MOST_REQUESTS, Ask, AskAsync, Dialogue, streamed, streamed_async, talk, talk_async
from ._result import Blocks, Result, Said, Usage
from ._tools import Run, RunAsync
from .anthropic_runner import arunner_tools, attach, runner_tools

__all__ = ["Blocks", "Result", "Usage", "achat", "arunner_tools", "attach", "chat", "runner_tools"]


def chat(
    client: anthropic.Anthropic,
    conversation: Conversation,
    messages: list[Any],
    run: Run,
    *,
    ask: Ask | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    concurrent: int = 1,
    pause: bool = False,
    on_event: Callable[[Any], object] | None = None,
    **request: Any,
) -> Result:
    """Runs the loop until the model makes no more calls.

    A history that ends with unanswered calls is resumed: the calls are checked and run before anything is sent. An approved
    call is not run a second time. A response that the provider paused (``pause_turn``) is continued.

    :param conversation: on wire ``anthropic``.
    :param messages: the history: dicts or objects of the SDK. Everything is appended to it.
    :param run: runs a tool by its name, with its arguments. It returns text, JSON data, or ``Blocks``.
    :param ask, approver: who approves calls that require approval; without them, such a call is answered as waiting. ``ask``
        returns True, False, None (undecided), or a mapping of other arguments: the edited call is checked and runs instead.
    :param most: the maximum number of requests.
    :param concurrent: the maximum number of calls of one message that run at the same time, each in a thread of its own.
    :param pause: whether the loop returns when a call still waits for approval after ``ask``. The history then ends with the
        calls: the loop continues with them once ``approver`` has decided, with the same conversation or one restored from
        its snapshot.
    :param on_event: receives the events of ``client.messages.stream`` as they arrive; None does not stream.
    :param request: the other members of the request, including ``max_tokens``.
    :raises WireError: the conversation has another wire.
    """
    own, dialogue = client.messages, _dialogue(conversation, messages, request)
    send = streamed(own.stream, "get_final_message", on_event) if on_event else own.create
    return talk(dialogue, send, run, ask, approver, most, concurrent=concurrent, pause=pause)


async def achat(
    client: anthropic.AsyncAnthropic,
    conversation: Conversation,
    messages: list[Any],
    run: RunAsync,
    *,
    ask: AskAsync | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    concurrent: int = 1,
    pause: bool = False,
    on_event: Callable[[Any], object] | None = None,
    **request: Any,
) -> Result:
    """``chat`` for the asynchronous client; ``run``, ``ask`` and ``on_event`` may be coroutine functions."""
    own, dialogue = client.messages, _dialogue(conversation, messages, request)
    send = streamed_async(own.stream, "get_final_message", on_event) if on_event else own.create
    return await talk_async(dialogue, send, run, ask, approver, most, concurrent=concurrent, pause=pause)


def _dialogue(conversation: Conversation, messages: list[Any], fixed: dict[str, Any]) -> Dialogue:
    if betas := conversation.betas:
        headers = dict(fixed.get("extra_headers") or {})
        headers["anthropic-beta"] = ",".join(filter(None, [headers.get("anthropic-beta"), *betas]))
        fixed = {**fixed, "extra_headers": headers}
    return Dialogue(conversation, messages, "messages", fixed, _read, "anthropic")


def _read(response: Any) -> Said:
    content = [block.model_dump(mode="json", exclude_none=True) for block in response.content]
    for block in content:
        block.pop("parsed_output", None)  # The SDK's stream helper adds it to texts.
    text = "".join(block["text"] for block in content if block["type"] == "text")
    usage = response.usage
    # `input_tokens` of this API leaves out what was written to and read from the cache.
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    spent = Usage(1, usage.input_tokens + cached + written, cached, usage.output_tokens)
    return Said(text, [{"role": "assistant", "content": content}], response.stop_reason or "", spent)
