"""The events and contents of an ADK session: their calls and answers, and the names of calls in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from google.adk.events.event import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from . import Conversation
from ._names import MEMBER, Record, original, record
from ._steps import Step


#: The calls of a session that a request does not have: the ids of their events, and their positions among the calls there.
Hidden: TypeAlias = frozenset[tuple[str, int]]


def past_steps(events: Sequence[Event], hidden: Hidden) -> list[Step]:
    """Returns the calls and answers in a session's events, without those of hidden calls."""
    steps: list[Step] = []
    left_out: list[str] = []
    for event in events:
        position = 0
        for part in (event.content.parts or []) if event.content else []:
            if call := part.function_call:
                if (event.id, position) in hidden:
                    left_out.append(call.id or "")
                elif call.id and call.name:
                    steps.append((call.id, call.name, call.args or {}))
                position += 1
            elif (answer := part.function_response) and answer.id:
                if answer.id in left_out:
                    left_out.remove(answer.id)
                else:
                    steps.append((answer.id, True))
    return steps


def hidden_calls(contents: Sequence[types.Content], events: Sequence[Event], shown: set[str]) -> Hidden:
    """Returns the calls that a request does not have, such as those that a plugin removed. Calls are found as in ``restored``.

    :param contents: the contents as the model wrote and read them.
    :param shown: the names of the toolset's tools. Other calls, such as ADK's own, are not in the result.
    """
    past: dict[str, list[tuple[str, int]]] = {}
    for event in events:
        stored = (event.custom_metadata or {}).get(MEMBER) or {}
        for position, call in enumerate(event.get_function_calls()):
            if call.name not in shown:
                continue
            own, name, args = stored.get(str(position)), call.name, call.args or {}
            name, args = original(own, name, args) if own else (name, args)
            past.setdefault(_key(name, args), []).append((event.id, position))
    for part in (part for content in reversed(contents) for part in reversed(content.parts or [])):
        if (sent := part.function_call) and (same := past.get(_key(sent.name, sent.args))):
            same.pop()
    return frozenset(one for same in past.values() for one in same)


def message_of(context: ToolContext) -> str | None:
    """Returns the id of the event that made the call of a tool."""
    events = reversed(context.session.events)
    return next((event.id for event in events if any(c.id == context.function_call_id for c in event.get_function_calls())), None)


def direct_response(conversation: Conversation, response: LlmResponse, shown: set[str]) -> None:
    """Gives the calls of a response the names of the tools that run. Everything else is unchanged. ADK numbers calls without an
    id only later, so the model's original calls are stored by position, in the metadata of the event.

    :param shown: the names of the toolset's tools. Calls of other tools are unchanged.
    """
    parts, records, position = list[types.Part](), dict[str, Record](), 0
    for part in (response.content.parts or []) if response.content else []:
        if call := part.function_call:
            own = record(conversation, call.name, call.args or {}) if call.name in shown else None
            if own is not None:
                name, arguments = own["direct"]
                renamed = call.model_copy(update={"name": name, "args": json.loads(arguments)})
                part = part.model_copy(update={"function_call": renamed})
                records[str(position)] = own
            position += 1
        parts.append(part)
    if response.content and records:
        metadata = response.custom_metadata or {}
        response.content = response.content.model_copy(update={"parts": parts})
        response.custom_metadata = {**metadata, MEMBER: {**metadata.get(MEMBER, {}), **records}}


def restored(contents: list[types.Content], events: Sequence[Event]) -> list[types.Content]:
    """Returns the contents of a request as the model wrote and read them. Unchanged contents are the same objects.

    ADK removes the ids that it created, and leaves out events. A call is therefore found by its name and arguments; of equal
    calls, the last in the request is the last in the session.

    :param events: the events of the agent.
    """
    past: dict[str, list[Record | None]] = {}
    for event in events:
        stored = (event.custom_metadata or {}).get(MEMBER) or {}
        for position, call in enumerate(event.get_function_calls()):
            past.setdefault(_key(call.name, call.args), []).append(stored.get(str(position)))
    if not any(one for records in past.values() for one in records):
        return contents
    found: dict[int, Record] = {}
    for part in (part for content in reversed(contents) for part in reversed(content.parts or [])):
        records = past.get(_key(asked.name, asked.args)) if (asked := part.function_call) else None
        if records and (own := records.pop()):
            found[id(part)] = own
    sent, called = list[types.Content](), list[tuple[types.FunctionCall, Record | None]]()
    for content in contents:
        calls = [(part.function_call, found.get(id(part))) for part in content.parts or [] if part.function_call]
        called = [(call, own) for call, own in calls if call] or called
        parts = [_written(part, found.get(id(part)), called) for part in content.parts or []]
        same = all(new is old for new, old in zip(parts, content.parts or []))
        sent.append(content if same else content.model_copy(update={"parts": parts}))
    return sent


def _key(name: str | None, arguments: Any) -> str:
    return json.dumps([name, arguments or {}], sort_keys=True, default=str)


def _written(
    part: types.Part, own: Record | None, called: list[tuple[types.FunctionCall, Record | None]]
) -> types.Part:
    """Returns a part as the model wrote or read it.

    :param called: the calls of the newest message with calls; the one that the part answers is moved to its end.
    """
    if own and (call := part.function_call):
        name, arguments = original(own, call.name or "", call.args or {})
        return part.model_copy(update={"function_call": call.model_copy(update={"name": name, "args": arguments})})
    answer = part.function_response
    place = (at for at, (call, _) in enumerate(called) if answer and (call.id, call.name) == (answer.id, answer.name))
    if answer is None or (first := next(place, None)) is None:
        return part
    called.append(called.pop(first))
    if (own := called[-1][1]) is None:
        return part
    return part.model_copy(update={"function_response": answer.model_copy(update={"name": own["name"]})})
