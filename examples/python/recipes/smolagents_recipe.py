"""smolagents has no hook around its tools: create one tool per folded entry; the conversation checks the calls.

It validates arguments against a tool's inputs itself, so use an arm that names every parameter: `signature` or `kept`.

    pip install toolfold smolagents && python examples/python/recipes/smolagents_recipe.py
"""

import json
from pathlib import Path

from smolagents import ChatMessage, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, get_tool_json_schema

import toolfold

SPECS = json.loads((Path(__file__).parents[3] / "profiles/excel/tools.json").read_text())
conversation = toolfold.Engine(SPECS, profile="excel", arm="signature").conversation("openai-chat")


class Folded(Tool):
    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, entry: toolfold.Entry) -> None:
        required, self.inputs = entry.parameters.get("required", []), {}
        for name, schema in entry.parameters.get("properties", {}).items():
            described = {"type": schema.get("type", "any"), "description": schema.get("description", name)}
            self.inputs[name] = {**schema, **described, **({} if name in required else {"nullable": True})}
        self.name, self.description = entry.name, entry.description or entry.name
        super().__init__()

    def forward(self, **arguments: object) -> str:
        outcome = conversation.call(self.name, arguments)
        if isinstance(outcome, toolfold.Forward):
            print(f"runs {outcome.target} {json.dumps(outcome.arguments)}")  # your own function
            conversation.report_result(outcome.id)
            return outcome.noted("done")
        return outcome.content  # an answer, a refusal, or a pending approval


# Your own model. Here: one that expands a tool, calls it with wrong, then with right arguments, and ends.
A1 = {"file_path": "a.xlsx", "cell_range": "A1"}
CALLS = [("expand_tools", {"tools": ["format_cells"]}), ("format_cells", {**A1, "font": {"bold": "very"}})]
CALLS += [("format_cells", A1), ("final_answer", {"answer": "A1 is formatted."})]
sent: list[str] = []


class Scripted(Model):
    def generate(self, messages, tools_to_call_from=None, **_):
        if sent:
            print(messages[-1].content[0]["text"].split("\n")[1])  # the first line of the answer
        name, arguments = CALLS[len(sent)]
        sent.append(json.dumps([get_tool_json_schema(tool) for tool in tools_to_call_from]))
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        return ChatMessage("assistant", "", [ChatMessageToolCall(function, f"c{len(sent)}", "function")])


agent = ToolCallingAgent([Folded(entry) for entry in conversation.entries()], Scripted(), verbosity_level=0)
print(agent.run("Format A1."))
print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(SPECS)):,}")
print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")
