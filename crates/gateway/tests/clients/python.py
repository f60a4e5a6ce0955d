"""The official Python SDK as a client of the gateway, with the fixture's misbehaving tools behind it.

    python python.py MODE stdio COMMAND ARGS…
    python python.py MODE http URL

MODE is how the SDK connects: `legacy` with `initialize`, `2026-07-28` without sessions. Lists, opens a folded tool, calls it,
is asked by the policy (tool `echo`) and by the server (tool `ask`), and cancels. Ends with 1 if anything is other than it
should be.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, types

FOLDED = "github_create_issues"


async def main(mode, kind, rest):
    asked = []

    async def person(context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"approve": True, "answer": "42"})

    server = rest[0] if kind == "http" else StdioServerParameters(command=rest[0], args=rest[1:])
    async with Client(server, mode=mode, elicitation_callback=person) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        opened = await client.call_tool("expand_tools", {"tools": [FOLDED, "ask"]})
        called = await client.call_tool(FOLDED, {"workspace": "w", "id": "abcd-1"})
        echo = await client.call_tool("echo", {"a": 1})
        ask = await client.call_tool("ask", {"message": "How many?"})
        hangs = asyncio.create_task(client.call_tool("hang", {"a": 1}))
        await asyncio.sleep(0.3)
        hangs.cancel()
        cancelled = (await asyncio.gather(hangs, return_exceptions=True))[0]
        # The server has heard of it, sooner or later.
        heard = False
        for _ in range(50):
            counts = await client.call_tool("counts", {"a": 1})
            heard = "hang cancelled" in counts.model_dump_json()
            if heard:
                break
            await asyncio.sleep(0.1)
    found = {
        "folded": len(json.dumps(tools[FOLDED].input_schema)) < len(opened.model_dump_json()),
        "opened": not opened.is_error and FOLDED in opened.model_dump_json(),
        "called": not called.is_error,
        "asked by the policy, and ran": not echo.is_error and any("mcp:server/echo" in message for message in asked),
        "asked by the server": not ask.is_error and len(asked) == 2,
        "cancelled": isinstance(cancelled, asyncio.CancelledError),
        "the server heard of it": heard,
    }
    print(f"{kind}, {mode}: {json.dumps(found)}")
    return all(found.values())


sys.exit(0 if asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:])) else 1)
