"""The OpenAI SDK without a framework: complete loops over Chat Completions and over Responses.

    engine = toolfold.Engine(tools, policy="policy.toml", approvals=approver)
    conversation = engine.conversation("openai-chat", "gpt-5.4", id="c-42")
    result = chat(client, conversation, messages, run, ask=ask, approver=approver)
    print(result.text, result.usage.input_tokens)

Both loops append to the given list, which is the complete history. Responses is used without server-side storage:
the model sees exactly what is in the list. Under arm ``native``, the API's own tool search finds the folded tools.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openai

from . import Approver, Conversation
from ._loop import MOST_REQUESTS, Ask, AskAsync, Dialogue, streamed, streamed_async, talk, talk_async
from ._result import Blocks, Message, Result, Said, Usage
from ._tools import Run, RunAsync

__all__ = ["Blocks", "Result", "Usage", "achat", "arespond", "chat", "respond"]

#: Responses stores nothing on the server, and returns the model's reasoning with its output.
_STATELESS = {"store": False, "include": ["reasoning.encrypted_content"]}

#: What the SDK adds to a message that it puts together from a stream, and the API does not accept.
_PARSED = ("parsed", "parsed_arguments", "index")


def chat(
    client: openai.OpenAI,
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
    call is not run a second time.

    :param conversation: on wire ``openai-chat``.
    :param messages: the history: dicts or objects of the SDK. Everything is appended to it.
    :param run: runs a tool by its name, with its arguments. It returns text, JSON data, or ``Blocks``.
    :param ask, approver: who approves calls that require approval; without them, such a call is answered as waiting. ``ask``
        returns True, False, None (undecided), or a mapping of other arguments: the edited call is checked and runs instead.
    :param most: the maximum number of requests.
    :param concurrent: the maximum number of calls of one message that run at the same time, each in a thread of its own.
    :param pause: whether the loop returns when a call still waits for approval after ``ask``. The history then ends with the
        calls: the loop continues with them once ``approver`` has decided, with the same conversation or one restored from
        its snapshot.
    :param on_event: receives the events of ``client.chat.completions.stream`` as they arrive; None does not stream.
    :param request: the other members of the request. ``model`` defaults to the conversation's.
    :raises WireError: the conversation has another wire.
    """
    dialogue = Dialogue(conversation, messages, "messages", request, _read_chat, "openai-chat")
    own = client.chat.completions
    send = streamed(own.stream, "get_final_completion", on_event) if on_event else own.create
    return talk(dialogue, send, run, ask, approver, most, concurrent=concurrent, pause=pause)


async def achat(
    client: openai.AsyncOpenAI,
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
    dialogue = Dialogue(conversation, messages, "messages", request, _read_chat, "openai-chat")
    own = client.chat.completions
    send = streamed_async(own.stream, "get_final_completion", on_event) if on_event else own.create
    return await talk_async(dialogue, send, run, ask, approver, most, concurrent=concurrent, pause=pause)


def respond(
    client: openai.OpenAI,
    conversation: Conversation,
    items: list[Any],
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
    """``chat`` over the Responses API: a conversation on wire ``openai-responses``, and its input items."""
    dialogue = Dialogue(conversation, items, "input", {**_STATELESS, **request}, _read_response, "openai-responses")
    own = client.responses
    send = streamed(own.stream, "get_final_response", on_event) if on_event else own.create
    return talk(dialogue, send, run, ask, approver, most, concurrent=concurrent, pause=pause)


async def arespond(
    client: openai.AsyncOpenAI,
    conversation: Conversation,
    items: list[Any],
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
    """``respond`` for the asynchronous client."""
    dialogue = Dialogue(conversation, items, "input", {**_STATELESS, **request}, _read_response, "openai-responses")
    own = client.responses
    send = streamed_async(own.stream, "get_final_response", on_event) if on_event else own.create
    return await talk_async(dialogue, send, run, ask, approver, most, concurrent=concurrent, pause=pause)


def _read_chat(response: Any) -> Said:
    choice, usage = response.choices[0], response.usage
    message = _without_parsed(choice.message.model_dump(mode="json", exclude_none=True))
    spent = Usage(1)
    if usage is not None:
        cached = getattr(usage.prompt_tokens_details, "cached_tokens", None) or 0
        spent = Usage(1, usage.prompt_tokens, cached, usage.completion_tokens)
    return Said(choice.message.content or "", [message], choice.finish_reason or "", spent)


def _read_response(response: Any) -> Said:
    usage, cut = response.usage, response.incomplete_details
    items = [_without_parsed(item.model_dump(mode="json", exclude_none=True)) for item in response.output]
    spent = Usage(1)
    if usage is not None:
        cached = getattr(usage.input_tokens_details, "cached_tokens", None) or 0
        spent = Usage(1, usage.input_tokens, cached, usage.output_tokens)
    stop = (cut.reason if cut else None) or response.status or ""
    return Said(response.output_text, items, stop, spent)


def _without_parsed(message: Message) -> Message:
    """Returns a message without what the SDK's stream helper adds."""
    for part in (message, *message.get("tool_calls", ()), *message.get("content", ())):
        for member in _PARSED if isinstance(part, dict) else ():
            part.pop(member, None)
            part.get("function", {}).pop(member, None)
    return message
