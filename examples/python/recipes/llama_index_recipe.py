"""LlamaIndex has no hook around an agent's tools: make one tool of each folded entry, and let the conversation judge the calls.

    pip install toolfold llama-index-core && python examples/python/recipes/llama_index_recipe.py
"""

import json
from pathlib import Path
from typing import Any

from llama_index.core.tools import FunctionTool, ToolMetadata

import toolfold

SPECS = json.loads((Path(__file__).parents[3] / "profiles/excel/tools.json").read_text())
conversation = toolfold.Engine(SPECS, profile="excel", arm="lean").conversation("openai-chat")


def run(name: str, arguments: dict) -> str:
    print(f"runs {name} {json.dumps(arguments)}")  # your own function
    return "done"


class Shown(ToolMetadata):
    def __init__(self, entry: toolfold.Entry) -> None:
        super().__init__(name=entry.name, description=entry.description or entry.name)
        self.entry = entry

    def get_parameters_dict(self) -> dict[str, Any]:
        return self.entry.parameters


def folded(entry: toolfold.Entry) -> FunctionTool:
    def judged(**arguments: Any) -> str:
        outcome = conversation.call(entry.name, arguments)
        if isinstance(outcome, toolfold.Forward):
            result = outcome.noted(run(outcome.target, outcome.arguments))
            conversation.report_result(outcome.id)
            return result
        return outcome.content  # an answer, a refusal, or that a person is asked

    return FunctionTool.from_defaults(fn=judged, tool_metadata=Shown(entry))


tools = {entry.name: folded(entry) for entry in conversation.entries()}  # FunctionAgent(tools=list(tools.values()), ...)
sent = json.dumps([tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools.values()])
print(tools["expand_tools"].call(tools=["format_cells"]).content.splitlines()[0])
print(tools["format_cells"].call(cell_range="A1").content.splitlines()[0])
print(tools["format_cells"].call(file_path="a.xlsx", cell_range="A1").content)
print(f"the request carries {len(sent):,} bytes of tools instead of {len(json.dumps(SPECS)):,}")
