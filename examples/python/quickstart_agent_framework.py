"""An agent of agent-framework with 49 tools, folded. It runs offline with a scripted chat client.

    pip install 'toolfold[agent-framework]' && python examples/python/quickstart_agent_framework.py
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
)
from toolfold.agent_framework import fold

# Your own tools or plain functions. Here: the 49 tools of a spreadsheet agent, which only return their arguments.
SPECS = [tool["function"] for tool in json.loads((Path(__file__).parents[2] / "profiles/excel/tools.json").read_text())]


def tool(spec: dict[str, Any]) -> FunctionTool:
    async def run(**arguments: object) -> str:
        print(f"runs {spec['name']} {json.dumps(arguments)}")
        return "done"

    return FunctionTool(name=spec["name"], description=spec["description"], input_model=spec["parameters"], func=run)


# Your own client. Here: one that expands a tool, calls it, and ends.
CALLS = [("expand_tools", {"tools": ["format_cells"]}), ("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"})]
sent: list[str] = []


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **more: Any) -> Any:
        async def respond() -> ChatResponse:
            sent.append(json.dumps([(own.name, own.description, own.parameters()) for own in options["tools"]]))
            said: list[Any] = ["A1 is formatted."]
            if len(sent) <= len(CALLS):
                name, arguments = CALLS[len(sent) - 1]
                said = [Content.from_function_call(f"c{len(sent)}", name, arguments=json.dumps(arguments))]
            return ChatResponse(messages=[Message(role="assistant", contents=said)])

        return respond()


folded = fold([tool(spec) for spec in SPECS], arm="lean", profile="excel")  # the toolfold settings
agent = Agent(client=Scripted(), tools=folded.tools, middleware=folded.middleware)


async def main() -> None:
    print((await agent.run("Format A1.")).text)


asyncio.run(main())
print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(SPECS)):,}")
print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")
