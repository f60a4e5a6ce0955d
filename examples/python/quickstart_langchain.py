"""An agent of LangChain with 49 tools, folded. It runs offline with a scripted model.

    pip install 'toolfold[langchain]' && python examples/python/quickstart_langchain.py
"""

import json
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from toolfold.langchain import Toolfold

# Your own tools or plain functions. Here: the 49 tools of a spreadsheet agent, which only return their arguments.
SPECS = [tool["function"] for tool in json.loads((Path(__file__).parents[2] / "profiles/excel/tools.json").read_text())]


def tool(spec: dict[str, Any]) -> StructuredTool:
    def run(**arguments: object) -> str:
        print(f"runs {spec['name']} {json.dumps(arguments)}")
        return "done"

    return StructuredTool(
        name=spec["name"], description=spec["description"], args_schema=spec["parameters"], func=run
    )


# Your own model. Here: one that expands a tool, calls it, and ends.
CALLS = [("expand_tools", {"tools": ["format_cells"]}), ("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"})]
sent: list[str] = []


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **more: Any) -> Any:
        sent.append(json.dumps([convert_to_openai_tool(own)["function"] for own in tools]))
        return self


said = [AIMessage("", tool_calls=[{"id": f"c{n}", "name": name, "args": own}]) for n, (name, own) in enumerate(CALLS)]
model = Scripted(messages=iter([*said, AIMessage("A1 is formatted.")]))

fold = Toolfold(arm="lean", profile="excel")  # the toolfold settings
agent = create_agent(model, tools=[tool(spec) for spec in SPECS], middleware=[fold])
print(agent.invoke({"messages": [{"role": "user", "content": "Format A1."}]})["messages"][-1].content)
print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(SPECS)):,}")
print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")
