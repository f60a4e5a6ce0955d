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
from ._adapter import Ask, Run, answer, answer_async

__all__ = ["achat", "arespond", "chat", "respond"]

#: How many requests one loop makes at most.
MOST_REQUESTS = 50


def chat(
    client: openai.OpenAI,
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

    :param conversation: on wire ``openai-chat``.
    :param messages: the history, to which everything is appended.
    :param run: runs a tool by its name, with its arguments.
    :param ask, approver: who is asked about calls that policy holds back; without them such a call is answered as waiting.
    :param most: the most requests; then the text so far is given.
    :param request: what else the request has. ``model`` is the conversation's where it is not given.
    """
    text = ""
    for _ in range(most):
        made = client.chat.completions.create(**_chat_request(conversation, messages, request))
        text, message = made.choices[0].message.content or "", made.choices[0].message
        messages.append(message.model_dump(mode="json", exclude_none=True))
        turn = conversation.turn(messages[-1])
        if not len(turn):
            break
        messages += answer(turn, run, ask, approver)
    return text


async def achat(
    client: openai.AsyncOpenAI,
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
        made = await client.chat.completions.create(**_chat_request(conversation, messages, request))
        text, message = made.choices[0].message.content or "", made.choices[0].message
        messages.append(message.model_dump(mode="json", exclude_none=True))
        turn = conversation.turn(messages[-1])
        if not len(turn):
            break
        messages += await answer_async(turn, run, ask, approver)
    return text


def respond(
    client: openai.OpenAI,
    conversation: Conversation,
    items: list[dict[str, Any]],
    run: Run,
    *,
    ask: Ask | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    **request: Any,
) -> str:
    """``chat`` over the Responses API: a conversation on wire ``openai-responses``, and its input items."""
    text = ""
    for _ in range(most):
        made = client.responses.create(**_response_request(conversation, items, request))
        output = [item.model_dump(mode="json", exclude_none=True) for item in made.output]
        items += output
        text, turn = made.output_text, conversation.turn(output)
        if not len(turn):
            break
        items += answer(turn, run, ask, approver)
    return text


async def arespond(
    client: openai.AsyncOpenAI,
    conversation: Conversation,
    items: list[dict[str, Any]],
    run: Run,
    *,
    ask: Ask | None = None,
    approver: Approver | None = None,
    most: int = MOST_REQUESTS,
    **request: Any,
) -> str:
    """``respond`` for the asynchronous client."""
    text = ""
    for _ in range(most):
        made = await client.responses.create(**_response_request(conversation, items, request))
        output = [item.model_dump(mode="json", exclude_none=True) for item in made.output]
        items += output
        text, turn = made.output_text, conversation.turn(output)
        if not len(turn):
            break
        items += await answer_async(turn, run, ask, approver)
    return text


def _chat_request(conversation: Conversation, messages: list[dict[str, Any]], more: dict[str, Any]) -> dict[str, Any]:
    # What the host has trimmed since the last request counts as closed again.
    conversation.seen(messages)
    return {"model": conversation.model, "messages": messages, "tools": conversation.tools(), **more}


def _response_request(conversation: Conversation, items: list[dict[str, Any]], more: dict[str, Any]) -> dict[str, Any]:
    conversation.seen(items)
    fixed = {"store": False, "include": ["reasoning.encrypted_content"]}
    return {"model": conversation.model, "input": items, "tools": conversation.tools(), **fixed, **more}
