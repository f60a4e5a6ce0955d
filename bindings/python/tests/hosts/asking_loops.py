"""The agent of ``asking`` over the loops of the two SDKs."""

from __future__ import annotations

import json
from typing import Any

from hosts.asking import DELETE, DONE, Asking, tools_of
from toolfold import Approver, Confirm


class _Raw(Asking):
    """The loops of the two SDKs: the person is a callback, which ends the process here."""

    lacks = {
        "edited": "`ask` of a loop answers with yes or no",
        "own rule": "an SDK has no approvals of its own",
    }
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

    def _went(self, messages: list[Any], said: bool | None) -> bool:
        # The newest models have every delivery of their API.
        model = "claude-opus-5-5" if self.wire == "anthropic" else "gpt-5.4"
        conversation = self.engine.conversation(self.wire, model, "c-1", history=messages)
        answers = [] if said is None else [said]

        def ask(waiting: Confirm) -> bool:
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
        return self._went(json.loads(self.state), bool(said))


def openai() -> type[Asking]:
    import httpx
    import openai as sdk

    from toolfold.openai import chat

    class Own(_Raw):
        wire = "openai-chat"

        def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
            def serve(request: Any) -> Any:
                body = json.loads(request.content)
                call = self.says([tool["function"]["name"] for tool in body["tools"]], body["messages"][-1])
                said: dict[str, Any] = {"role": "assistant", "content": DONE}
                if call:
                    function = {"name": call[1], "arguments": json.dumps(call[2])}
                    calls = [{"id": call[0], "type": "function", "function": function}]
                    said = {"role": "assistant", "content": None, "tool_calls": calls}
                choice = {"index": 0, "finish_reason": "stop", "message": said}
                fixed = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
                return httpx.Response(200, json={**fixed, "choices": [choice]})

            http = httpx.Client(transport=httpx.MockTransport(serve))
            client = sdk.OpenAI(api_key="x", base_url="http://127.0.0.1:9/v1", http_client=http)
            return chat(client, conversation, messages, self.run, **asking)

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
                call = self.says([tool["name"] for tool in body["tools"]], body["messages"][-1])
                block: dict[str, Any] = {"type": "text", "text": DONE}
                if call:
                    block = {"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]}
                fixed = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
                usage, stop = {"input_tokens": 1, "output_tokens": 1}, "tool_use" if call else "end_turn"
                return httpx2.Response(200, json={**fixed, "content": [block], "stop_reason": stop, "usage": usage})

            http = httpx2.Client(transport=httpx2.MockTransport(serve))
            client = sdk.Anthropic(api_key="x", base_url="http://127.0.0.1", http_client=http)
            return chat(client, conversation, messages, self.run, max_tokens=100, **asking)

        def change(self, arguments: dict[str, Any]) -> None:
            history = json.loads(self.state)
            block = history[-1]["content"][0]
            block["input"] = {"name": DELETE[0], "arguments": arguments} if block["name"] == "call_tool" else arguments
            self.state = json.dumps(history)

    return Own
