"""Arm ``append``: the official SDKs read what the engine writes, and carry it over their clients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import toolfold

pytest.importorskip("anthropic")
pytest.importorskip("openai")

import anthropic  # noqa: E402
import httpx2  # noqa: E402
import openai  # noqa: E402
from anthropic.types.beta import (  # noqa: E402
    BetaRequestToolAdditionBlockParam,
    BetaSystemMessageParam,
    BetaToolChangeToolDefinitionParam,
    BetaToolParam,
)
from openai.types.responses import FunctionTool  # noqa: E402
from openai.types.responses.response_input_item import AdditionalTools  # noqa: E402
from pydantic import TypeAdapter, ValidationError  # noqa: E402
from toolfold.anthropic import attach, chat, runner_tools  # noqa: E402
from toolfold.openai import respond  # noqa: E402

SNAPSHOTS = Path(__file__).resolve().parents[3] / "tests/it/snapshots"


def written(wire: str) -> list[dict[str, Any]]:
    """The messages that the Rust tests pin, below the two lines of the snapshot's head."""
    return json.loads((SNAPSHOTS / f"append_{wire}.snap").read_text().split("---\n", 2)[2])


def test_anthropics_types_read_it() -> None:
    messages = written("anthropic")
    system = [message for message in messages if message["role"] == "system"]
    assert len(system) == 2
    addition, tool = TypeAdapter(BetaRequestToolAdditionBlockParam), TypeAdapter(BetaToolParam)
    for message in system:
        assert set(message) <= set(BetaSystemMessageParam.__annotations__)
        # The types contain iterables, which are validated only when they are read: block by block.
        for block in message["content"]:
            addition.validate_python(block)
            assert set(block) <= set(BetaRequestToolAdditionBlockParam.__annotations__)
            assert set(block["tool"]) == set(BetaToolChangeToolDefinitionParam.__annotations__)
            tool.validate_python(block["tool"]["definition"])
            assert set(block["tool"]["definition"]) <= set(BetaToolParam.__annotations__)
    # The types can reject: a definition without its wrapper is invalid.
    with pytest.raises(ValidationError):
        addition.validate_python({"type": "tool_addition", "tool": system[0]["content"][0]["tool"]["definition"]})


def test_openais_types_read_it() -> None:
    items = written("openai-responses")
    added = [item for item in items if item.get("type") == "additional_tools"]
    assert len(added) == 2
    for item in added:
        AdditionalTools.model_validate(item, strict=True)
        for tool in item["tools"]:
            FunctionTool.model_validate(tool, strict=True)
            assert set(tool) <= set(FunctionTool.model_fields)
    with pytest.raises(ValidationError):
        AdditionalTools.model_validate({**added[0], "role": "user"})


class Server:
    """A provider behind a transport: it notes requests and answers as scripted."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self.answers, self.bodies, self.headers = answers, [], []

    def client(self) -> httpx2.Client:
        def handle(request: httpx2.Request) -> httpx2.Response:
            self.bodies.append(json.loads(request.content))
            self.headers.append(request.headers.get("anthropic-beta"))
            return httpx2.Response(200, json=self.answers[len(self.bodies) - 1])

        return httpx2.Client(transport=httpx2.MockTransport(handle))


def said(at: int, *content: dict[str, Any]) -> dict[str, Any]:
    stop = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": f"m{at}", "type": "message", "role": "assistant", "model": "claude-opus-5-5", "stop_sequence": None}
    return {**head, "content": list(content), "stop_reason": stop, "usage": usage}


def uses(at: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return said(at, {"type": "tool_use", "id": f"tu{at}", "name": name, "input": arguments})


CALLS = [("expand_tools", {"tools": ["format_cells"]}), ("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"})]


def engine() -> toolfold.Engine:
    return toolfold.Engine("excel", arm="append")


def test_the_anthropic_loop_names_the_beta_and_keeps_the_array() -> None:
    server = Server([uses(0, *CALLS[0]), uses(1, *CALLS[1]), said(2, {"type": "text", "text": "ok"})])
    client = anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1", http_client=server.client())
    conversation, ran = engine().conversation("anthropic", "claude-opus-5-5"), []
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    assert chat(client, conversation, messages, lambda name, given: ran.append((name, given)) or "done", max_tokens=9).text == "ok"
    assert ran == [CALLS[1]]
    assert server.headers == ["inline-tools-2026-09-15"] * 3
    assert len({json.dumps(body["tools"]) for body in server.bodies}) == 1
    assert [message["role"] for message in server.bodies[1]["messages"]] == ["user", "assistant", "user", "system"]


def test_anthropics_own_runner_takes_what_is_opened() -> None:
    server = Server([uses(0, *CALLS[0]), uses(1, *CALLS[1]), said(2, {"type": "text", "text": "ok"})])
    client = anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1", http_client=server.client())
    conversation, ran = engine().conversation("anthropic", "claude-opus-5-5"), []
    tools = runner_tools(conversation, lambda name, given: ran.append((name, given)) or "done")
    runner = client.beta.messages.tool_runner(
        model="claude-opus-5-5", max_tokens=9, messages=[{"role": "user", "content": "Go."}], tools=tools,
        betas=list(conversation.betas), thread=False,
    )
    attach(runner, tools)
    runner.until_done()
    assert ran == [CALLS[1]]
    assert len({json.dumps(body["tools"]) for body in server.bodies}) == 1
    (added,) = server.bodies[1]["messages"][-1]["content"]
    assert added["type"] == "tool_addition" and added["tool"]["definition"]["name"] == "format_cells"
    assert json.dumps(server.bodies[2]["messages"]).count("tool_addition") == 1, "once"


def test_the_responses_loop_appends_the_item() -> None:
    def made(at: int, item: dict[str, Any]) -> dict[str, Any]:
        head = {"id": f"r{at}", "object": "response", "created_at": 0, "model": "gpt-5.1", "status": "completed"}
        return {**head, "output": [item], "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}

    def call(at: int) -> dict[str, Any]:
        name, arguments = CALLS[at]
        return {"type": "function_call", "call_id": f"c{at}", "name": name, "arguments": json.dumps(arguments)}

    words = {"type": "output_text", "text": "ok", "annotations": []}
    last = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [words]}
    server = Server([made(0, call(0)), made(1, call(1)), made(2, last)])
    client = openai.OpenAI(api_key="x", base_url="http://127.0.0.1", http_client=server.client())
    conversation, ran = engine().conversation("openai-responses", "gpt-5.1"), []
    items: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    assert respond(client, conversation, items, lambda name, given: ran.append((name, given)) or "done").text == "ok"
    assert ran == [CALLS[1]] and len({json.dumps(body["tools"]) for body in server.bodies}) == 1
    kinds = [item.get("type") for item in server.bodies[1]["input"]]
    assert kinds == [None, "function_call", "function_call_output", "additional_tools"]


def test_a_compaction_is_given_again() -> None:
    conversation = engine().conversation("anthropic", "claude-opus-5-5")
    conversation.call(*CALLS[0])
    (again,) = conversation.redeliver_messages()
    conversation.seen([{"role": "user", "content": "Summary."}, again])
    assert conversation.opened == ("format_cells",)
    conversation.seen([{"role": "user", "content": "Summary."}])
    assert conversation.opened == () and conversation.redeliver_messages() == []
