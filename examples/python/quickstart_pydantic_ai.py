"""An agent of pydantic-ai with 49 tools, folded. It runs offline with a scripted model.

    pip install 'toolfold[pydantic-ai]' && python examples/python/quickstart_pydantic_ai.py
"""

import json
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from toolfold.pydantic_ai import Toolfold

# Your own tools or plain functions. Here: the 49 tools of a spreadsheet agent, which only return their arguments.
SPECS = [tool["function"] for tool in json.loads((Path(__file__).parents[2] / "profiles/excel/tools.json").read_text())]


def tool(spec: dict[str, Any]) -> Tool[None]:
    def run(**arguments: object) -> str:
        print(f"runs {spec['name']} {json.dumps(arguments)}")
        return "done"

    return Tool.from_schema(
        run, name=spec["name"], description=spec["description"], json_schema=spec["parameters"]
    )


# Your own model. Here: one that expands a tool, calls it, and ends.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("expand_tools", {"tools": ["format_cells"]}),
    ("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"}),
]
sent: list[str] = []


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    sent.append(json.dumps([(own.name, own.description, own.parameters_json_schema) for own in info.function_tools]))
    if len(sent) > len(CALLS):
        return ModelResponse(parts=[TextPart("A1 is formatted.")])
    name, arguments = CALLS[len(sent) - 1]
    return ModelResponse(parts=[ToolCallPart(name, arguments, f"c{len(sent)}")])


fold = Toolfold(arm="lean", profile="excel")  # the toolfold settings
agent = Agent(FunctionModel(model), tools=[tool(spec) for spec in SPECS], capabilities=[fold])
print(agent.run_sync("Format A1.").output)
print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(SPECS)):,}")
print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")
