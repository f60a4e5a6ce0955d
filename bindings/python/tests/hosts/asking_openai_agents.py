"""The agent of ``asking`` under the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    Runner,
    RunContextWrapper,
    RunHooks,
    RunState,
    StopAtTools,
    Usage,
    function_tool,
)
from agents.run_config import CallModelData, ModelInputData
from agents.testing import assistant_message, function_call
from hosts.asking import DELETE, DONE, RENAME, Asking, Sheets, tools_of
from hosts.openai_agents import CONFIG
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseTextDeltaEvent,
)

from toolfold.openai_agents import FoldedAgent, edit, folding
from toolfold.testing import INJECTED, OUTPUT, PARTS, Script


class Scripted(Model):
    def __init__(self, script: Script, last: str) -> None:
        self.script, self.last = script, last

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any
    ) -> ModelResponse:
        calls = self.script.says([tool.name for tool in tools], input if isinstance(input, str) else input[-1])
        said: list[Any] = [function_call(name, json.dumps(own), call_id=id) for id, name, own in calls]
        return ModelResponse(output=said or [assistant_message(self.last)], usage=Usage(), response_id=None)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        output = (await self.get_response(*given, **named)).output
        for at, item in enumerate(output):
            place: dict[str, Any] = {"output_index": at, "sequence_number": at}
            for part in PARTS if isinstance(item, ResponseOutputMessage) else ():
                text: dict[str, Any] = {"delta": part, "item_id": "m", "content_index": 0, "logprobs": []}
                yield ResponseTextDeltaEvent(type="response.output_text.delta", **text, **place)
            yield ResponseOutputItemDoneEvent(type="response.output_item.done", item=item, **place)
        fixed: dict[str, Any] = {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed"}
        choice: dict[str, Any] = {"tool_choice": "auto", "tools": [], "parallel_tool_calls": True}
        whole = Response(**fixed, **choice, output=output)
        yield ResponseCompletedEvent(type="response.completed", sequence_number=9, response=whole)


class Hooks(RunHooks[Any]):
    def __init__(self, own: Asking) -> None:
        self.own = own

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        self.own.hooked.append(tool.name)


class Own(Asking):
    native = {"model": "gpt-5.4"}
    config = CONFIG

    def build(self) -> None:
        asks, injects, changes = self.wants("own_rule"), self.wants("injected"), self.wants("changes")

        def bound(function: dict[str, Any]) -> FunctionTool:
            name = function["name"]
            if name == RENAME and injects:
                return rename_sheet

            async def invoke(context: Any, arguments: str) -> str:
                return self.run(name, json.loads(arguments))

            about: dict[str, Any] = {"needs_approval": asks and name == DELETE[0], "strict_json_schema": False}
            if name == RENAME and changes:
                about["is_enabled"] = lambda context, agent: self.offered()
            return FunctionTool(name, function["description"], function["parameters"], invoke, **about)

        @function_tool(strict_mode=False)
        def rename_sheet(context: RunContextWrapper[dict[str, str]], file_path: str, old_name: str, new_name: str) -> str:
            return self.renamed(context.context["user"], file_path, old_name, new_name)

        tools: Any = [bound(each) for each in tools_of(self.arm)]
        more: dict[str, Any] = {"folding": folding(**self.settings), "thread": lambda context: "t"}
        if self.wants("ends"):
            more["tool_use_behavior"] = StopAtTools(stop_at_tool_names=[RENAME])
        if self.wants("trims"):
            self.config = replace(self.config, call_model_input_filter=newest_run)
        self.hooks = Hooks(self) if self.wants("hooks") else None
        self.typed = self.wants("output")
        if self.typed:
            more["output_type"] = Sheets
        model = Scripted(self, json.dumps(OUTPUT) if self.typed else DONE)
        self.agent: Any = FoldedAgent(name="a", tools=tools, model=model, **more)
        if self.wants("nested"):
            outer = Scripted(Script([("ask", {"input": "x"})]), DONE)
            self.agent = Agent(name="outer", tools=[self.agent.as_tool("ask", "Ask.")], model=outer)

    def _went(self, given: Any) -> bool:
        how: Any = {"context": {"user": INJECTED}, "hooks": self.hooks, "run_config": self.config, "max_turns": 20}
        return self._ended(Runner.run_sync(self.agent, given, **how))

    def _ended(self, made: Any) -> bool:
        self.state, self.asked = json.dumps(made.to_state().to_json()), made.interruptions
        self.history = made.to_input_list()
        if self.typed:
            self.output = made.final_output.model_dump()
        return bool(self.asked)

    def start(self) -> bool:
        return self._went("go")

    def again(self) -> bool:
        return self._went([*self.history, {"role": "user", "content": "go on"}])

    def stream(self) -> bool:
        async def talk() -> Any:
            made = Runner.run_streamed(self.agent, "go", run_config=self.config)
            async for event in made.stream_events():
                if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                    self.heard.append(event.data.delta)
            return made

        return self._ended(asyncio.run(talk()))

    def answer(self, said: bool | dict[str, Any]) -> bool:
        state: Any = asyncio.run(RunState.from_json(self.agent, json.loads(self.state)))
        for asked in state.get_interruptions():
            if isinstance(said, dict):
                edit(state, asked, said)
            else:
                state.approve(asked) if said else state.reject(asked)
        return self._went(state)

    def change(self, arguments: dict[str, Any]) -> None:
        # The SDK itself binds its record of a call to the arguments: all of it is changed alike.
        before = json.dumps(json.dumps(self.script[-1][1]))
        assert before in self.state
        self.state = self.state.replace(before, json.dumps(json.dumps(arguments)))


def newest_run(data: CallModelData[Any]) -> ModelInputData:
    items = data.model_data.input
    started = [at for at, item in enumerate(items) if item.get("role") == "user"]
    return ModelInputData(input=items[started[-1] :], instructions=data.model_data.instructions)
