"""An MCP server with 49 tools, folded for the agent that uses it. It runs offline: server and agent are in this file.

    pip install 'toolfold[mcp]' && python examples/python/quickstart_mcp.py
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from mcp import Client, types
from mcp.server import Server
from toolfold import Confirm
from toolfold.mcp import FoldedSession

# Any server: `Client("https://…")`, `Client(StdioServerParameters(…))`. Here: one that only returns its arguments.
SPECS = [tool["function"] for tool in json.loads((Path(__file__).parents[2] / "profiles/excel/tools.json").read_text())]


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=f["name"], description=f["description"], input_schema=f["parameters"]) for f in SPECS]
    )


async def call_tool(context: Any, params: Any) -> types.CallToolResult:
    print(f"runs {params.name} {json.dumps(params.arguments)}")
    return types.CallToolResult(content=[types.TextContent(type="text", text="done")])


async def ask(asked: Confirm) -> bool:
    print(f"asks a person: {asked.target} {asked.arguments_json}")
    return True


async def main() -> None:
    async with Client(Server("excel", on_list_tools=list_tools, on_call_tool=call_tool)) as client:
        whole = (await client.list_tools()).tools
        folded = FoldedSession(client, arm="lean", profile="excel", policy="excel", ask=ask)
        shown = (await folded.list_tools()).tools
        calls: list[tuple[str, dict[str, Any]]] = [
            ("expand_tools", {"tools": ["format_cells"]}),
            ("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"}),
            ("delete_file", {"file_path": "a.xlsx", "confirm": True}),
        ]
        for name, arguments in calls:
            answer = (await folded.call_tool(name, arguments)).content[0]
            print(f"{name} -> {answer.text.splitlines()[0] if answer.type == 'text' else answer.type}")
    sizes = [len(json.dumps([tool.model_dump(mode="json", exclude_none=True) for tool in tools])) for tools in (shown, whole)]
    print(f"each request carries {sizes[0]:,} bytes of tools instead of {sizes[1]:,}")


asyncio.run(main())
