"""The Anthropic SDK without a framework: its real client over a transport of the test's own."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx2 as httpx
from dialogue import DONE, Dialogue
from hosts.raw import RawHost

import toolfold
from toolfold.anthropic import chat

FIXED: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}


class Server:
    """Answers as the API would, from the script."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._dialogue = dialogue

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        call = self._dialogue.turn(self.bodies[-1]["tools"], self.bodies[-1]["messages"][-1])
        block: dict[str, Any] = {"type": "text", "text": DONE}
        if call:
            block = {"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]}
        usage, stop = {"input_tokens": 1, "output_tokens": 1}, "tool_use" if call else "end_turn"
        return httpx.Response(200, json={**FIXED, "content": [block], "stop_reason": stop, "usage": usage})

    def client(self) -> Any:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1", http_client=http)


class Host(RawHost):
    wire = "anthropic"

    def chat(self, conversation: toolfold.Conversation, messages: list[Any], **asking: Any) -> str:
        client = Server(self.dialogue).client()
        return chat(client, conversation, messages, self.book.run, max_tokens=100, **asking).text
