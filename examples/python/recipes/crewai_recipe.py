"""CrewAI has no hook around an agent's tools: make one tool of each folded entry, and let the conversation judge the calls.

    pip install toolfold crewai && python examples/python/recipes/crewai_recipe.py
"""

import json
from pathlib import Path
from typing import Any

from crewai.tools import BaseTool
from pydantic import BaseModel, ConfigDict

import toolfold

SPECS = json.loads((Path(__file__).parents[3] / "profiles/excel/tools.json").read_text())
conversation = toolfold.Engine(SPECS, profile="excel", arm="lean").conversation("openai-chat")


def run(name: str, arguments: dict) -> str:
    print(f"runs {name} {json.dumps(arguments)}")  # your own function
    return "done"


def arguments_of(entry: toolfold.Entry) -> type[BaseModel]:
    """Arguments that CrewAI lets through as they are, shown as the entry shows them."""

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return entry.parameters

    return Arguments


class Folded(BaseTool):
    def _run(self, **arguments: Any) -> str:
        outcome = conversation.call(self.name, arguments)
        if isinstance(outcome, toolfold.Forward):
            result = outcome.noted(run(outcome.target, outcome.arguments))
            conversation.report_result(outcome.id)
            return result
        return outcome.content  # an answer, a refusal, or that a person is asked


def folded(entry: toolfold.Entry) -> Folded:
    return Folded(name=entry.name, description=entry.description or entry.name, args_schema=arguments_of(entry))


tools = {entry.name: folded(entry) for entry in conversation.entries()}  # Agent(tools=list(tools.values()), ...)
print(tools["expand_tools"].run(tools=["format_cells"]).splitlines()[0])
print(tools["format_cells"].run(cell_range="A1").splitlines()[0])
print(tools["format_cells"].run(file_path="a.xlsx", cell_range="A1"))
