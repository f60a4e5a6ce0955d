"""smolagents has no hook around its tools: make one tool of each folded entry, and let the conversation judge the calls.

smolagents checks arguments against a tool's inputs itself, so take an arm that names every parameter: `signature` or `kept`.

    pip install toolfold smolagents && python examples/python/recipes/smolagents_recipe.py
"""

import json
from pathlib import Path

from smolagents import Tool

import toolfold

SPECS = json.loads((Path(__file__).parents[3] / "profiles/excel/tools.json").read_text())
conversation = toolfold.Engine(SPECS, profile="excel", arm="signature").conversation("openai-chat")


def run(name: str, arguments: dict) -> str:
    print(f"runs {name} {json.dumps(arguments)}")  # your own function
    return "done"


class Folded(Tool):
    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, entry: toolfold.Entry) -> None:
        required, inputs = entry.parameters.get("required", []), {}
        for name, schema in entry.parameters.get("properties", {}).items():
            kind = schema.get("type", "any")
            inputs[name] = {**schema, "type": kind, "description": schema.get("description", name)}
            if name not in required:
                inputs[name]["nullable"] = True
        self.name, self.description, self.inputs = entry.name, entry.description or entry.name, inputs
        super().__init__()

    def forward(self, **arguments: object) -> str:
        outcome = conversation.call(self.name, arguments)
        if isinstance(outcome, toolfold.Forward):
            result = outcome.noted(run(outcome.target, outcome.arguments))
            conversation.report_result(outcome.id)
            return result
        return outcome.content  # an answer, a refusal, or that a person is asked


tools = {entry.name: Folded(entry) for entry in conversation.entries()}  # Agent(tools=list(tools.values()), ...)
print(tools["expand_tools"](tools=["format_cells"]).splitlines()[0])
print(tools["format_cells"](cell_range="A1").splitlines()[0])
print(tools["format_cells"](file_path="a.xlsx", cell_range="A1"))
