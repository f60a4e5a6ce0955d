"""Whether the provider must enforce the schema of a tool: as the host set it, if the tool is shown in full."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hosts import missing

from toolfold import StartError

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


EXCEL = [tool["function"] for tool in json.loads((Path(__file__).parents[3] / "profiles/excel/tools.json").read_text())]


def langchain(arm: Any, form: str = "schema", **settings: Any) -> list[dict[str, Any]]:
    """Returns the tools that ``ChatOpenAI`` sends for an agent with structured output."""
    import httpx
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
    from langchain_core.tools import StructuredTool
    from langchain_openai import ChatOpenAI
    from pydantic import BaseModel

    from toolfold.langchain import Toolfold

    class Sheets(BaseModel):
        number: int

    sent: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(400, json={"error": {"message": "enough"}})

    forms = {"schema": Sheets, "provider": ProviderStrategy(Sheets), "tool": ToolStrategy(Sheets), "none": None}
    client = httpx.Client(transport=httpx.MockTransport(answer))
    model = ChatOpenAI(model="gpt-4o", api_key="k", http_client=client, max_retries=0, **settings)
    copies = [json.loads(json.dumps(spec)) for spec in EXCEL]
    tools = [StructuredTool(name=own["name"], description=own["description"], args_schema=own["parameters"], func=print) for own in copies]
    middleware = [Toolfold(arm=arm, profile="excel")] if arm else []
    agent = create_agent(model, tools=tools, middleware=middleware, response_format=forms[form])
    try:
        agent.invoke({"messages": [("user", "Go.")]})
    except StartError:
        raise
    except Exception as why:  # of the SDK, as the answer says
        assert "enough" in str(why), why
    (request,) = sent
    return [tool.get("function", tool) for tool in request["tools"]]


@pytest.mark.parametrize("form", ["schema", "provider"])
def test_nothing_is_folded_where_langchain_makes_every_tool_strict(form: str, caplog: pytest.LogCaptureFixture) -> None:
    if lacking := missing("langchain"):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    pytest.importorskip("langchain_openai", reason="the registry does not offer it")
    with caplog.at_level(logging.WARNING, "toolfold"):
        shown = langchain("auto", form)
    assert shown == langchain(None, form) and all(tool["strict"] for tool in shown)
    assert [record.message for record in caplog.records if "nothing is folded" in record.message], caplog.text
    assert langchain("full", form) == shown
    with pytest.raises(StartError, match="arm lean is not available here: LangChain makes every tool strict .*`ToolStrategy`"):
        langchain("lean", form)
    for less in (langchain("lean", "tool"), langchain("lean", "none"), langchain("auto", form, use_responses_api=True)):
        assert "expand_tools" in [tool["name"] for tool in less] and not any(tool.get("strict") for tool in less)
