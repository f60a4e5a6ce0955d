"""Whether the provider must enforce the schema of a tool: as the host set it, if the tool is shown in full."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hosts import missing

NAMES = ["read_rows", "write_rows", "count_rows"]
ABOUT = "Does this with the rows of a sheet."


def schema() -> dict[str, Any]:
    about = "How many rows, from the first one, and not more than there are."
    members = {name: {"type": "integer", "description": about} for name in ("before", "after", "above", "below")}
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def pydantic_ai(arm: Any, strict: bool | None) -> dict[str, bool | None]:
    from pydantic_ai import Agent, Tool
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    from toolfold.pydantic_ai import Toolfold

    shown: dict[str, bool | None] = {}

    def say(messages: list[Any], info: Any) -> ModelResponse:
        shown.update({tool.name: tool.strict for tool in info.function_tools})
        return ModelResponse(parts=[TextPart("ok")])

    def tool(name: str) -> Tool:
        own = Tool.from_schema(lambda **_: "", name, ABOUT, schema())
        own.strict = strict
        return own

    Agent(FunctionModel(say), tools=[tool(name) for name in NAMES], capabilities=[Toolfold(arm=arm)]).run_sync("Go.")
    return shown


def openai_agents(arm: Any, strict: bool | None) -> dict[str, bool | None]:
    from agents import FunctionTool, RunContextWrapper

    from toolfold.openai_agents import FoldedAgent, folding

    async def run(context: Any, arguments: str) -> str:
        return ""

    tools: Any = [FunctionTool(name, ABOUT, schema(), run, strict_json_schema=bool(strict)) for name in NAMES]
    agent = FoldedAgent(name="a", tools=tools, folding=folding(arm=arm))
    shown = asyncio.run(agent.get_all_tools(RunContextWrapper(None)))
    return {own.name: own.strict_json_schema for own in shown if isinstance(own, FunctionTool)}


@pytest.mark.parametrize(
    ("run", "strict"),
    [(pydantic_ai, True), (pydantic_ai, False), (pydantic_ai, None), (openai_agents, True), (openai_agents, False)],
)
def test_only_a_tool_in_full_is_strict(run: Any, strict: bool | None) -> None:
    if lacking := missing(run.__name__):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    assert run("full", strict) == dict.fromkeys(NAMES, strict)
    # A folded tool has another schema, and a framework that decides could make it strict.
    assert run("signature", strict) == dict.fromkeys([*NAMES, "expand_tools"], False)
