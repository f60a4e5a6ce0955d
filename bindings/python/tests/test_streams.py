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
from hosts import streams  # noqa: E402

from toolfold import Approver, Engine  # noqa: E402
from toolfold import anthropic as over_anthropic  # noqa: E402
from toolfold import openai as over_openai  # noqa: E402

TOOL = {"name": "look", "description": "x", "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}}}
GO: dict[str, Any] = {"role": "user", "content": "go"}
HERE: dict[str, Any] = {"api_key": "x", "base_url": "http://127.0.0.1/v1"}


class Server:
    """Streams a call, then a text; keeps the bodies of the requests."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.bodies = stream, list[Any]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        calls = [("c0", "look", {"at": "a"})] if len(self.bodies) == 1 else []
        text = self.stream(calls, ["Loo", "ked."])
        return httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})

    def client(self, kind: Any) -> Any:
        transport = httpx.MockTransport(self)
        is_async = kind.__name__.startswith("Async")
        return kind(http_client=(httpx.AsyncClient if is_async else httpx.Client)(transport=transport), **HERE)


KINDS: dict[str, tuple[str, Any, Any, Any, Any, Any, dict[str, Any]]] = {
    "chat": ("openai-chat", streams.chat, openai_sdk.OpenAI, over_openai.chat, openai_sdk.AsyncOpenAI, over_openai.achat, {}),
    "responses": (
        "openai-responses", streams.responses,
        openai_sdk.OpenAI, over_openai.respond, openai_sdk.AsyncOpenAI, over_openai.arespond, {},
    ),
    "messages": (
        "anthropic", streams.messages,
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
    assert [text for text in map(streams.delta, events) if text] == ["Loo", "ked."], "as it arrives"
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
