"""An agent of the OpenAI Agents SDK with 49 tools, folded. It runs offline with the SDK's scripted model.

    pip install 'toolfold[openai-agents]' && python examples/python/quickstart_openai_agents.py
"""

import json
from pathlib import Path
from typing import Any

from agents import FunctionTool, RunConfig, Runner
from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from toolfold.openai_agents import FoldedAgent, folding

# Your own tools. Here: the 49 tools of a spreadsheet agent, which only return their arguments.
SPECS = json.loads((Path(__file__).parents[2] / "profiles/excel/tools.json").read_text())


def tool(spec: dict[str, Any]) -> FunctionTool:
    async def run(context: object, arguments: str) -> str:
        print(f"runs {spec['name']} {arguments}")
        return "done"

    return FunctionTool(spec["name"], spec["description"], spec["parameters"], run, strict_json_schema=False)


# Your own model. Here: one that expands a tool, calls it, and ends.
call = ResponseFunctionToolCall(
    call_id="1", name="format_cells", arguments='{"file_path":"a.xlsx","cell_range":"A1"}', type="function_call"
)
look = ResponseFunctionToolCall(
    call_id="0", name="expand_tools", arguments='{"tools":["format_cells"]}', type="function_call"
)
words = ResponseOutputText(text="A1 is formatted.", type="output_text", annotations=[])
last = ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=[words])
model = ScriptedModel([[look], [call], [last]])

agent = FoldedAgent(
    name="helper",
    tools=[tool(spec["function"]) for spec in SPECS],
    model=model,
    folding=folding(arm="lean", profile="excel"),  # the toolfold settings
)
result = Runner.run_sync(agent, "Format A1.", run_config=RunConfig(tracing_disabled=True))
print(result.final_output)

arrays = [[own for own in request.tools if isinstance(own, FunctionTool)] for request in model.calls]
sent = [[(own.name, own.description, own.params_json_schema) for own in array] for array in arrays]
whole = len(json.dumps([list(spec["function"].values())[:3] for spec in SPECS]))
print(f"each request carried {len(json.dumps(sent[0])):,} bytes of tools instead of {whole:,}")
print(f"{len(sent)} requests, {len({json.dumps(array) for array in sent})} tool array: the prompt cache is kept")
