"""The agent of ``asking`` over the loops of the OpenAI SDK."""

from __future__ import annotations

import json
from typing import Any

import httpx
import openai
from hosts import streams
from hosts.asking import DELETE, DONE, Sheets
from hosts.asking_loops import Loop

from toolfold.openai import chat, respond
from toolfold.testing import OUTPUT, PARTS

FORMAT = {"name": "sheets", "schema": Sheets.model_json_schema()}


class Own(Loop):
    """Chat Completions, or Responses for the deliveries that only that API has."""

    typed = {"response_format": {"type": "json_schema", "json_schema": FORMAT}}

    def build(self) -> None:
        self.wire = "openai-responses" if self.arm in ("native", "append") else "openai-chat"
        super().build()

    def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
        serve, stream, loop = (
            (self._chat, streams.chat, chat) if self.wire == "openai-chat" else (self._respond, streams.responses, respond)
        )

        def served(request: Any) -> Any:
            body = json.loads(request.content)
            tools = [tool.get("function", tool).get("name") for tool in body["tools"]]
            names = [name for name in tools if name]
            calls = self.says(names, body.get("messages", body.get("input"))[-1])
            if body.get("stream"):
                return httpx.Response(200, text=stream(calls, PARTS), headers={"content-type": "text/event-stream"})
            return httpx.Response(200, json=serve(calls, json.dumps(OUTPUT) if "response_format" in body else DONE))

        http = httpx.Client(transport=httpx.MockTransport(served))
        client = openai.OpenAI(api_key="x", base_url="http://127.0.0.1:9/v1", http_client=http)
        return loop(client, conversation, messages, self.run, **asking)

    def _chat(self, calls: streams.Calls, last: str) -> dict[str, Any]:
        written = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for id, name, arguments in calls
        ]
        said = {"content": None, "tool_calls": written} if written else {"content": last}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **said}}
        return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}

    def _respond(self, calls: streams.Calls, last: str) -> dict[str, Any]:
        items: list[dict[str, Any]] = [
            {"type": "function_call", "id": f"f{id}", "call_id": id, "name": name, "arguments": json.dumps(arguments)}
            for id, name, arguments in calls
        ]
        text = {"type": "output_text", "text": last, "annotations": []}
        message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
        fixed = {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed"}
        choice = {"tool_choice": "auto", "tools": [], "parallel_tool_calls": True}
        return {**fixed, **choice, "output": items or [message]}

    def change(self, arguments: dict[str, Any]) -> None:
        history = json.loads(self.state)
        function = history[-1]["tool_calls"][0]["function"]
        inner = {"name": DELETE[0], "arguments": arguments}
        function["arguments"] = json.dumps(inner if function["name"] == "call_tool" else arguments)
        self.state = json.dumps(history)
