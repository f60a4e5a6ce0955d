"""OpenAI's Responses API behind a transport: what reaches it over the real SDKs and clients of frameworks."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from workbook import FUNCTIONS

MODEL = "gpt-5.4"
FOUND = next(one for one in FUNCTIONS if one["name"] == "create_excel_chart")
#: Valid, without the optional parameters: it runs only if the model has read the definition.
CHART = {"file_path": "q.xlsx", "chart_type": "bar", "data_range": "B1:B3"}


def called(id: str, name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    own = {"type": "function_call", "id": f"f{id}", "call_id": id, "name": name, "arguments": json.dumps(arguments)}
    return {**own, "status": "completed", **more}


def searched() -> list[dict[str, Any]]:
    """The provider's own search: the API returns the call, what was found, and the call of it, in one response."""
    tool = {"type": "function", "strict": False, "defer_loading": True, **FOUND}
    fixed = {"call_id": None, "execution": "server", "status": "completed"}
    return [
        {"type": "tool_search_call", "id": "ts1", "arguments": {"paths": ["create_excel_chart"]}, **fixed},
        {"type": "tool_search_output", "id": "to1", "tools": [tool], **fixed},
        called("c0", "create_excel_chart", CHART, namespace="create_excel_chart"),
    ]


class Responses:
    """Answers requests with these lists of items, and then with a text."""

    def __init__(self, *answers: list[dict[str, Any]]) -> None:
        self.answers = list(answers)
        self.bodies: list[dict[str, Any]] = []

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(json.loads(request.content))
        at = len(self.bodies) - 1
        words = {"type": "output_text", "text": "done", "annotations": []}
        last = [{"id": f"m{at}", "type": "message", "role": "assistant", "status": "completed", "content": [words]}]
        output = self.answers[at] if at < len(self.answers) else last
        head = {"id": f"r{at}", "object": "response", "created_at": 0, "model": MODEL, "status": "completed"}
        return httpx2.Response(200, json={**head, "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []})

    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self._answer))

    def async_client(self) -> httpx2.AsyncClient:
        async def answer(request: httpx2.Request) -> httpx2.Response:
            return self._answer(request)

        return httpx2.AsyncClient(transport=httpx2.MockTransport(answer))


def langchain(served: Responses, arm: str, ran: list[Any]) -> None:
    from langchain.agents import create_agent
    from langchain_core.tools import StructuredTool
    from langchain_openai import ChatOpenAI

    from toolfold.langchain import Toolfold

    def bound(function: dict[str, Any]) -> StructuredTool:
        def run(**arguments: Any) -> str:
            ran.append((function["name"], arguments))
            return "ran"

        about = {"description": function["description"], "args_schema": function["parameters"]}
        return StructuredTool(name=function["name"], func=run, **about)

    model: Any = ChatOpenAI(
        model=MODEL, api_key="x", base_url="http://127.0.0.1", http_client=served.client(), use_responses_api=True
    )
    fold = Toolfold(arm=arm, wire="openai-responses", model=MODEL, profile="excel")  # type: ignore[arg-type]
    agent: Any = create_agent(model, [bound(each) for each in FUNCTIONS], middleware=[fold])
    agent.invoke({"messages": [("user", "go")]})


def openai_agents(served: Responses, arm: str, ran: list[Any]) -> None:
    from agents import FunctionTool, OpenAIResponsesModel, Runner
    from openai import AsyncOpenAI

    from hosts.openai_agents import CONFIG
    from toolfold.openai_agents import FoldedAgent, folding

    def bound(function: dict[str, Any]) -> FunctionTool:
        async def run(context: Any, arguments: str) -> str:
            ran.append((function["name"], json.loads(arguments)))
            return "ran"

        about = (function["name"], function["description"], function["parameters"])
        return FunctionTool(*about, run, strict_json_schema=False)

    client = AsyncOpenAI(api_key="x", base_url="http://127.0.0.1", http_client=served.async_client())
    own = folding(arm=arm, model=MODEL, profile="excel")  # type: ignore[arg-type]
    tools: Any = [bound(each) for each in FUNCTIONS]
    agent = FoldedAgent(name="a", tools=tools, model=OpenAIResponsesModel(MODEL, client), folding=own)
    Runner.run_sync(agent, "go", run_config=CONFIG)


def pydantic_ai(served: Responses, arm: str, ran: list[Any]) -> None:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent, Tool
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from toolfold.pydantic_ai import Toolfold

    def bound(function: dict[str, Any]) -> Any:
        def run(**arguments: Any) -> str:
            ran.append((function["name"], arguments))
            return "ran"

        about = {"name": function["name"], "description": function["description"]}
        return Tool.from_schema(run, json_schema=function["parameters"], **about)

    client = AsyncOpenAI(api_key="x", base_url="http://127.0.0.1", http_client=served.async_client())
    model = OpenAIResponsesModel(MODEL, provider=OpenAIProvider(openai_client=client))
    fold = Toolfold(arm=arm, wire="openai-responses", model=MODEL, profile="excel")  # type: ignore[arg-type]
    agent: Any = Agent(model, tools=[bound(each) for each in FUNCTIONS], capabilities=[fold])
    agent.run_sync("go")
