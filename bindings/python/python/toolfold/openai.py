"""The OpenAI SDK without a framework: complete loops over Chat Completions and over Responses.

    engine = toolfold.Engine(tools, policy="policy.toml", approvals=approver)
    conversation = engine.conversation("openai-chat", "gpt-5.4", id="c-42")
    text = chat(client, conversation, messages, run, ask=ask, approver=approver)

Both loops append to the given list, which is the complete history. Responses is used without server-side storage:
the model sees exactly what is in the list. Under arm ``native``, the API's own tool search finds the folded tools.
"""

from __future__ import annotations

from typing import Any

import openai

from . import Approver, Conversation
from ._loop import MOST_REQUESTS, Ask, AskAsync, Dialogue, Message, Run, talk, talk_async

__all__ = ["achat", "arespond", "chat", "respond"]

#: Responses stores nothing on the server, and returns the model's reasoning with its output.
_STATELESS = {"store": False, "include": ["reasoning.encrypted_content"]}


def chat(
    client: openai.OpenAI,
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

    :param conversation: on wire ``openai-chat``.
    :param messages: the history, to which everything is appended.
    :param run: runs a tool by its name, with its arguments.
    :param ask, approver: who approves calls that require approval; without them, such a call is answered as waiting.
    :param most: the maximum number of requests; after that, the text so far is returned.
    :param request: the other members of the request. ``model`` defaults to the conversation's.
    """
    dialogue = Dialogue(conversation, messages, "messages", request, _read_chat)
    return talk(dialogue, client.chat.completions.create, run, ask, approver, most)


async def achat(
    client: openai.AsyncOpenAI,
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
    dialogue = Dialogue(conversation, messages, "messages", request, _read_chat)
    return await talk_async(dialogue, client.chat.completions.create, run, ask, approver, most)


def respond(
    client: openai.OpenAI,
    conversation: Conversation,
    items: list[Message],
    run: Run,
    *,
    ask: Ask | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    **request: Any,
) -> str:
    """``chat`` over the Responses API: a conversation on wire ``openai-responses``, and its input items."""
    dialogue = Dialogue(conversation, items, "input", {**_STATELESS, **request}, _read_response)
    return talk(dialogue, client.responses.create, run, ask, approver, most)


async def arespond(
    client: openai.AsyncOpenAI,
    conversation: Conversation,
    items: list[Message],
    run: Run,
    *,
    ask: AskAsync | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    **request: Any,
) -> str:
    """``respond`` for the asynchronous client."""
    dialogue = Dialogue(conversation, items, "input", {**_STATELESS, **request}, _read_response)
    return await talk_async(dialogue, client.responses.create, run, ask, approver, most)


def _read_chat(response: Any) -> tuple[str, list[Message]]:
    message = response.choices[0].message
    return message.content or "", [message.model_dump(mode="json", exclude_none=True)]


def _read_response(response: Any) -> tuple[str, list[Message]]:
    return response.output_text, [item.model_dump(mode="json", exclude_none=True) for item in response.output]
