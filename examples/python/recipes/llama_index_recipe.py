"""LlamaIndex has no hook around an agent's tools: create one tool per folded entry; the conversation checks the calls.

    pip install toolfold llama-index-core && python examples/python/recipes/llama_index_recipe.py
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool, ToolMetadata

import toolfold

SPECS = json.loads((Path(__file__).parents[3] / "profiles/excel/tools.json").read_text())
conversation = toolfold.Engine(SPECS, profile="excel", arm="lean").conversation("openai-chat")


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
            print(f"runs {outcome.target} {json.dumps(outcome.arguments)}")  # your own function
            conversation.report_result(outcome.id)
            return outcome.noted("done")
        return outcome.content  # an answer, a refusal, or a pending approval

    return FunctionTool.from_defaults(fn=judged, tool_metadata=Shown(entry))


# Your own model. Here: one that expands a tool, calls it with wrong, then with right arguments, and ends.
CALLS = [("expand_tools", {"tools": ["format_cells"]}), ("format_cells", {"cell_range": "A1"})]
CALLS += [("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"})]
sent: list[str] = []


def scripted(messages: list[ChatMessage], tools: list[FunctionTool], **_: Any) -> ChatMessage:
    if sent:
        print(messages[-1].content.split("\n")[0])  # the first line of the answer
    sent.append(json.dumps([tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools]))
    if len(sent) > len(CALLS):
        return ChatMessage(role="assistant", content="A1 is formatted.")
    name, arguments = CALLS[len(sent) - 1]
    call = ToolCallBlock(tool_call_id=f"c{len(sent)}", tool_name=name, tool_kwargs=arguments)
    return ChatMessage(role="assistant", blocks=[call])


async def main() -> None:
    model = MockFunctionCallingLLM(response_generator=scripted)
    agent = FunctionAgent(tools=[folded(entry) for entry in conversation.entries()], llm=model)
    print(await agent.run("Format A1."))


asyncio.run(main())
print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(SPECS)):,}")
print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")
