"""Compares the tool selection of three frameworks with toolfold: same model, same 49 tools, same turns, over mocked HTTP.

    pip install -r bindings/python/tests/requirements.txt && python benches/peers.py
    pip install fastmcp==4.2.3 && python benches/peers.py --retrieval ../shared/corpora/retrieval

With --retrieval, it compares searches instead: FastMCP's and toolfold's over the same tools and recorded queries. The folder contains
`NAME_tools.json` with `NAME_queries.jsonl` or `NAME_tasks.jsonl`, as `toolfold search --queries` reads them.

The model is a script: it looks up a tool (in each framework's way), calls a tool that it never looked up with valid arguments,
calls another one without arguments, repeats that call correctly, and ends. Every request body is read as the API would get it.
Nothing is timed, so the figures are the same everywhere.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import httpx2

import toolfold

warnings.simplefilter("ignore")
SPECS = [tool["function"] for tool in json.loads((Path(__file__).parents[1] / "profiles/excel/tools.json").read_text())]
CORE = ["read_excel", "list_directory", "filter_data", "list_sheets", "run_code"]
COPY = {"source": "a.xlsx", "destination": "b.xlsx"}
CHART = {"file_path": "a.xlsx", "chart_type": "bar", "data_range": "A1:B2"}
MORE = {"categories_range": "A2:A2", "sheet_name": "S", "target_cell": "D1", "target_sheet": "S", "title": "t", "x_title": "x"}
WHOLE = {**CHART, **MORE, "y_title": "y", "style": 1, "width": 10, "height": 10, "from_rows": False}
Call = tuple[str, dict[str, Any]]
#: A blind valid call, a blind invalid one, the corrected one, and a call of a core tool.
CALLS: list[Call] = [("copy_file", COPY), ("create_excel_chart", {}), ("create_excel_chart", WHOLE)]
#: The numbers of results for which `toolfold search --queries` prints the recall.
DEPTHS = (1, 5, 10, 20)
LAST: Call = ("read_excel", {"file_path": "a.xlsx"})


class Api:
    """A scripted Chat Completions model that records its requests."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls, self.turn = calls, 0
        self.bodies: list[dict[str, Any]] = []
        self.bytes = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.bytes += len(request.content)
        self.bodies.append(body)
        if "response_format" in body:  # a request that only selects tools: it selects the tools that the model calls next
            wanted = [name for name, _ in self.calls[self.turn : self.turn + 1]]
            chosen = list(dict.fromkeys([*wanted, *CORE]))[:5]
            message: dict[str, Any] = {"role": "assistant", "content": json.dumps({"tools": chosen})}
        elif self.turn < len(self.calls):
            name, arguments = self.calls[self.turn]
            function = {"name": name, "arguments": json.dumps(arguments)}
            message = {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{self.turn}", "type": "function", "function": function}]}
            self.turn += 1
        else:
            message = {"role": "assistant", "content": "ok"}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4.1", "choices": [choice], "usage": usage}
        return httpx2.Response(200, json=answer)

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=httpx2.MockTransport(self))


#: The calls that reached a function.
Ran = list[Call]


async def pydantic_ai(api: Api, ran: Ran, mode: str) -> None:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent, Tool
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def tool(spec: dict[str, Any]) -> Tool:
        async def run(**given: Any) -> str:
            ran.append((spec["name"], given))
            return "done"

        made = Tool.from_schema(run, spec["name"], spec["description"], spec["parameters"])
        made.defer_loading = mode == "own search" and spec["name"] not in CORE
        return made

    client = AsyncOpenAI(api_key="x", base_url="http://127.0.0.1/v1", http_client=api.client(), max_retries=0)
    capabilities: list[Any] = []
    if mode.startswith("toolfold"):
        from toolfold.pydantic_ai import Toolfold

        arm: Any = mode.split()[-1]
        capabilities = [Toolfold(arm=arm, profile="excel")]
    model = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(openai_client=client))
    agent = Agent(model, tools=[tool(spec) for spec in SPECS], capabilities=capabilities, retries=3)
    await agent.run("Go.")


async def langchain(api: Api, ran: Ran, mode: str) -> None:
    from langchain.agents import create_agent
    from langchain.agents.middleware import LLMToolSelectorMiddleware
    from langchain_core.tools import StructuredTool
    from langchain_openai import ChatOpenAI

    def tool(spec: dict[str, Any]) -> StructuredTool:
        async def run(**given: Any) -> str:
            ran.append((spec["name"], given))
            return "done"

        return StructuredTool(name=spec["name"], description=spec["description"], args_schema=spec["parameters"], coroutine=run)

    middleware: list[Any] = []
    if mode == "own selector":
        middleware = [LLMToolSelectorMiddleware(max_tools=5)]
    elif mode.startswith("toolfold"):
        from toolfold.langchain import Toolfold

        arm: Any = mode.split()[-1]
        middleware = [Toolfold(arm=arm, profile="excel")]
    key: Any = "x"
    model = ChatOpenAI(model="gpt-4.1", api_key=key, base_url="http://127.0.0.1/v1", http_async_client=api.client(), max_retries=0)
    agent = create_agent(model, tools=[tool(spec) for spec in SPECS], middleware=middleware)
    go: Any = {"messages": [("user", "Go.")]}
    await agent.ainvoke(go, {"configurable": {"thread_id": "t"}})


async def openai_agents(api: Api, ran: Ran, mode: str) -> None:
    from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, RunConfig, Runner
    from openai import AsyncOpenAI

    def tool(spec: dict[str, Any]) -> FunctionTool:
        async def run(context: Any, arguments: str) -> str:
            ran.append((spec["name"], json.loads(arguments)))
            return "done"

        return FunctionTool(spec["name"], spec["description"], spec["parameters"], run, strict_json_schema=False)

    client = AsyncOpenAI(api_key="x", base_url="http://127.0.0.1/v1", http_client=api.client(), max_retries=0)
    tools: list[Any]
    model, tools = OpenAIChatCompletionsModel("gpt-4.1", client), [tool(spec) for spec in SPECS]
    agent: Any = Agent(name="a", tools=tools, model=model)
    if mode.startswith("toolfold"):
        from toolfold.openai_agents import FoldedAgent, folding

        arm: Any = mode.split()[-1]
        own = folding(wire="openai-chat", arm=arm, profile="excel")
        agent = FoldedAgent(name="a", tools=tools, model=model, folding=own)
    config = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
    await Runner.run(agent, "Go.", run_config=config, max_turns=20)


def looked_up(mode: str) -> list[Call]:
    """Returns the model's lookup call, if the framework has one."""
    if mode == "own search":
        return [("search_tools", {"queries": ["format cells"]})]
    return [("expand_tools", {"tools": ["format_cells"]})] if mode.startswith("toolfold") else []


def row(name: str, run: Callable[[Api, Ran, str], Any], mode: str) -> list[str]:
    calls = [*looked_up(mode), *CALLS, *([] if mode == "all tools" else looked_up(mode.replace("cells", "chart"))), LAST]
    api, ran = Api(calls), list[Call]()
    try:
        asyncio.run(run(api, ran, mode))
        ended = ""
    except Exception as why:
        ended = f" (the run ends: {type(why).__name__}: {str(why)[:60]})"
    arrays = [json.dumps(body["tools"]) for body in api.bodies if body.get("tools")]
    digests = {hashlib.sha256(array.encode()).hexdigest() for array in arrays}
    blind = "runs" if CALLS[0] in ran else "refused"
    wrong = next((at for at, call in enumerate(calls) if call == CALLS[1]), 0)
    turns = [body for body in api.bodies if "response_format" not in body]
    answer = turns[wrong + 1]["messages"][-1]["content"] if wrong + 1 < len(turns) else ""
    schema = "its schema" if '"data_range"' in str(answer) and "properties" in str(answer) else "an error"
    wrongly = "left to the function" if CALLS[1] in ran else f"answered with {schema}"
    right = "runs" if CALLS[2] in ran else "refused"
    requests = f"{len(api.bodies)} for {len(calls) + 1} turns"
    if not arrays:
        return [name, mode, f"none{ended}", *[""] * 6]
    tokens = toolfold.tokens(json.loads(arrays[0]), "openai-chat", "gpt-4.1")
    return [name, mode, requests, f"{len(digests)}", f"{tokens[0]:,}" if tokens[0] else "?", f"{api.bytes:,}", blind, wrongly, right + ended]


def fastmcp_search(tools: list[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the first-turn tokens of FastMCP's search, and its recall at each depth, as an MCP client gets them."""
    # Not imported by name, since the tests' environments do not have it.
    fastmcp, search, kinds = (import_module(f"fastmcp{module}") for module in ("", ".server.transforms.search", ".tools"))
    server = fastmcp.FastMCP("recorded", transforms=[search.BM25SearchTransform(max_results=max(DEPTHS))])
    for tool in tools:
        server.add_tool(kinds.Tool(name=tool["name"], description=tool.get("description") or "", parameters=tool["inputSchema"]))

    async def ask() -> list[str]:
        async with fastmcp.Client(server) as client:
            seen = await client.list_tools()
            listed: list[dict[str, Any]] = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in seen]
            sums = dict.fromkeys(DEPTHS, 0.0)
            for row in rows:
                answer: Any = await client.call_tool("search_tools", {"query": row["query"]})
                found = [tool["name"] for tool in answer.structured_content["result"]]
                for depth in DEPTHS:
                    sums[depth] += sum(any(name in found[:depth] for name in tool) for tool in row["tools"]) / len(row["tools"])
        tokens = toolfold.Engine(listed, arm="full").conversation("openai-chat", "gpt-4.1").tokens()[0]
        return [f"{tokens:,}", *(f"{total / len(rows):.3f}" for total in sums.values())]

    return asyncio.run(ask())


def toolfold_search(file: Path, recorded: Path) -> list[str]:
    """Returns the same of toolfold's arm `search`, and of its command."""
    command = [sys.executable, "-m", "toolfold", "search", "--tools", str(file), "--queries", str(recorded), "--json"]
    recall = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["recall"]["at"]
    tokens = toolfold.Engine(file, arm="search").conversation("openai-chat", "gpt-4.1").tokens()[0]
    return [f"{tokens:,}", *(f"{at['recall']:.3f}" for at in recall)]


def compare_searches(folder: Path) -> None:
    heads = ["queries", "number", "tools", "search", "first-turn tokens", *(f"R@{depth}" for depth in DEPTHS)]
    print(f"| {' | '.join(heads)} |\n| {' | '.join(['---'] * len(heads))} |")
    for file in sorted(folder.glob("*_tools.json")):
        raw = json.loads(file.read_text())
        tools = raw["tools"] if isinstance(raw, dict) else raw
        for recorded in sorted(folder.glob(file.name.replace("_tools.json", "_*.jsonl"))):
            rows = [json.loads(line) for line in recorded.read_text().splitlines() if line]
            begin = [recorded.stem, str(len(rows)), str(len(tools))]
            for cells in [
                [*begin, f"FastMCP {version('fastmcp')}, BM25", *fastmcp_search(tools, rows)],
                [*begin, f"toolfold {version('toolfold')}", *toolfold_search(file, recorded)],
            ]:
                print(f"| {' | '.join(cells)} |")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--retrieval", type=Path, metavar="FOLDER", help="compare searches over the recorded queries of a folder")
    if folder := arguments.parse_args().retrieval:
        compare_searches(folder)
        return
    modes = {
        "pydantic-ai": (pydantic_ai, "pydantic-ai-slim", ["all tools", "own search", "toolfold lean"]),
        "LangChain": (langchain, "langchain", ["all tools", "own selector", "toolfold lean"]),
        "openai-agents": (openai_agents, "openai-agents", ["all tools", "toolfold lean"]),
    }
    rows = [["framework", "tools", "requests", "arrays", "first-turn tokens", "bytes sent in all", "a blind call that fits", "one that does not", "made right"]]
    rows.append(["---"] * len(rows[0]))
    for name, (run, package, ways) in modes.items():
        try:
            label = f"{name} {version(package)}"
        except PackageNotFoundError:
            print(f"skipped: {package} is not installed")
            continue
        rows += [row(label, run, mode) for mode in ways]
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    print("\nopenai-agents has a search of its own only where OpenAI's servers run it (Responses), so that it is not in the table.")


if __name__ == "__main__":
    main()
