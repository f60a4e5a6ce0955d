"""pydantic-ai: its own FunctionModel, and its message history in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dialogue import DONE, Dialogue, settings
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from workbook import FUNCTIONS, Workbook

from toolfold.pydantic_ai import Toolfold


def tools_of(book: Workbook) -> list[Any]:
    def bound(function: dict[str, Any]) -> Any:
        name = function["name"]
        schema, description = function["parameters"], function["description"]
        return Tool.from_schema(lambda **k: book.run(name, k), name=name, description=description, json_schema=schema)

    return [bound(function) for function in FUNCTIONS]


def scripted(dialogue: Dialogue) -> FunctionModel:
    def respond(messages: list[Any], info: Any) -> ModelResponse:
        shown = [(t.name, t.description, t.parameters_json_schema, t.strict) for t in info.function_tools]
        call = dialogue.turn(shown, messages[-1])
        if call is None:
            return ModelResponse(parts=[TextPart(DONE)])
        id, name, arguments = call
        return ModelResponse(parts=[ToolCallPart(name, json.dumps(arguments), id)])

    return FunctionModel(respond)


def agent(dialogue: Dialogue, store: Path | None, arm: str = "lean") -> Agent[None, Any]:
    fold = Toolfold(**settings(arm), approvals=store)
    output: Any = [str, DeferredToolRequests]
    return Agent(scripted(dialogue), tools=tools_of(dialogue.book), capabilities=[fold], output_type=output)


class Host:
    def __init__(self, dialogue: Dialogue, folder: Path, store: Path) -> None:
        self._history, self._agent = folder / "history.json", agent(dialogue, store)

    def ask(self) -> None:
        made = self._agent.run_sync("go")
        self._history.write_bytes(made.all_messages_json())
        assert len(made.output.approvals) == 1

    def answer(self, approval: str, yes: bool) -> str:
        history = ModelMessagesTypeAdapter.validate_json(self._history.read_bytes())
        calls = [part.tool_call_id for message in history for part in message.parts if isinstance(part, ToolCallPart)]
        said = DeferredToolResults(approvals={calls[-1]: yes})
        made = self._agent.run_sync(message_history=history, deferred_tool_results=said)
        self._history.write_bytes(made.all_messages_json())
        return str(made.output)
