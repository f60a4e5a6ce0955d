"""The raw OpenAI SDK, its real client over a transport of the test's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

openai = pytest.importorskip("openai", reason="the registry does not offer openai")
import httpx2 as httpx  # noqa: E402
from dialogue import ASKED, DONE, SCRIPT, identity, verify  # noqa: E402
from workbook import POLICY, TOOLS, Workbook  # noqa: E402

import toolfold  # noqa: E402
from toolfold.openai import achat, chat, respond  # noqa: E402


class Server:
    """Answers as the API would, from the script."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        turn = len(self.bodies) - 1
        call = SCRIPT[turn] if turn < len(SCRIPT) else None
        made = self.response(turn, call) if request.url.path.endswith("responses") else self.completion(turn, call)
        return httpx.Response(200, json=made)

    @staticmethod
    def completion(turn: int, call: tuple[str, Any] | None) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": DONE}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message = {"role": "assistant", "tool_calls": [{"id": f"c{turn}", "type": "function", "function": function}]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}

    @staticmethod
    def response(turn: int, call: tuple[str, Any] | None) -> dict[str, Any]:
        text = {"type": "output_text", "text": DONE, "annotations": []}
        item = {"id": f"m{turn}", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
        if call:
            own = {"name": call[0], "arguments": json.dumps(call[1]), "call_id": f"c{turn}", "status": "completed"}
            item = {"id": f"f{turn}", "type": "function_call", **own}
        fixed = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        return {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [item], **fixed}


def clients(server: Server) -> tuple[Any, Any]:
    transport = httpx.MockTransport(server)
    here = {"api_key": "x", "base_url": "http://127.0.0.1/v1"}
    return (
        openai.OpenAI(http_client=httpx.Client(transport=transport), **here),
        openai.AsyncOpenAI(http_client=httpx.AsyncClient(transport=transport), **here),
    )


def started(wire: str, arm: str) -> tuple[toolfold.Approver, toolfold.Conversation]:
    approver = toolfold.Approver()
    engine = toolfold.Engine(TOOLS, "excel", arm, POLICY, approvals=approver)
    return approver, engine.conversation(wire, "gpt-5.4", "c-1")


@pytest.mark.parametrize("arm", ["lean", "stable"])
def test_a_workbook_over_chat(book: Workbook, arm: str) -> None:
    server = Server()
    approver, conversation = started("openai-chat", arm)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    asked: list[str] = []

    def ask(waiting: toolfold.Confirm) -> bool:
        asked.append(waiting.target)
        return True

    assert chat(clients(server)[0], conversation, messages, book.run, ask=ask, approver=approver) == DONE
    verify(book, [identity(body["tools"]) for body in server.bodies])
    assert asked == ["delete_sheet"] and approver.verify() == ()
    assert [m["role"] for m in messages] == ["user", *["assistant", "tool"] * len(SCRIPT), "assistant"]


@pytest.mark.parametrize("arm", ["lean", "stable"])
def test_a_workbook_over_responses(book: Workbook, arm: str) -> None:
    server = Server()
    approver, conversation = started("openai-responses", arm)
    items: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    done = respond(clients(server)[0], conversation, items, book.run, ask=lambda _: True, approver=approver)
    assert done == DONE
    verify(book, [identity(body["tools"]) for body in server.bodies])
    assert all(body["store"] is False for body in server.bodies)


def test_the_asynchronous_client(book: Workbook) -> None:
    import asyncio

    server = Server()
    approver, conversation = started("openai-chat", "lean")

    async def run(tool: str, arguments: dict[str, Any]) -> str:
        return book.run(tool, arguments)

    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    done = achat(clients(server)[1], conversation, messages, run, ask=lambda _: True, approver=approver)
    assert asyncio.run(done) == DONE
    verify(book, [identity(body["tools"]) for body in server.bodies])


def test_a_no_and_no_answer_at_all(book: Workbook, tmp_path: Path) -> None:
    for ask, said in [(lambda _: False, "a person said no"), (lambda _: None, "it waits for a person's approval")]:
        approver, conversation = started("openai-chat", "lean")
        messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        chat(clients(Server())[0], conversation, messages, book.run, ask=ask, approver=approver)
        answer = next(m["content"] for m in messages if m.get("tool_call_id") == f"c{ASKED}")
        assert said in answer
        assert all(name != "delete_sheet" for name, _ in book.calls)


def test_native_search_of_responses() -> None:
    conversation = toolfold.Engine("excel", arm="native").conversation("openai-responses", "gpt-5.4")
    before, tools = conversation.digest, conversation.tools()
    assert any(tool["type"] == "tool_search" for tool in tools), [tool["type"] for tool in tools]
    call = {"type": "tool_search_call", "call_id": "s1", "execution": "client", "status": "completed"}
    turn = conversation.turn([{**call, "arguments": {"categories": ["sheet"]}}])
    found = turn.messages()[0]
    assert found["type"] == "tool_search_output" and found["call_id"] == "s1"
    assert "rename_sheet" in json.dumps(found["tools"]) and conversation.digest == before
