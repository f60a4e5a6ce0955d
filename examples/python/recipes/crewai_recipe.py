"""CrewAI has no hook around an agent's tools: create one tool per folded entry; the conversation checks the calls.

CrewAI sends tools as strict, so a model can only write arguments that a schema names: use the arm `signature`.

    pip install toolfold crewai && CREWAI_DISABLE_TELEMETRY=true python examples/python/recipes/crewai_recipe.py
"""

import json
from pathlib import Path

from crewai import Agent, BaseLLM
from crewai.tools import BaseTool
from pydantic import BaseModel

import toolfold

SPECS = json.loads((Path(__file__).parents[3] / "profiles/excel/tools.json").read_text())
conversation = toolfold.Engine(SPECS, profile="excel", arm="signature").conversation("openai-chat")


class Folded(BaseTool):
    def _run(self, **arguments: object) -> str:
        outcome = conversation.call(self.name, arguments)
        if isinstance(outcome, toolfold.Forward):
            print(f"runs {outcome.target} {json.dumps(outcome.arguments)}")  # your own function
            conversation.report_result(outcome.id)
            return outcome.noted("done")
        return outcome.content  # an answer, a refusal, or a pending approval


def nullable(shape: dict) -> dict:
    """CrewAI makes every parameter required: optional parameters accept null, which counts as not given."""
    for name, schema in shape.get("properties", {}).items():
        own, required = nullable(schema), name in shape.get("required", [])
        shape["properties"][name] = own if required else {"anyOf": [own, {"type": "null"}]}
    return shape


def folded(entry: toolfold.Entry) -> Folded:
    class Arguments(BaseModel, extra="allow", json_schema_extra=nullable(json.loads(entry.parameters_json))):
        """Accepts any arguments: the conversation checks them."""

    return Folded(name=entry.name, description=entry.description or entry.name, args_schema=Arguments)


# Your own model. Here: one that expands a tool, calls it with wrong, then with right arguments, and ends.
CALLS = [("expand_tools", {"tools": ["format_cells"], "categories": None}), ("format_cells", {"cell_range": "A1"})]
CALLS += [("format_cells", {"file_path": "a.xlsx", "cell_range": "A1", "sheet_name": None, "font": None})]
sent: list[str] = []


class Scripted(BaseLLM):
    def supports_function_calling(self):
        return True

    def call(self, messages, tools=None, *_, **__):
        if sent:
            print(messages[-1]["content"].split("\n")[0])  # the first line of the answer
        sent.append(json.dumps(tools))
        if len(sent) > len(CALLS):
            return "A1 is formatted."
        name, arguments = CALLS[len(sent) - 1]
        return [{"id": f"c{len(sent)}", "function": {"name": name, "arguments": json.dumps(arguments)}}]


model, tools = Scripted(model="scripted"), [folded(entry) for entry in conversation.entries()]
print(Agent(role="helper", goal="help", backstory="none", llm=model, tools=tools).kickoff("Format A1.").raw)
print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(SPECS)):,}")
print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")
