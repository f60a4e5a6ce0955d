"""The agent of ``asking`` over the loop of the Anthropic SDK."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx2
from hosts import streams
from hosts.asking import DELETE, DONE, Sheets
from hosts.asking_loops import Loop

from toolfold.anthropic import chat
from toolfold.testing import OUTPUT, PARTS


class Own(Loop):
    wire = "anthropic"
    typed = {"output_config": {"format": {"type": "json_schema", "schema": Sheets.model_json_schema()}}}

    def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
        def serve(request: Any) -> Any:
            body = json.loads(request.content)
            calls = self.says([tool["name"] for tool in body["tools"]], body["messages"][-1])
            if body.get("stream"):
                text = streams.messages(calls, PARTS)
                return httpx2.Response(200, text=text, headers={"content-type": "text/event-stream"})
            blocks: list[dict[str, Any]] = [
                {"type": "tool_use", "id": id, "name": name, "input": arguments} for id, name, arguments in calls
            ]
            fixed = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
            usage, stop = {"input_tokens": 1, "output_tokens": 1}, "tool_use" if calls else "end_turn"
            content = blocks or [{"type": "text", "text": json.dumps(OUTPUT) if "output_config" in body else DONE}]
            return httpx2.Response(200, json={**fixed, "content": content, "stop_reason": stop, "usage": usage})

        http = httpx2.Client(transport=httpx2.MockTransport(serve))
        client = anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1", http_client=http)
        return chat(client, conversation, messages, self.run, max_tokens=100, **asking)

    def change(self, arguments: dict[str, Any]) -> None:
        history = json.loads(self.state)
        block = history[-1]["content"][0]
        block["input"] = {"name": DELETE[0], "arguments": arguments} if block["name"] == "call_tool" else arguments
        self.state = json.dumps(history)
