"""The raw Anthropic SDK and its tool runner, the real client over a transport of the test's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

anthropic = pytest.importorskip("anthropic", reason="the registry does not offer anthropic")
import httpx2 as httpx  # noqa: E402
from dialogue import DONE, SCRIPT, identity, verify  # noqa: E402
from workbook import POLICY, TOOLS, Workbook  # noqa: E402

import toolfold  # noqa: E402
from toolfold.anthropic import chat, runner_tools  # noqa: E402

FIXED: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}


class Server:
    """Answers as the API would, from the script."""

    def __init__(self, script: list[tuple[str, Any]]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.script = script

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        turn = len(self.bodies) - 1
        ends = turn >= len(self.script)
        block: dict[str, Any] = {"type": "text", "text": DONE}
        if not ends:
            name, arguments = self.script[turn]
            block = {"type": "tool_use", "id": f"tu{turn}", "name": name, "input": arguments}
        usage = {"input_tokens": 1, "output_tokens": 1}
        stop = "end_turn" if ends else "tool_use"
        return httpx.Response(200, json={**FIXED, "content": [block], "stop_reason": stop, "usage": usage})

    def client(self) -> Any:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1", http_client=http)


def started(arm: str) -> tuple[toolfold.Approver, toolfold.Conversation]:
    approver = toolfold.Approver()
    engine = toolfold.Engine(TOOLS, "excel", arm, POLICY, approvals=approver)
    return approver, engine.conversation("anthropic", "claude-sonnet-4-6", "c-1")


@pytest.mark.parametrize("arm", ["lean", "stable"])
def test_a_workbook(book: Workbook, arm: str) -> None:
    server = Server(SCRIPT)
    approver, conversation = started(arm)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    asking: dict[str, Any] = {"ask": lambda _: True, "approver": approver}
    assert chat(server.client(), conversation, messages, book.run, max_tokens=100, **asking) == DONE
    verify(book, [identity(body["tools"]) for body in server.bodies])
    assert approver.verify() == ()


@pytest.mark.parametrize("arm", ["lean", "stable"])
def test_a_workbook_under_the_tool_runner(book: Workbook, arm: str) -> None:
    # The runner itself answers names that it was not given.
    server = Server(SCRIPT)
    approver, conversation = started(arm)
    tools = runner_tools(conversation, book.run, ask=lambda _: True, approver=approver)
    client = server.client()
    start = {"role": "user", "content": "go"}
    make = client.beta.messages.tool_runner
    runner = make(model="claude-opus-5-5", max_tokens=100, messages=[start], tools=tools, thread=False)
    assert runner.until_done().content[0].text == DONE
    verify(book, [identity(body["tools"]) for body in server.bodies])


def test_native_references(book: Workbook) -> None:
    script = [("expand_tools", {"tools": ["rename_sheet"]})]
    server = Server(script)
    conversation = toolfold.Engine("excel", arm="native").conversation("anthropic", "claude-sonnet-4-6")
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    chat(server.client(), conversation, messages, book.run, max_tokens=100)
    assert any(tool.get("defer_loading") for tool in server.bodies[0]["tools"])
    result = server.bodies[1]["messages"][-1]["content"][0]
    assert {"type": "tool_reference", "tool_name": "rename_sheet"} in result["content"]

    runner = next(tool for tool in runner_tools(conversation, book.run) if tool.to_dict().get("name") == "expand_tools")
    assert {"type": "tool_reference", "tool_name": "copy_sheet"} in runner.call({"tools": ["copy_sheet"]})
