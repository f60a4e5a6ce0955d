"""The streams of the APIs of OpenAI and Anthropic, as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

#: The calls of a message: the id, name and arguments of each.
Calls: TypeAlias = Sequence[tuple[str, str, dict[str, Any]]]


def event(data: Any, name: str | None = None) -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


def chat(calls: Calls, parts: Sequence[str]) -> str:
    """A message of Chat Completions: calls, or else a text in parts."""
    fixed = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: dict[str, Any], stop: str | None = None) -> str:
        return event({**fixed, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})

    spent = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "prompt_tokens_details": {"cached_tokens": 4}}
    text = chunk({"role": "assistant"})
    for at, (id, name, arguments) in enumerate(calls):
        own = {"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        text += chunk({"tool_calls": [own]})
        text += chunk({"tool_calls": [{"index": at, "function": {"arguments": json.dumps(arguments)}}]})
    text += "".join(chunk({"content": part}) for part in ([] if calls else parts))
    text += chunk({}, "tool_calls" if calls else "stop")
    return text + event({**fixed, "choices": [], "usage": spent}) + event("[DONE]")


def responses(calls: Calls, parts: Sequence[str]) -> str:
    """A message of Responses: calls, or else a text in parts."""
    text = {"type": "output_text", "text": "".join(parts), "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    items: list[dict[str, Any]] = [
        {"id": f"f{id}", "type": "function_call", "name": name, "arguments": json.dumps(own), "call_id": id, "status": "completed"}
        for id, name, own in calls
    ] or [message]
    spent = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, "input_tokens_details": {"cached_tokens": 4}}
    fixed = {"id": "r", "object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True, "tools": []}
    whole = {**fixed, "tool_choice": "auto", "status": "completed", "output": items, "usage": spent}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    for index, item in enumerate(items):
        at = {"item_id": item["id"], "output_index": index, "content_index": 0}
        empty = {**item, "arguments": ""} if calls else {**item, "content": []}
        events.append({"type": "response.output_item.added", "output_index": index, "item": empty})
        if calls:
            events.append({"type": "response.function_call_arguments.delta", **at, "delta": item["arguments"]})
        else:
            events.append({"type": "response.content_part.added", **at, "part": {**text, "text": ""}})
            events += [{"type": "response.output_text.delta", **at, "delta": part, "logprobs": []} for part in parts]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return "".join(event({**one, "sequence_number": at}, one["type"]) for at, one in enumerate(events))


def messages(calls: Calls, parts: Sequence[str]) -> str:
    """A message of Anthropic's API: calls, or else a text in parts."""
    spent = {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3}
    fixed = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**fixed, "stop_sequence": None, "usage": spent}}]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        ({"type": "tool_use", "id": id, "name": name, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(own)}])
        for id, name, own in calls
    ] or [({"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in parts])]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    events += [{"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2}}, {"type": "message_stop"}]
    return "".join(event(one, one["type"]) for one in events)


def delta(event: Any) -> str:
    """The text in an event of any of the three APIs, as the SDKs have it."""
    if event.type in ("content.delta", "response.output_text.delta"):
        return str(event.delta)
    return str(event.text) if event.type == "text" else ""
