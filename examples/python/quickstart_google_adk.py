"""An agent of Google's ADK with 49 tools, folded. It runs offline with a scripted model.

    pip install 'toolfold[google-adk]' && python examples/python/quickstart_google_adk.py
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.genai import types
from toolfold.google_adk import FoldedToolset

# Your own tools: BaseTool, plain functions or toolsets. Here: the 49 tools of a spreadsheet agent.
SPECS = [tool["function"] for tool in json.loads((Path(__file__).parents[2] / "profiles/excel/tools.json").read_text())]


class Tool(BaseTool):
    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__(name=spec["name"], description=spec["description"])
        self.schema = spec["parameters"]

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: object) -> Any:
        print(f"runs {self.name} {json.dumps(args)}")
        return {"result": "done"}


# Your own model. Here: one that expands a tool, calls it, and ends.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("expand_tools", {"tools": ["format_cells"]}),
    ("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"}),
]
sent: list[str] = []


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        declared = [own for tool in llm_request.config.tools for own in tool.function_declarations]
        sent.append(json.dumps([(own.name, own.description, own.parameters_json_schema) for own in declared]))
        part = types.Part(text="A1 is formatted.")
        if len(sent) <= len(CALLS):
            name, args = CALLS[len(sent) - 1]
            part = types.Part(function_call=types.FunctionCall(name=name, args=args))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def main() -> None:
    # The toolfold settings: the tools, and how to fold them.
    tools = FoldedToolset([Tool(spec) for spec in SPECS], arm="lean", profile="excel")
    runner = InMemoryRunner(agent=LlmAgent(name="helper", model=Scripted(model="scripted"), tools=[tools]))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="Format A1.")])
    async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        for part in (event.content and event.content.parts) or []:
            if part.text:
                print(part.text)
    print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(SPECS)):,}")
    print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")


asyncio.run(main())
