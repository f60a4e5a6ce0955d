"""The OpenAI SDK without a framework: its real client over a transport of the test's own."""

from __future__ import annotations

import json
from typing import Any

import httpx2 as httpx
import openai
from dialogue import DONE, Dialogue
from hosts.raw import RawHost

import toolfold
from toolfold.openai import chat


class Server:
    """Answers as the API would, from the script."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._dialogue = dialogue

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        call = self._dialogue.turn(body["tools"], (body.get("messages") or body["input"])[-1])
        made = response(call) if request.url.path.endswith("responses") else completion(call)
        return httpx.Response(200, json=made)


def completion(call: tuple[str, str, Any] | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": DONE}
    if call:
        function = {"name": call[1], "arguments": json.dumps(call[2])}
        message = {"role": "assistant", "tool_calls": [{"id": call[0], "type": "function", "function": function}]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def response(call: tuple[str, str, Any] | None) -> dict[str, Any]:
    text = {"type": "output_text", "text": DONE, "annotations": []}
    item = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    if call:
        own = {"name": call[1], "arguments": json.dumps(call[2]), "call_id": call[0], "status": "completed"}
        item = {"id": f"f{call[0]}", "type": "function_call", **own}
    fixed = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [item], **fixed}


def clients(server: Server) -> tuple[Any, Any]:
    transport = httpx.MockTransport(server)
    here = {"api_key": "x", "base_url": "http://127.0.0.1/v1"}
    return (
        openai.OpenAI(http_client=httpx.Client(transport=transport), **here),
        openai.AsyncOpenAI(http_client=httpx.AsyncClient(transport=transport), **here),
    )


class Host(RawHost):
    wire = "openai-chat"

    def chat(self, conversation: toolfold.Conversation, messages: list[Any], **asking: Any) -> str:
        return chat(clients(Server(self.dialogue))[0], conversation, messages, self.book.run, **asking).text
