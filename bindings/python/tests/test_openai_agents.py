"""The adapter of the OpenAI Agents SDK, on its own scripted model."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ten_turns
from ten_turns import SCRIPT, Book

pytest.importorskip("agents")

from agents import FunctionTool, Runner, RunState  # noqa: E402
from agents.testing import ScriptedModel  # noqa: E402
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText  # noqa: E402
from toolfold.openai_agents import RUN_CONFIG, FoldedAgent, folding  # noqa: E402

CONFIG = replace(RUN_CONFIG, tracing_disabled=True)
WORDS = ResponseOutputMessage(
    id="m",
    role="assistant",
    status="completed",
    type="message",
    content=[ResponseOutputText(text="ok", type="output_text", annotations=[])],
)


def calls() -> list[list[Any]]:
    def call(at: int, name: str, arguments: dict[str, Any]) -> ResponseFunctionToolCall:
        text = json.dumps(arguments)
        return ResponseFunctionToolCall(id=f"fc{at}", call_id=f"c{at}", name=name, arguments=text, type="function_call")

    return [[call(at, *step)] for at, step in enumerate(SCRIPT)] + [[WORDS]]


def real(book: Book) -> list[FunctionTool]:
    def made(spec: dict[str, Any]) -> FunctionTool:
        async def run(context: Any, arguments: str) -> str:
            return book.run(spec["name"], json.loads(arguments))

        return FunctionTool(spec["name"], spec["description"], spec["parameters"], run, strict_json_schema=False)

    return [made(spec) for spec in ten_turns.specs()]


def finished(book: Book, model: ScriptedModel) -> None:
    for call in model.calls:
        book.sent([(tool.name, tool.description, tool.params_json_schema) for tool in call.tools])
    ten_turns.check_after(book)


@pytest.mark.parametrize("arm", ten_turns.ARMS)
def test_ten_turns(arm: str, tmp_path: Path) -> None:
    book, model = Book(tmp_path), ScriptedModel(calls())
    agent = FoldedAgent(name="a", tools=real(book), model=model, folding=folding(**ten_turns.settings(arm)))
    first = Runner.run_sync(agent, "Go.", run_config=CONFIG, max_turns=20)
    assert [item.raw_item.name for item in first.interruptions] == ["delete_sheet"]
    ten_turns.check_before_the_answer(book)
    state = first.to_state()
    state.approve(state.get_interruptions()[0])
    assert Runner.run_sync(agent, state, run_config=CONFIG, max_turns=20).final_output == "ok"
    finished(book, model)


def test_an_approval_outlives_the_process(tmp_path: Path) -> None:
    """The run is stored as text and goes on under another agent, as after a restart."""
    book, model = Book(tmp_path), ScriptedModel(calls())

    def agent() -> FoldedAgent:
        own = folding(**ten_turns.settings("lean"), approvals=tmp_path / "approvals.db")
        return FoldedAgent(name="a", tools=real(book), model=model, folding=own, thread=lambda context: "thread-1")

    first = Runner.run_sync(agent(), "Go.", run_config=CONFIG, max_turns=20)
    stored = json.dumps(first.to_state().to_json())
    second = agent()
    state = asyncio.run(RunState.from_string(second, stored))
    state.approve(state.get_interruptions()[0])
    assert Runner.run_sync(second, state, run_config=CONFIG, max_turns=20).final_output == "ok"
    finished(book, model)


def test_a_no_never_runs(tmp_path: Path) -> None:
    book, model = Book(tmp_path), ScriptedModel(calls())
    agent = FoldedAgent(name="a", tools=real(book), model=model, folding=folding(**ten_turns.settings("lean")))
    state = Runner.run_sync(agent, "Go.", run_config=CONFIG, max_turns=20).to_state()
    state.reject(state.get_interruptions()[0])
    Runner.run_sync(agent, state, run_config=CONFIG, max_turns=20)
    ten_turns.check_before_the_answer(book)


def test_a_later_run_knows_what_an_earlier_one_opened(tmp_path: Path) -> None:
    book = Book(tmp_path)
    script = calls()
    model = ScriptedModel([script[1], [WORDS], script[7], [WORDS]])
    agent = FoldedAgent(name="a", tools=real(book), model=model, folding=folding(**ten_turns.settings("lean")))
    first = Runner.run_sync(agent, "Go.", run_config=CONFIG, max_turns=20)
    history = [*first.to_input_list(), {"role": "user", "content": "And again."}]
    second = Runner.run_sync(agent, history, run_config=CONFIG, max_turns=20)
    answers = [item["output"] for item in second.to_input_list() if item.get("type") == "function_call_output"]
    assert answers[0].startswith("Opened.") and answers[1].startswith("Already open")
