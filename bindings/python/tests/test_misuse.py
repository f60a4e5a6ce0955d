"""Misused agents: concurrent, cancelled, with invalid tools and calls."""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dialogue import Dialogue
from hosts import NEEDS, missing
from hosts.small import HOSTS, Model, Script, Tool, agent_of
from workbook import FUNCTIONS, TOOLS, Workbook

from toolfold import Forward, LoadError
from toolfold._adapter import Folder

NUMBER = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


class Ran(list[tuple[str, dict[str, Any]]]):
    """The list of calls that ran, and tools that add to it."""

    def tool(self, name: str, schema: dict[str, Any] = NUMBER) -> Tool:
        async def run(**arguments: Any) -> str:
            self.append((name, arguments))
            await asyncio.sleep(random.random() / 100)
            return json.dumps({"did": name, "given": arguments})

        return name, schema, run


def every(*names: str) -> Any:
    """Runs a test under each host that is installed."""
    return pytest.mark.parametrize("host", [pytest.param(name, marks=_absent(name)) for name in names or HOSTS])


def _absent(host: str) -> Any:
    lacking = [name for name in missing(host) if name != "langgraph.checkpoint.sqlite"]
    return pytest.mark.skipif(bool(lacking), reason=f"{', '.join(lacking)} is not installed")


def play(host: str, tools: list[Tool], script: Script, **settings: Any) -> Model:
    """One run, from the person's first message to the model's last."""
    model = Model(script)
    asyncio.run(asyncio.wait_for(agent_of(host, tools, **settings)(model, "t-1"), 60))
    return model


@every()
@pytest.mark.parametrize("by", ["tasks", "threads"])
def test_conversations_of_one_agent_do_not_mix(host: str, by: str) -> None:
    """Six conversations on one agent object with equal call ids: each reads only its own results."""
    ran = Ran()
    agent = agent_of(host, [ran.tool(f["name"], f["parameters"]) for f in FUNCTIONS], arm="lean", profile="excel")

    def script(number: int) -> Script:
        file = {"file_path": f"book-{number}.xlsx"}
        calls = [("expand_tools", {"categories": ["sheet"]}), ("list_sheets", file), ("format_cells", file)]
        calls += [("expand_tools", {"categories": ["sheet"]}), ("read_excel", file)]
        return [(f"c{at}", name, json.dumps(arguments)) for at, (name, arguments) in enumerate(calls)]

    async def pause(at: int) -> None:
        await asyncio.sleep(random.random() / 50)

    models = [Model(script(number), pause) for number in range(6)]

    async def together() -> None:
        await asyncio.gather(*[agent(model, f"t-{number}") for number, model in enumerate(models)])

    if by == "tasks":
        asyncio.run(together())
    else:
        runs = [lambda n=n, m=m: asyncio.run(agent(m, f"t-{n}")) for n, m in enumerate(models)]
        threads = [threading.Thread(target=run) for run in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(ran) == 12
    for number, model in enumerate(models):
        read, own = model.read, f"book-{number}.xlsx"
        assert len(read) == 6 and "Opened." in read[1] and "invalid arguments" in read[3] and "Already open" in read[4]
        assert own in read[2] and own in read[5]
        assert not [other for other in range(6) if other != number and f"book-{other}" in "".join(read)]


@pytest.mark.parametrize("host", sorted(NEEDS))
def test_a_run_that_was_cancelled_does_not_run_again(host: str, tmp_path: Path) -> None:
    """The tool had started; its effect is unknown. The same process answers the same request once more."""
    if lacking := missing(host):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    dialogue = Dialogue(Workbook(tmp_path / "books"))
    (tmp_path / "state").mkdir()
    own = importlib.import_module(f"hosts.{host}").Host(dialogue, tmp_path / "state", tmp_path / "approvals.db")
    own.ask()

    def cancelled(tool: str) -> None:
        if tool == "delete_sheet":
            raise asyncio.CancelledError

    dialogue.book.begun = cancelled
    answered = []
    for _ in range(2):
        try:
            answered.append(own.answer("ap-1", True))
        except (Exception, asyncio.CancelledError) as why:
            answered.append(repr(why))
        dialogue.book.begun = lambda tool: None
    assert [name for name, _ in dialogue.book.calls].count("delete_sheet") == 1
    assert all(answered)


@every()
def test_a_tool_of_the_hosts_is_named_as_one_of_ours(host: str) -> None:
    ran = Ran()
    tools = [*(ran.tool(f["name"], f["parameters"]) for f in FUNCTIONS), ran.tool("expand_tools")]
    script = [("c0", "expand_tools", '{"a": 1}'), ("c1", "expand_tools_2", '{"tools": ["rename_sheet"]}')]
    model = play(host, tools, script, arm="lean", profile="excel")
    assert ran == [("expand_tools", {"a": 1})]
    assert "did" in model.read[1] and "Opened." in model.read[2]


@every()
@pytest.mark.parametrize("arm", ["auto", "lean"])
def test_no_tools_at_all(host: str, arm: str) -> None:
    assert play(host, [], [], arm=arm).arrays == [[]]


#: The SDK of OpenAI's agents refuses a call without an id, and LangChain cannot answer one.
@every("agent_framework", "google_adk", "pydantic_ai")
def test_calls_without_an_id(host: str) -> None:
    ran = Ran()
    play(host, [ran.tool("x")], [(None, "x", '{"a": 1}'), (None, "x", '{"a": 2}')])
    assert ran == [("x", {"a": 1}), ("x", {"a": 2})]


#: ADK's type of a call holds an object and nothing else; LangChain ends a run whose calls it cannot read.
@pytest.mark.parametrize(
    "host",
    [
        pytest.param("agent_framework", marks=_absent("agent_framework")),
        pytest.param("pydantic_ai", marks=_absent("pydantic_ai")),
        pytest.param("openai_agents", marks=_absent("openai_agents")),
    ],
)
@pytest.mark.parametrize("arguments", ["[1]", '{"a": 1', '"a"', "null"])
def test_arguments_that_are_no_object_are_answered(host: str, arguments: str) -> None:
    ran = Ran()
    model = play(host, [ran.tool("x")], [("c0", "x", arguments), ("c1", "x", '{"a": 2}')])
    assert ran == [("x", {"a": 2})] and len(model.read) == 3


#: openai-agents itself ends a run in which an id comes twice.
@every("agent_framework", "google_adk", "langchain", "pydantic_ai")
def test_ids_that_begin_anew_with_each_message(host: str) -> None:
    """As some local models do: each call is checked separately."""
    ran = Ran()
    tools = [ran.tool("x"), ran.tool("y")]
    script = [("c0", "x", '{"a": 1}'), ("c0", "y", '{"a": 2}'), ("c0", "y", '{"a": "no"}'), ("c0", "y", '{"a": 3}')]
    model = play(host, tools, script)
    assert ran == [("x", {"a": 1}), ("y", {"a": 2}), ("y", {"a": 3})]
    assert "invalid arguments" in model.read[-2]


#: The other frameworks keep one of two tools of a name themselves.
@every("google_adk", "openai_agents", "pydantic_ai")
def test_two_tools_of_one_name(host: str) -> None:
    """An error, which ADK logs before it continues without the tools."""
    ran = Ran()
    tools, script = [ran.tool("x"), ran.tool("x")], [("c0", "x", '{"a": 1}')]
    if host == "google_adk":
        assert play(host, tools, script).arrays == [[], []]
    else:
        with pytest.raises(Exception, match="x.* is registered already|conflicts with existing tool: 'x'") as raised:
            play(host, tools, script)
        assert host == "pydantic_ai" or isinstance(raised.value, LoadError)
    assert ran == []


@_absent("pydantic_ai")
def test_runs_with_other_tools_do_not_mix() -> None:
    """Two runs of one agent whose tools depend on the user: each is shown and runs only its own."""
    from pydantic_ai import Agent, RunContext
    from pydantic_ai import Tool as Made
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.toolsets import FunctionToolset

    from toolfold.pydantic_ai import Toolfold

    ran: list[str] = []

    def named(who: str, name: str) -> Any:
        return Made.from_schema(lambda a: ran.append(f"{who} {name}") or "ok", name, "x", NUMBER)

    agent: Any = Agent(deps_type=str, capabilities=[Toolfold()])

    @agent.toolset(per_run_step=True)
    def of_user(ctx: RunContext[str]) -> Any:
        return FunctionToolset([named(ctx.deps, name) for name in ("x", "secret") if name == "x" or ctx.deps == "root"])

    async def run(who: str, name: str, asked: list[str], all_asked: asyncio.Event) -> str:
        async def respond(messages: list[Any], info: Any) -> ModelResponse:
            if len(messages) > 1:
                return ModelResponse(parts=[TextPart(str(messages[-1].parts[0].content))])
            asked.append(who)
            if len(asked) == 3:
                all_asked.set()
            await all_asked.wait()
            return ModelResponse(parts=[ToolCallPart(name, '{"a": 1}', "c0")])

        return str((await agent.run("go", deps=who, model=FunctionModel(respond))).output)

    async def together() -> list[str]:
        asked: list[str] = []
        each, event = [("root", "secret"), ("ann", "secret"), ("ann", "x")], asyncio.Event()
        return await asyncio.gather(*[run(who, name, asked, event) for who, name in each])

    said = asyncio.run(together())
    assert sorted(ran) == ["ann x", "root secret"]
    assert said[0] == said[2] == "ok" and "Unknown tool name: 'secret'" in said[1]


@_absent("langchain")
@pytest.mark.parametrize("config", [{}, {"configurable": {"thread_id": "t"}}], ids=["alone", "thread"])
def test_what_another_middleware_hides_is_not_opened(config: Any) -> None:
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool

    from toolfold.langchain import Toolfold

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    class NoDeletions(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            return handler(request.override(tools=[t for t in request.tools if not t.name.startswith("delete_")]))

    def made(function: dict[str, Any]) -> StructuredTool:
        shown = {"description": function["description"], "args_schema": function["parameters"]}
        return StructuredTool(name=function["name"], **shown, func=lambda **_: "done")

    call: Any = {"id": "c0", "name": "expand_tools", "args": {"tools": ["delete_sheet"]}}
    model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("ok")]))
    middleware: Any = [NoDeletions(), Toolfold(arm="lean")]
    agent = create_agent(model, tools=[made(function) for function in FUNCTIONS], middleware=middleware)
    answer = agent.invoke({"messages": [("user", "go")]}, config)["messages"][-2]
    assert "Opened." not in str(answer.content), "its definition was given to the model"


FORMAT: Any = [("c0", "expand_tools", {"categories": ["format"]}), ("c0", True)]
LATER: Any = [("c1", "list_sheets", {"file_path": "a.xlsx"}), ("c1", True)]


@pytest.mark.parametrize(
    ("steps", "opened"),
    [
        ([*FORMAT, *LATER], 6),
        (LATER, 0),
        ([*FORMAT[1:], *LATER], 0),  # an answer whose call was cut off
        ([FORMAT[1], LATER[1]], 0),
        ([("", "", None), ("", True), ("c0", "expand_tools", [1]), ("c0", "x"), ("z", False)][:3], 0),
    ],
)
def test_a_history_that_was_cut_anywhere(steps: Any, opened: int) -> None:
    folder = Folder(arm="lean", profile="excel")
    conversation = folder.conversation(folder.bind(TOOLS), "t", steps)
    assert len(conversation.opened) == opened
    assert isinstance(conversation.call("read_excel", {"file_path": "a.xlsx"}, "next"), Forward)


def test_a_history_that_is_whole_again_is_understood_as_it_stands() -> None:
    """One request was trimmed, the next one was not, as where only some requests are summarised."""
    folder = Folder(arm="lean", profile="excel")
    engine = folder.bind(TOOLS)
    opened = [len(folder.conversation(engine, "t", steps).opened) for steps in ([*FORMAT, *LATER], LATER)]
    again = folder.conversation(engine, "t", [*FORMAT, *LATER])
    assert opened == [6, 0] and len(again.opened) == 6
