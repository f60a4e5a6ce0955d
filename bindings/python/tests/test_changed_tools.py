"""A tool that changes between two requests of a run, under the same name: the framework alone says what the model must be shown
and which function must run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hosts import missing

from toolfold._adapter import MOST_SETS, Folder

OLD, NEW = "the old one", "the new one"


def schema(about: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"n": {"type": "integer", "description": about}}, "required": ["n"]}


@dataclass
class Seen:
    """What a run did: the definitions in its requests, as text, and the functions that ran."""

    shown: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)

    def request(self, *definition: Any) -> int:
        self.shown.append(json.dumps(definition, sort_keys=True))
        return len(self.shown)


def pydantic_ai(change: str, folded: bool) -> Seen:
    from pydantic_ai import Agent, RunContext, Tool, ToolDefinition
    from pydantic_ai.capabilities import IncludeToolReturnSchemas
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.toolsets import FunctionToolset

    from toolfold.pydantic_ai import Toolfold

    seen = Seen()

    def made(name: str, about: str = OLD) -> Tool:
        def run(n: int) -> str:
            seen.ran.append(name)
            return name

        return Tool(run, name="t", description=about)

    def late(ctx: RunContext[Any], definition: ToolDefinition) -> bool:
        return change == "returns" and ctx.run_step > 1

    def say(messages: list[Any], info: Any) -> ModelResponse:
        (tool,) = info.function_tools
        at = seen.request(tool.description, tool.parameters_json_schema, tool.strict, tool.sequential)
        own = toolset.tools["t"]
        match change if at == 1 else "":
            case "description":
                own.description = NEW
            case "schema":
                own.function_schema.json_schema = schema(NEW)
            case "strict":
                own.strict = True
            case "function":
                toolset.tools["t"] = made(NEW)
        return ModelResponse(parts=[ToolCallPart("t", {"n": 1}, f"c{at}") if at < 3 else TextPart("ok")])

    toolset = FunctionToolset[Any]([made(OLD)])
    capabilities: list[Any] = [*([Toolfold(arm="full")] if folded else []), IncludeToolReturnSchemas(tools=late)]
    asyncio.run(Agent(FunctionModel(say), toolsets=[toolset], capabilities=capabilities).run("Go."))
    return seen


def openai_agents(change: str, folded: bool) -> Seen:
    from agents import Agent, FunctionTool, ModelResponse, RunConfig, Runner, Usage
    from hosts.openai_agents import Scripted
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from toolfold.openai_agents import FoldedAgent, folding

    seen = Seen()

    def made(name: str) -> FunctionTool:
        async def run(context: Any, arguments: str) -> str:
            seen.ran.append(name)
            return name

        return FunctionTool("t", OLD, schema(OLD), run, strict_json_schema=False)

    class Model(Scripted):
        async def get_response(
            self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *rest: Any, **more: Any
        ) -> ModelResponse:
            (tool,) = tools
            at = seen.request(tool.description, tool.params_json_schema, tool.strict_json_schema)
            (own,) = agent.tools
            match change if at == 1 else "":
                case "description":
                    own.description = NEW
                case "schema":
                    own.params_json_schema = schema(NEW)
                case "function":
                    agent.tools = [made(NEW)]
            call = ResponseFunctionToolCall(id=f"f{at}", call_id=f"c{at}", name="t", arguments='{"n": 1}', type="function_call")
            text: Any = ResponseOutputText(text="ok", type="output_text", annotations=[])
            last = ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=[text])
            return ModelResponse(output=[call if at < 3 else last], usage=Usage(), response_id=None)

    settings: dict[str, Any] = {"name": "a", "tools": [made(OLD)], "model": Model(None)}  # type: ignore[arg-type]
    agent: Any = FoldedAgent(**settings, folding=folding(arm="full")) if folded else Agent(**settings)
    asyncio.run(Runner.run(agent, "Go.", run_config=RunConfig(tracing_disabled=True)))
    return seen


def langchain(change: str, folded: bool) -> Seen:
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool

    from toolfold.langchain import Toolfold

    seen = Seen()

    def function(name: str) -> Callable[..., str]:
        def run(n: int) -> str:
            seen.ran.append(name)
            return name

        return run

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            (shown,) = tools
            if seen.request(convert_to_openai_tool(shown)) == 2:
                match change:
                    case "description":
                        tool.description = NEW
                    case "schema":
                        tool.args_schema = schema(NEW)
                    case "function":
                        tool.func = function(NEW)
            return self

    tool = StructuredTool(name="t", description=OLD, args_schema=schema(OLD), func=function(OLD))
    calls = [AIMessage("", tool_calls=[{"name": "t", "args": {"n": 1}, "id": f"c{at}"}]) for at in range(2)]
    model = Model(messages=iter([*calls, AIMessage("ok")]))
    agent = create_agent(model, tools=[tool], middleware=[Toolfold(arm="full")] if folded else [])
    go: Any = {"messages": [("user", "Go.")]}
    agent.invoke(go, {"configurable": {"thread_id": "t"}})
    return seen


#: The changes that each framework can make.
CASES = [
    *((pydantic_ai, change) for change in ("description", "schema", "strict", "function", "returns")),
    *((openai_agents, change) for change in ("description", "schema", "function")),
    *((langchain, change) for change in ("description", "schema", "function")),
]


@pytest.mark.parametrize(("run", "change"), CASES)
def test_a_changed_tool_is_shown_and_run_as_it_is(run: Callable[[str, bool], Seen], change: str) -> None:
    if lacking := missing(run.__name__):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    bare = run(change, False)
    assert len(bare.shown) == 3 and len(bare.ran) == 2
    assert (bare.ran == [OLD, NEW]) == (change == "function") and (len(set(bare.shown)) == 2) != (change == "function")
    assert run(change, True) == bare


@dataclass
class Own:
    """A tool of a framework."""

    name: str
    about: Any = OLD


def neutral(tool: Own) -> dict[str, Any]:
    return {"name": tool.name, "description": str(tool.about), "input_schema": {"type": "object"}}


def test_a_tool_set_is_the_same_object_until_a_tool_changes() -> None:
    folder, written = Folder(arm="full"), list[str]()

    def definition(tool: Own) -> dict[str, Any]:
        written.append(tool.name)
        return neutral(tool)

    two, other = [Own("a"), Own("b")], [Own("a")]
    first, second = folder.tool_set(two, definition), folder.tool_set(other, definition)
    assert first.engine is not second.engine and written == ["a", "b", "a"]
    assert folder.tool_set([Own("a"), Own("b")], definition) is first and folder.tool_set(other, definition) is second
    assert written == ["a", "b", "a"], "equal tools are not read again, also if the sets alternate"
    two[1].about = NEW
    changed = folder.tool_set(two, definition)
    assert changed.engine is not first.engine and written[3:] == ["a", "b"]
    two[1].about = OLD
    assert folder.tool_set(two, definition) is first, "a set that is there again is the one of before"


def test_members_that_cannot_be_compared_count_as_changed() -> None:
    class Vague:
        def __eq__(self, other: object) -> bool:
            raise ValueError("the truth value is ambiguous")

        def __str__(self) -> str:
            return OLD

    folder = Folder(arm="full")
    sets = [folder.tool_set([Own("a", Vague())], neutral) for _ in range(3 * MOST_SETS)]
    assert len({id(one) for one in sets}) == len(sets) and len({id(one.engine) for one in sets}) == 1
    kept = [Own("a", Vague())]
    assert folder.tool_set(kept, neutral) is folder.tool_set(kept, neutral), "the same object is not asked"


def test_a_change_while_definitions_are_read_is_found_by_the_next_request() -> None:
    def definition(tool: Own) -> dict[str, Any]:
        read, tool.about = neutral(tool), NEW
        return read

    folder, tools = Folder(arm="full"), [Own("a")]
    first, second = folder.tool_set(tools, definition), folder.tool_set(tools, neutral)
    assert second is not first and second.engine is not first.engine


def test_calls_of_the_run_keep_the_name_that_the_model_wrote(tmp_path: Path) -> None:
    """A server that stores the conversation returns calls without the data that the SDK keeps with them."""
    if missing("openai_agents"):
        pytest.skip("agents is not installed")
    from agents import FunctionTool, RunContextWrapper
    from hosts.openai_agents import Scripted, tools_of
    from openai.types.responses import ResponseFunctionToolCall
    from workbook import Workbook

    from toolfold._openai_agents_model import names_of
    from toolfold.openai_agents import FoldedAgent, folding

    tools: Any = tools_of(Workbook(tmp_path))
    model: Any = Scripted(None)  # type: ignore[arg-type]
    agent, context = FoldedAgent(name="a", tools=tools, model=model, folding=folding(arm="index")), RunContextWrapper(None)
    before: Any = names_of(asyncio.run(agent.get_all_tools(context)))
    inner = {"name": "list_sheets", "arguments": {"file_path": "a.xlsx"}}
    written = ResponseFunctionToolCall(call_id="c", name="call_tool", arguments=json.dumps(inner), type="function_call")
    (direct,) = before.direct([written], [], rename=True)
    assert direct.name == "list_sheets"
    added = FunctionTool("another", OLD, schema(OLD), tools[0].on_invoke_tool, strict_json_schema=False)
    agent.tools = [*tools, added]
    after: Any = names_of(asyncio.run(agent.get_all_tools(context)))
    stored = {"type": "function_call", "call_id": "c", "name": direct.name, "arguments": direct.arguments}
    (sent,) = after.restored([stored])
    assert after is not before and (sent["name"], sent["arguments"]) == (written.name, written.arguments)


def test_a_member_that_may_differ_is_followed() -> None:
    folder, tools = Folder(arm="full"), [Own("a", 1), Own("b", 2)]

    def asked() -> object:
        return folder.tool_set(tools, lambda tool: neutral(Own(tool.name)), besides="about")

    first = asked()
    for about in (3, 3, 4):
        tools[1].about = about
        assert asked() is first
    tools[1].name = "c"
    assert asked() is not first
    tools.pop()
    assert asked() is not first
