"""The messages of an agent of agent-framework: their calls and answers, and the names of calls in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from typing import Any

from agent_framework import ChatContext, Content, Message

from . import Conversation
from ._names import MEMBER, original, record
from ._steps import Step


def steps_of(messages: Sequence[Message]) -> list[Step]:
    """Returns the calls and answers in messages."""
    steps: list[Step] = []
    for content in (content for message in messages for content in message.contents):
        if content.type == "function_call" and content.call_id and content.name:
            steps.append((content.call_id, content.name, content.arguments or {}))
        elif content.type == "function_result" and content.call_id:
            steps.append((content.call_id, True))
    return steps


def direct_messages(
    conversation: Conversation, messages: Sequence[Message]
) -> tuple[list[Message], dict[str, dict[str, Any]]]:
    """Returns messages whose calls have the names of the tools that run, and the model's original calls by id. Messages
    without replaced calls are the same objects."""
    made = [_each(message, lambda content: _direct(conversation, content)) for message in messages]
    contents = [content for message in made for content in message.contents if MEMBER in content.additional_properties]
    return made, {content.call_id or "": content.additional_properties[MEMBER] for content in contents}


def restore(context: ChatContext) -> None:
    """Restores the messages of a request as the model wrote and read them."""
    sent = [_each(message, _written) for message in context.messages]
    for message, own in zip(context.messages, sent):
        if own is not message:
            context.record_message_replacement(own, message)
    context.messages = sent


def _each(message: Message, replaced: Any) -> Message:
    contents = [replaced(content) for content in message.contents]
    if all(new is old for new, old in zip(contents, message.contents)):
        return message
    own = copy(message)
    own.contents = contents
    return own


def _direct(conversation: Conversation, content: Content) -> Content:
    if content.type != "function_call" or not content.name:
        return content
    own = record(conversation, content.name, content.arguments or {})
    if own is None:
        return content
    name, inner = own["direct"]
    arguments = inner if isinstance(content.arguments, str) else json.loads(inner)
    return _changed(content, name, arguments, {**content.additional_properties, MEMBER: own})


def _written(content: Content) -> Content:
    own = content.additional_properties.get(MEMBER) if content.type == "function_call" else None
    if not isinstance(own, dict):
        return content
    name, arguments = original(own, content.name or "", content.arguments)
    return _changed(content, name, arguments, {k: v for k, v in content.additional_properties.items() if k != MEMBER})


def _changed(content: Content, name: str, arguments: Any, properties: dict[str, Any]) -> Content:
    made = copy(content)
    made.name, made.arguments, made.additional_properties = name, arguments, properties
    return made
