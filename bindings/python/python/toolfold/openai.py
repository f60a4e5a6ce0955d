"""The OpenAI SDK without a framework: whole loops over Chat Completions and over Responses.

    engine = toolfold.Engine(tools, policy="policy.toml", approvals=approver)
    conversation = engine.conversation("openai-chat", "gpt-5.4", id="c-42")
    text = chat(client, conversation, messages, run, ask=ask, approver=approver)

Both loops append to the list they are given, so that it is the whole history. Responses is used without the server's memory:
what the model can see is then what the list says. Under arm ``native`` the API's own tool search finds the folded tools.
"""

from __future__ import annotations

from typing import Any

import openai

from . import Approver, Conversation
from ._loop import MOST_REQUESTS, Ask, AskAsync, Dialogue, Message, Run, talk, talk_async

__all__ = ["achat", "arespond", "chat", "respond"]

#: Responses keeps nothing on the server, and gives the model's reasoning along with what it says.
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
    """Talks until the model calls nothing more, and gives its last text.

    A history that ends with calls that nobody answered is taken up: they are judged and run before anything is sent. What
    a person approved is not run a second time.

    :param conversation: on wire ``openai-chat``.
    :param messages: the history, to which everything is appended.
    :param run: runs a tool by its name, with its arguments.
    :param ask, approver: who is asked about calls that policy holds back; without them such a call is answered as waiting.
    :param most: the most requests; then the text so far is given.
    :param request: what else the request has. ``model`` is the conversation's where it is not given.
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
