"""The APIs of OpenAI and Anthropic behind a transport: what reaches them over the real SDKs and clients of frameworks."""

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
    """The API of OpenAI: answers requests with these lists of items, and then with a text."""

    def __init__(self, *answers: list[dict[str, Any]]) -> None:
        self.answers = list(answers)
        self.bodies: list[dict[str, Any]] = []

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(json.loads(request.content))
        return httpx2.Response(200, json=self._body(len(self.bodies) - 1))

    def _body(self, at: int) -> dict[str, Any]:
        words = {"type": "output_text", "text": "done", "annotations": []}
        last = [{"id": f"m{at}", "type": "message", "role": "assistant", "status": "completed", "content": [words]}]
        output = self.answers[at] if at < len(self.answers) else last
        head = {"id": f"r{at}", "object": "response", "created_at": 0, "model": MODEL, "status": "completed"}
        return {**head, "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}

    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self._answer))

    def async_client(self) -> httpx2.AsyncClient:
        async def answer(request: httpx2.Request) -> httpx2.Response:
            return self._answer(request)

        return httpx2.AsyncClient(transport=httpx2.MockTransport(answer))


class Messages(Responses):
    """The API of Anthropic, in the same way: the items are content blocks."""

    def _body(self, at: int) -> dict[str, Any]:
        head = {"id": f"m{at}", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
        content = self.answers[at] if at < len(self.answers) else [{"type": "text", "text": "done"}]
        stop = "tool_use" if at < len(self.answers) else "end_turn"
        return {**head, "content": content, "stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 1}}


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
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(api_key="x", base_url="http://127.0.0.1", http_client=served.async_client())
    own = OpenAIResponsesModel(MODEL, provider=OpenAIProvider(openai_client=client))
    _pydantic_ai(own, ran, arm=arm, wire="openai-responses", model=MODEL)


def pydantic_ai_on_anthropic(served: Messages, arm: str, ran: list[Any], model: str) -> None:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(api_key="x", base_url="http://127.0.0.1", http_client=served.async_client())
    own = AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))
    _pydantic_ai(own, ran, arm=arm, wire="anthropic", model=model)


def _pydantic_ai(own: Any, ran: list[Any], **settings: Any) -> None:
    from pydantic_ai import Agent, Tool

    from toolfold.pydantic_ai import Toolfold

    def bound(function: dict[str, Any]) -> Any:
        def run(**arguments: Any) -> str:
            ran.append((function["name"], arguments))
            return "ran"

        about = {"name": function["name"], "description": function["description"]}
        return Tool.from_schema(run, json_schema=function["parameters"], **about)

    fold = Toolfold(profile="excel", **settings)
    agent: Any = Agent(own, tools=[bound(each) for each in FUNCTIONS], capabilities=[fold])
    agent.run_sync("go", model_settings={"max_tokens": 100})  # With more, the client of Anthropic streams.
