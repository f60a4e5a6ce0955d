"""The messages of a pydantic-ai agent: their calls and answers, and the names and ids of calls in them.

The framework requires call ids that are unique in a message. Some local models repeat them: a repeated id is replaced here and
restored in the next request.
"""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter, is_
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    NativeToolSearchReturnPart,
    RetryPromptPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    ToolSearchReturnPart,
)

from . import Conversation
from ._adapter import Added
from ._names import MEMBER, original, record
from ._steps import OpenCalls, Step, loaded

_SEARCHES = (NativeToolSearchReturnPart, ToolSearchReturnPart)
_PARTS = attrgetter("parts")


def key_of(messages: Sequence[ModelMessage], id: str | None) -> str | None:
    """Returns the provider's id of the newest response with a call of this id. The ids of Chat Completions are not unique,
    because local servers repeat them."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse) and any(getattr(part, "tool_call_id", None) == id for part in message.parts):
            own = message.provider_response_id
            return None if own is None or own.startswith("chatcmpl-") else own
    return None


def called(messages: Sequence[ModelMessage], id: str) -> ToolCallPart | None:
    """Returns the newest call of this id in a history."""
    parts = (part for message in reversed(messages) for part in reversed(message.parts))
    return next((part for part in parts if isinstance(part, ToolCallPart) and part.tool_call_id == id), None)


def direct_response(conversation: Conversation, response: ModelResponse, own_names: Container[str]) -> ModelResponse:
    """Returns a response whose calls have the names of the tools that run, and a unique id each.

    :param own_names: the names of the agent's tools.
    """
    calls = response.tool_calls
    taken = {part.tool_call_id for part in calls}
    repeated = len(taken) < len(calls)
    if not repeated and all([part.tool_name in own_names for part in calls]):
        return response
    parts, records = list(response.parts), {}
    seen = set[str]()
    for at, part in enumerate(parts):
        if not isinstance(part, ToolCallPart):
            continue
        own, id, number = record(conversation, part.tool_name, part.args), part.tool_call_id, 2
        if repeated and id in seen:
            while id in taken:
                id, number = f"{part.tool_call_id}-{number}", number + 1
            taken.add(id)
            own = own or {"name": part.tool_name, "arguments": part.args, "direct": [part.tool_name, part.args_as_json_str()]}
            own["id"] = part.tool_call_id
        seen.add(id)
        if own:
            name, inner = own["direct"]
            records[id] = own
            args = inner if isinstance(part.args, str) else json.loads(inner)
            parts[at] = replace(part, tool_name=name, args=args, tool_call_id=id)
    if not records:
        return response
    return replace(response, parts=parts, metadata={**(response.metadata or {}), MEMBER: records})


def restored(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Returns messages as the model wrote and read them. Unchanged messages are the same objects, as is an unchanged list."""
    if not any([MEMBER in message.metadata for message in messages if message.metadata]):
        return messages
    records: dict[str, Any] = {}
    sent: list[ModelMessage] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            own = (message.metadata or {}).get(MEMBER) or {}
            called = {part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)}
            records = {id: one for id, one in records.items() if id not in called} | own
            if own:
                metadata = {key: one for key, one in (message.metadata or {}).items() if key != MEMBER}
                message = replace(message, metadata=metadata or None)
        if records and any(getattr(part, "tool_call_id", None) in records for part in message.parts):
            parts: Any = [_written(part, records) for part in message.parts]
            message = replace(message, parts=parts)
        sent.append(message)
    return sent


def _written(part: Any, records: dict[str, Any]) -> Any:
    own = records.get(getattr(part, "tool_call_id", ""))
    if own is None or not isinstance(part, ToolCallPart | ToolReturnPart | RetryPromptPart):
        return part
    id = own.get("id", part.tool_call_id)
    if isinstance(part, ToolCallPart):
        name, arguments = original(own, part.tool_name, part.args)
        return replace(part, tool_name=name, args=arguments, tool_call_id=id)
    renamed = {"tool_name": own["name"]} if part.tool_name == own["direct"][0] else {}
    return replace(part, tool_call_id=id, **renamed)


def searched(message: ModelMessage) -> list[Step]:
    """Returns the tools that a search of the framework or of the provider loaded."""
    return [step for part in message.parts if isinstance(part, _SEARCHES) for step in _found(part)]


def _found(search: NativeToolSearchReturnPart | ToolSearchReturnPart) -> list[Step]:
    return loaded(search.tool_call_id, search.content["discovered_tools"])


class History:
    """The steps of messages that grow from request to request: parts that were already there are not read again."""

    def __init__(self) -> None:
        self._parts: list[object] = []
        self.steps: list[Step] = []
        self._open = OpenCalls()

    def read(self, messages: Sequence[ModelMessage]) -> list[Step]:
        """Reads the messages of a request, and returns their steps without the calls that have no answer."""
        parts: list[object] = list(chain.from_iterable(map(_PARTS, messages)))
        known = len(self._parts)
        if known > len(parts) or not all(map(is_, self._parts, parts)):
            known, self.steps, self._open = 0, [], OpenCalls()
        new: list[Step] = []
        for part in parts[known:]:
            if isinstance(part, _SEARCHES):
                new += _found(part)
            if isinstance(part, ToolCallPart):
                new.append((part.tool_call_id, part.tool_name, part.args))
            elif isinstance(part, ToolReturnPart):
                new.append((part.tool_call_id, part.outcome == "success"))
            elif isinstance(part, RetryPromptPart) and part.tool_name:
                new.append((part.tool_call_id, False))
        self._open.add(new)
        self.steps += new
        self._parts = parts
        return self._open.left_out(self.steps)


def with_added(messages: Sequence[ModelMessage], added: Added) -> tuple[list[ModelMessage], set[str]]:
    """Returns the messages of a request with the tools that calls opened, after their answers, and the names of these tools.

    :param messages: the messages as the model wrote and read them.
    """
    calls: dict[str, ToolCallPart] = {}
    sent, shown = list[ModelMessage](), set[str]()
    for message in messages:
        new: list[str] = []
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                calls[part.tool_call_id] = part
            elif isinstance(part, ToolReturnPart | RetryPromptPart) and (call := calls.get(part.tool_call_id)):
                opened = added.names(call.tool_name, call.args)
                new += [name for name in opened if name not in shown]
                shown.update(opened)
        if new:
            parts: Any = [*message.parts, ToolAvailabilityDeltaPart(tools_added=new)]
            message = replace(message, parts=parts)
        sent.append(message)
    return sent, shown
