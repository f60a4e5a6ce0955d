"""Streams of the two SDKs, and the asynchronous runner: their real clients over a transport of the test's own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("openai", reason="the registry does not offer openai")
pytest.importorskip("anthropic", reason="the registry does not offer anthropic")
import anthropic as anthropic_sdk  # noqa: E402
import httpx2 as httpx  # noqa: E402
import openai as openai_sdk  # noqa: E402

from toolfold import Approver, Engine  # noqa: E402
from toolfold import anthropic as over_anthropic  # noqa: E402
from toolfold import openai as over_openai  # noqa: E402

TOOL = {"name": "look", "description": "x", "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}}}
GO: dict[str, Any] = {"role": "user", "content": "go"}
HERE: dict[str, Any] = {"api_key": "x", "base_url": "http://127.0.0.1/v1"}


def event(data: Any, name: str | None = None) -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


def chat_stream(call: bool) -> str:
    fixed = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: dict[str, Any], stop: str | None = None) -> str:
        return event({**fixed, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})

    spent = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "prompt_tokens_details": {"cached_tokens": 4}}
    last = event({**fixed, "choices": [], "usage": spent}) + event("[DONE]")
    if not call:
        return chunk({"role": "assistant", "content": "Loo"}) + chunk({"content": "ked."}, "stop") + last
    own = {"index": 0, "id": "c0", "type": "function", "function": {"name": "look", "arguments": ""}}
    part = {"index": 0, "function": {"arguments": '{"at": "a"}'}}
    return chunk({"role": "assistant", "tool_calls": [own]}) + chunk({"tool_calls": [part]}, "tool_calls") + last


def responses_stream(call: bool) -> str:
    text = {"type": "output_text", "text": "Looked.", "annotations": []}
    item: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    if call:
        own = {"name": "look", "arguments": '{"at": "a"}', "call_id": "c0", "status": "completed"}
        item = {"id": "f", "type": "function_call", **own}
    spent = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, "input_tokens_details": {"cached_tokens": 4}}
    fixed = {"id": "r", "object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True, "tools": []}
    whole = {**fixed, "tool_choice": "auto", "status": "completed", "output": [item], "usage": spent}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    empty = {**item, "content": []} if not call else {**item, "arguments": ""}
    events.append({"type": "response.output_item.added", "output_index": 0, "item": empty})
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    if call:
        events.append({"type": "response.function_call_arguments.delta", **at, "delta": item["arguments"]})
    else:
        events.append({"type": "response.content_part.added", **at, "part": {**text, "text": ""}})
        events += [{"type": "response.output_text.delta", **at, "delta": part, "logprobs": []} for part in ("Loo", "ked.")]
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return "".join(event({**one, "sequence_number": at}, one["type"]) for at, one in enumerate(events))


def messages_stream(call: bool) -> str:
    spent = {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3}
    fixed = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**fixed, "stop_sequence": None, "usage": spent}}]
    if call:
        block: dict[str, Any] = {"type": "tool_use", "id": "c0", "name": "look", "input": {}}
        deltas: list[dict[str, Any]] = [{"type": "input_json_delta", "partial_json": '{"at": "a"}'}]
    else:
        block, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in ("Loo", "ked.")]
    events.append({"type": "content_block_start", "index": 0, "content_block": block})
    events += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    events.append({"type": "content_block_stop", "index": 0})
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    events += [{"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2}}, {"type": "message_stop"}]
    return "".join(event(one, one["type"]) for one in events)


class Server:
    """Streams a call, then a text; keeps the bodies of the requests."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.bodies = stream, list[Any]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        text = self.stream(len(self.bodies) == 1)
        return httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})

    def client(self, kind: Any) -> Any:
        transport = httpx.MockTransport(self)
        is_async = kind.__name__.startswith("Async")
        return kind(http_client=(httpx.AsyncClient if is_async else httpx.Client)(transport=transport), **HERE)


def delta(event: Any) -> str:
    """The text in an event of any of the three APIs."""
    if event.type == "content.delta" or event.type == "response.output_text.delta":
        return str(event.delta)
    return str(event.text) if event.type == "text" else ""


KINDS: dict[str, tuple[str, Any, Any, Any, Any, Any, dict[str, Any]]] = {
    "chat": ("openai-chat", chat_stream, openai_sdk.OpenAI, over_openai.chat, openai_sdk.AsyncOpenAI, over_openai.achat, {}),
    "responses": (
        "openai-responses", responses_stream,
        openai_sdk.OpenAI, over_openai.respond, openai_sdk.AsyncOpenAI, over_openai.arespond, {},
    ),
    "messages": (
        "anthropic", messages_stream,
        anthropic_sdk.Anthropic, over_anthropic.chat, anthropic_sdk.AsyncAnthropic, over_anthropic.achat, {"max_tokens": 9},
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", ["sync", "async", "async callback"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_streamed_loop(kind: str, how: str) -> None:
    wire, stream, client, loop, aclient, aloop, more = KINDS[kind]
    server, events, ran, history = Server(stream), list[Any](), list[Any](), [GO]
    conversation = Engine([TOOL]).conversation(wire, "m")

    def run(name: str, arguments: Any) -> str:
        ran.append((name, arguments))
        return "seen"

    async def on_event(event: Any) -> None:
        events.append(event)

    if kind == "chat":
        more = {**more, "stream_options": {"include_usage": True}}
    if how == "sync":
        result = loop(server.client(client), conversation, history, run, on_event=events.append, **more)
    else:
        listener = on_event if how == "async callback" else events.append
        result = asyncio.run(aloop(server.client(aclient), conversation, history, run, on_event=listener, **more))
    assert ran == [("look", {"at": "a"})] and result.text == "Looked."
    assert [text for text in map(delta, events) if text] == ["Loo", "ked."], "as it arrives"
    assert (result.usage.requests, result.usage.input_tokens, result.usage.cached_tokens) == (2, 20, 8)
    assert result.usage.output_tokens == 4
    assert result.stop == {"chat": "stop", "responses": "completed", "messages": "end_turn"}[kind]
    sent = json.dumps(server.bodies[1])
    assert "parsed" not in sent and "seen" in sent and all(body["stream"] for body in server.bodies)
    if kind == "chat":
        (call,) = server.bodies[1]["messages"][1]["tool_calls"]
        own = {"name": "look", "arguments": '{"at": "a"}'}
        assert call == {"id": "c0", "type": "function", "function": own}, "no member that the API refuses"


@pytest.mark.parametrize(("yes", "result"), [(True, "looked at a"), (False, "a person rejected it")])
def test_the_runner_of_the_asynchronous_client(yes: bool, result: str) -> None:
    bodies: list[Any] = []

    def serve(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        block: dict[str, Any] = {"type": "text", "text": "Looked."}
        if len(bodies) == 1:
            block = {"type": "tool_use", "id": "c0", "name": "look", "input": {"at": "a"}}
        fixed = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
        stop, usage = "tool_use" if len(bodies) == 1 else "end_turn", {"input_tokens": 1, "output_tokens": 1}
        return httpx.Response(200, json={**fixed, "content": [block], "stop_reason": stop, "usage": usage})

    approver, asked, ran = Approver(), list[str](), list[str]()
    policy = '[[rule]]\ntool = "*"\ndecide = "ask"\n'
    conversation = Engine([TOOL], policy=policy, approvals=approver).conversation("anthropic", id="c")

    async def run(name: str, arguments: Any) -> str:
        await asyncio.sleep(0)
        ran.append(name)
        return f"looked at {arguments['at']}"

    async def ask(waiting: Any) -> bool:
        asked.append(waiting.target)
        return yes

    async def talk() -> Any:
        http = httpx.AsyncClient(transport=httpx.MockTransport(serve))
        client = anthropic_sdk.AsyncAnthropic(http_client=http, **HERE)
        tools = over_anthropic.arunner_tools(conversation, run, ask=ask, approver=approver)
        runner = client.beta.messages.tool_runner(
            model="claude-opus-5-5", max_tokens=9, messages=[GO], tools=tools, thread=False
        )
        return await runner.until_done()

    assert asyncio.run(talk()).content[0].text == "Looked."
    assert asked == ["look"] and ran == (["look"] if yes else [])
    assert result in json.dumps(bodies[1]["messages"][-1])


def test_a_runner_reports_a_failed_tool() -> None:
    async def run(name: str, arguments: Any) -> str:
        raise OSError("the disk is gone")

    conversation = Engine([TOOL]).conversation("anthropic")
    (tool,) = over_anthropic.arunner_tools(conversation, run)
    with pytest.raises(Exception, match="OSError: the disk is gone"):
        asyncio.run(tool.call({"at": "a"}))
