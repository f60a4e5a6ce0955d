"""The OpenAI Agents SDK: its own model class, and ``RunState`` in a file."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents import FunctionTool, Model, ModelResponse, Runner, RunState, Usage
from dialogue import DONE, Dialogue, settings
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from workbook import FUNCTIONS, Workbook

from toolfold.openai_agents import RUN_CONFIG, FoldedAgent, folding

CONFIG = replace(RUN_CONFIG, tracing_disabled=True)


class Scripted(Model):
    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *rest: Any, **more: Any
    ) -> ModelResponse:
        array = [(tool.name, tool.description, tool.params_json_schema, tool.strict_json_schema) for tool in tools]
        call = self._dialogue.turn(array, input if isinstance(input, str) else input[-1])
        text = ResponseOutputText(text=DONE, type="output_text", annotations=[])
        said: Any = ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=[text])
        if call:
            id, name, arguments = call
            own = {"id": f"f{id}", "call_id": id, "name": name, "arguments": json.dumps(arguments)}
            said = ResponseFunctionToolCall(**own, type="function_call")
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def tools_of(book: Workbook) -> list[FunctionTool]:
    def bound(function: dict[str, Any]) -> FunctionTool:
        async def run(context: Any, arguments: str) -> str:
            return book.run(function["name"], json.loads(arguments))

        shown = (function["name"], function["description"], function["parameters"])
        return FunctionTool(*shown, run, strict_json_schema=False)

    return [bound(function) for function in FUNCTIONS]


def agent(dialogue: Dialogue, store: Path | None = None, arm: str = "lean") -> FoldedAgent:
    own = folding(**settings(arm), approvals=store)
    tools, model = tools_of(dialogue.book), Scripted(dialogue)
    return FoldedAgent(name="a", tools=tools, model=model, folding=own, thread=lambda context: "thread-1")


def run(own: FoldedAgent, given: Any) -> Any:
    return Runner.run_sync(own, given, run_config=CONFIG, max_turns=20)


class Host:
    def __init__(self, dialogue: Dialogue, folder: Path, store: Path) -> None:
        self._state, self._agent = folder / "state.json", agent(dialogue, store)

    def ask(self) -> None:
        made = run(self._agent, "go")
        self._store(made)
        assert len(made.interruptions) == 1

    def answer(self, approval: str, yes: bool) -> str:
        state = asyncio.run(RunState.from_json(self._agent, json.loads(self._state.read_text())))
        if not (asked := state.get_interruptions()):
            raise LookupError("nothing is asked")
        state.approve(asked[0]) if yes else state.reject(asked[0])
        made = run(self._agent, state)
        self._store(made)
        return str(made.final_output)

    def _store(self, made: Any) -> None:
        self._state.write_text(json.dumps(made.to_state().to_json()))
