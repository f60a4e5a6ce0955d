"""A scripted agent on the official Python SDK: it creates a workbook through the gateway.

    python excel.py TOOLFOLD EXCEL_MCP_SERVER [ARM ...]

It is an oracle: it expands the tools it needs, makes the scripted calls, repeats a call after a definition was shown, approves
every approval request, and then opens the file with openpyxl to check its content.
"""

import asyncio
import json
import pathlib
import sys
import tempfile

import openpyxl
from mcp import ClientSession, StdioServerParameters
from mcp import types
from mcp.client.stdio import stdio_client

POLICY = """
[[rule]]
tool = "mcp:server/*"
decide = "allow"

[[rule]]
tool = "mcp:server/delete_sheet"
decide = "ask"
"""


class Agent:
    """One conversation."""

    def __init__(self, session, tools):
        self.session, self.asked = session, 0
        self.tools = {tool.name: tool for tool in tools}

    async def call(self, name, arguments, hint):
        """Calls a tool as listed: by its name, or through the bridge for its effect."""
        bridge = {"reads": "call_read", "writes": "call_write", "destroys": "call_destructive"}[hint]
        if name in self.tools:
            outer, inner = name, arguments
        else:
            outer, inner = bridge, {"name": name, "arguments": arguments}
        for _ in range(2):
            result = await self.session.call_tool(outer, inner)
            text = " ".join(part.text for part in result.content if part.type == "text")
            if not result.is_error:
                return result, text
            if "was not run yet" not in text:
                break
        raise SystemExit(f"{name} failed: {text}")


async def work(toolfold, server, arm, folder):
    path = str(folder / f"{arm}.xlsx")
    policy = folder / "policy.toml"
    policy.write_text(POLICY)
    asked = []

    async def person(context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"approve": True})

    command = ["gateway", "--arm", arm, "--policy", str(policy), "--store", str(folder / f"{arm}.db"), "--", server, "stdio"]
    params = StdioServerParameters(command=toolfold, args=command)
    async with stdio_client(params) as (read, write), ClientSession(read, write, elicitation_callback=person) as session:
        await session.initialize()
        listed = await session.list_tools()
        agent = Agent(session, listed.tools)
        if "expand_tools" in agent.tools:
            wanted = ["create_workbook", "write_range", "format_range", "create_chart", "create_sheet", "delete_sheet", "read_range"]
            await session.call_tool("expand_tools", {"tools": wanted})
        rows = [["month", "units"], ["Jan", 12], ["Feb", 30], ["Mar", 25]]
        await agent.call("create_workbook", {"path": path, "sheets": ["Data"]}, "destroys")
        await agent.call("write_range", {"path": path, "sheet": "Data", "at": "A1", "rows": rows}, "destroys")
        await agent.call("format_range", {"path": path, "sheet": "Data", "range": "A1:B1", "style": {"bold": True}}, "writes")
        await agent.call("create_chart", {"path": path, "sheet": "Data", "chart_type": "column", "source": "A1:B4", "at": "D2"}, "destroys")
        await agent.call("create_sheet", {"path": path, "new_name": "Old"}, "writes")
        await agent.call("delete_sheet", {"path": path, "sheet": "Old"}, "destroys")
        _, text = await agent.call("read_range", {"path": path, "sheet": "Data", "range": "A1:B4"}, "reads")
    book = openpyxl.load_workbook(path)
    sheet = book["Data"]
    values = [[cell.value for cell in row] for row in sheet["A1:B4"]]
    assert values == rows, values
    assert sheet["A1"].font.bold and len(sheet._charts) == 1 and book.sheetnames == ["Data"], "format, chart, sheets"
    assert "30" in text, text
    assert len(asked) == 1 and "delete_sheet" in asked[0], asked
    size = len(json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]))
    print(f"{arm}: {len(listed.tools)} tools listed in {size} bytes; made, formatted, charted, read back; asked once")


async def main():
    toolfold, server, *arms = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for arm in arms or ["full", "stable", "lean", "index"]:
            await asyncio.wait_for(work(toolfold, server, arm, pathlib.Path(folder)), 120)


asyncio.run(main())
