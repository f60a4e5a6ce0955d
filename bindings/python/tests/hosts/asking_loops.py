"""The agent of ``asking`` over the loops of the two SDKs."""

from __future__ import annotations

import json
from typing import Any

from hosts.asking import DELETE, DONE, Asking, tools_of
from toolfold import Approver, Confirm


class _Raw(Asking):
    """The loops of the two SDKs: the person is a callback, which ends the process here."""

    absent = {"own rule": "an SDK runs no tools"}
    asks_in_answer = True
    wire = ""

    class Asked(Exception):
        pass

    def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
        raise NotImplementedError

    def build(self) -> None:
        import toolfold

        self.approver = Approver(self.store)
        tools = [{"type": "function", "function": each} for each in tools_of(self.arm)]
        self.engine = toolfold.Engine(tools, **{**self.settings, "approvals": self.approver})

    def _went(self, messages: list[Any], said: bool | dict[str, Any] | None) -> bool:
        # The newest models have every delivery of their API.
        model = "claude-opus-5-5" if self.wire == "anthropic" else "gpt-5.4"
        conversation = self.engine.conversation(self.wire, model, "c-1", history=messages)
        answers = [] if said is None else [said]

        def ask(waiting: Confirm) -> bool | dict[str, Any]:
            if not answers:
                raise self.Asked
            return answers.pop()

        try:
            self.loop(conversation, messages, ask=ask, approver=self.approver)
        except self.Asked:
            return True
        finally:
            self.state = json.dumps(messages)
        return False

    def start(self) -> bool:
        return self._went([{"role": "user", "content": "go"}], None)

    def answer(self, said: bool | dict[str, Any]) -> bool:
        return self._went(json.loads(self.state), said)


def openai() -> type[Asking]:
    import httpx
    import openai as sdk

    from toolfold.openai import chat, respond

    class Own(_Raw):
        """Chat Completions, or Responses for the deliveries that only that API has."""

        def build(self) -> None:
            self.wire = "openai-responses" if self.arm in ("native", "append") else "openai-chat"
            super().build()

        def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
            serve, loop = (self._chat, chat) if self.wire == "openai-chat" else (self._respond, respond)

            def served(request: Any) -> Any:
                return httpx.Response(200, json=serve(json.loads(request.content)))

            http = httpx.Client(transport=httpx.MockTransport(served))
            client = sdk.OpenAI(api_key="x", base_url="http://127.0.0.1:9/v1", http_client=http)
            return loop(client, conversation, messages, self.run, **asking)

        def _chat(self, body: Any) -> dict[str, Any]:
            calls = self.says([tool["function"]["name"] for tool in body["tools"]], body["messages"][-1])
            written = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for id, name, arguments in calls
            ]
            said = {"content": None, "tool_calls": written} if written else {"content": DONE}
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **said}}
            return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}

        def _respond(self, body: Any) -> dict[str, Any]:
            names = [tool["name"] for tool in body["tools"] if "name" in tool]
            items: list[dict[str, Any]] = [
                {"type": "function_call", "id": f"f{id}", "call_id": id, "name": name, "arguments": json.dumps(arguments)}
                for id, name, arguments in self.says(names, body["input"][-1])
            ]
            text = {"type": "output_text", "text": DONE, "annotations": []}
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

    return Own


def anthropic() -> type[Asking]:
    import anthropic as sdk
    import httpx2

    from toolfold.anthropic import chat

    class Own(_Raw):
        wire = "anthropic"

        def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
            def serve(request: Any) -> Any:
                body = json.loads(request.content)
                calls = self.says([tool["name"] for tool in body["tools"]], body["messages"][-1])
                blocks: list[dict[str, Any]] = [
                    {"type": "tool_use", "id": id, "name": name, "input": arguments} for id, name, arguments in calls
                ]
                fixed = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
                usage, stop = {"input_tokens": 1, "output_tokens": 1}, "tool_use" if calls else "end_turn"
                content = blocks or [{"type": "text", "text": DONE}]
                return httpx2.Response(200, json={**fixed, "content": content, "stop_reason": stop, "usage": usage})

            http = httpx2.Client(transport=httpx2.MockTransport(serve))
            client = sdk.Anthropic(api_key="x", base_url="http://127.0.0.1", http_client=http)
            return chat(client, conversation, messages, self.run, max_tokens=100, **asking)

        def change(self, arguments: dict[str, Any]) -> None:
            history = json.loads(self.state)
            block = history[-1]["content"][0]
            block["input"] = {"name": DELETE[0], "arguments": arguments} if block["name"] == "call_tool" else arguments
            self.state = json.dumps(history)

    return Own
