"""The agent of ``asking`` under pydantic-ai."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from hosts.asking import DELETE, DONE, RENAME, Asking, Sheets, tools_of
from pydantic_ai import Agent, CallDeferred, DeferredToolRequests, DeferredToolResults, RunContext, Tool, ToolApproved
from pydantic_ai.capabilities import AbstractCapability, ProcessHistory
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.run import AgentRunResultEvent

from toolfold.pydantic_ai import Toolfold
from toolfold.testing import INJECTED, OUTPUT, PARTS, Script


class Hooks(AbstractCapability[Any]):
    def __init__(self, own: Asking) -> None:
        self.own = own

    async def before_tool_execute(self, ctx: Any, *, call: ToolCallPart, tool_def: Any, args: Any) -> Any:
        self.own.hooked.append(call.tool_name)
        return args


class Own(Asking):
    absent = {"stop rule": "only an output tool ends a run"}
    native = {"wire": "openai-responses", "model": "gpt-5.4"}
    finds = ("search_tools", {"queries": ["rename sheet"]})

    def build(self) -> None:
        asks, changes, injects = self.wants("own_rule"), self.wants("changes"), self.wants("injected")

        def bound(function: dict[str, Any]) -> Any:
            name, about = function["name"], function["description"]
            if name == RENAME and injects:
                return Tool(rename_sheet, description=about)
            schema = function["parameters"]
            made = Tool.from_schema(lambda **k: self.run(name, k), name=name, description=about, json_schema=schema)
            made.requires_approval = asks and name == DELETE[0]
            made.prepare = prepare if changes and name == RENAME else None
            return made

        async def prepare(context: Any, definition: Any) -> Any:
            return definition if self.offered() else None

        def rename_sheet(ctx: RunContext[str], file_path: str, old_name: str, new_name: str) -> str:
            return self.renamed(ctx.deps, file_path, old_name, new_name)

        rules: list[Any] = [ProcessHistory(newest_run)] if self.wants("trims") else []
        rules += [Hooks(self)] if self.wants("hooks") else []
        self.typed, self.inner = self.wants("output"), None
        output: Any = [Sheets if self.typed else str, DeferredToolRequests]
        tools, self.fold = [bound(each) for each in tools_of(self.arm)], Toolfold(**self.settings)
        more: Any = {"capabilities": [*rules, self.fold], "deps_type": str, "retries": 3}
        self.agent: Any = Agent(self._model(self), tools=tools, output_type=output, **more)
        if self.wants("nested"):
            self.inner = self.agent
            self.agent = Agent(self._model(Script([("ask", {"text": "x"})])), tools=[self.ask], output_type=output)

    def _model(self, script: Script) -> FunctionModel:
        def said(messages: list[ModelMessage], info: Any) -> ModelResponse:
            added = [name for part in messages[-1].parts for name in getattr(part, "tools_added", [])]
            defined = [tool for tool in info.model_request_parameters.function_tools if tool.name in added]
            newest = [messages[-1], *defined] if defined else messages[-1]
            calls = script.says([tool.name for tool in info.function_tools], newest)
            parts = [ToolCallPart(name, arguments, id) for id, name, arguments in calls]
            last = ToolCallPart("final_result", OUTPUT) if self.typed else TextPart(DONE)
            return ModelResponse(parts=parts or [last])

        async def streamed(messages: list[ModelMessage], info: Any) -> Any:
            for at, part in enumerate(said(messages, info).parts):
                if isinstance(part, ToolCallPart):
                    yield {at: DeltaToolCall(part.tool_name, tool_call_id=part.tool_call_id)}
                    yield {at: DeltaToolCall(json_args=part.args_as_json_str())}
                else:
                    for text in PARTS:
                        yield text

        # As the profile of a model of Responses has it.
        profile: Any = {"tool_addition_mode": "with_definitions"} if self.arm == "append" else None
        return FunctionModel(said, stream_function=streamed, profile=profile)

    async def ask(self, text: str) -> str:
        """Runs the nested agent, and defers what it defers."""
        made = await self.inner.run(text, conversation_id="inner")
        self.deferred = made.all_messages()
        if isinstance(made.output, DeferredToolRequests):
            raise CallDeferred
        return str(made.output)

    def _went(self, made: Any) -> bool:
        self.state, self.asked = made.all_messages_json(), []
        if isinstance(made.output, DeferredToolRequests):
            self.asked = made.output.approvals or made.output.calls
        elif self.typed:
            self.output = made.output.model_dump()
        return bool(self.asked)

    def start(self) -> bool:
        return self._went(self.agent.run_sync("go", conversation_id="k", deps=INJECTED))

    def again(self) -> bool:
        history = ModelMessagesTypeAdapter.validate_json(self.state)
        return self._went(self.agent.run_sync("go on", message_history=history))

    def stream(self) -> bool:
        async def talk() -> Any:
            async with self.agent.run_stream_events("go", conversation_id="k") as events:
                async for event in events:
                    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                        self.heard.append(event.part.content)
                    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                        self.heard.append(event.delta.content_delta)
                    elif isinstance(event, AgentRunResultEvent):
                        return event.result

        return self._went(asyncio.run(talk()))

    def answer(self, said: bool | dict[str, Any]) -> bool:
        history = ModelMessagesTypeAdapter.validate_json(self.state)
        yes = ToolApproved(override_args=said) if isinstance(said, dict) else said
        if self.inner:
            approved = DeferredToolResults(approvals={called(self.deferred): yes})
            made = self.inner.run_sync(message_history=self.deferred, deferred_tool_results=approved)
            results = DeferredToolResults(calls={called(history): made.output})
        else:
            results = DeferredToolResults(approvals={called(history): yes})
        return self._went(self.agent.run_sync(message_history=history, deferred_tool_results=results))

    def change(self, arguments: dict[str, Any]) -> None:
        history = json.loads(self.state)
        history[-1]["parts"][-1]["args"] = arguments
        self.state = json.dumps(history).encode()


def called(history: Sequence[ModelMessage]) -> str:
    """The id of the first call of the last response: results of calls that need no decision follow it."""
    last = [message for message in history if isinstance(message, ModelResponse)][-1]
    return next(part.tool_call_id for part in last.parts if isinstance(part, ToolCallPart))


def newest_run(messages: list[ModelMessage]) -> list[ModelMessage]:
    started = [at for at, message in enumerate(messages) if message.parts[0].part_kind == "user-prompt"]
    return messages[started[-1] :]
