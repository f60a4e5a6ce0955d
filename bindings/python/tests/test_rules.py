"""A framework's own rules apply to the names of tools, in every arm, and the provider gets back what the model wrote."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hosts import missing
from hosts.asking import ARMS, COPIES, DELETE, asking, tools_of
from workbook import FUNCTIONS, POLICY

from toolfold import Engine, StartError
from toolfold._settings import DELIVERIES, Settings

#: The frameworks whose adapters give `call_tool` the name of its tool.
CARRIERS = ["agent_framework", "google_adk", "langchain", "openai_agents", "pydantic_ai"]


def needs(framework: str) -> None:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")


@pytest.mark.parametrize("delivery", sorted(DELIVERIES.values()))
def test_an_arm_that_cannot_be_carried_is_refused_by_adapter_and_engine(delivery: str) -> None:
    arm = next(name for name, own in DELIVERIES.items() if own == delivery)
    with pytest.raises(StartError, match=f"arm {arm} is not available"):
        type("Own", (Settings,), {"WITHOUT": {delivery: "there is no hook"}})(arm=arm)
    engine = Engine(FUNCTIONS, "excel")
    model, wire = "claude-sonnet-4-6", "anthropic"
    if arm != "append":
        assert engine.conversation(wire, model, arm=arm).arm == arm
    with pytest.raises(StartError, match=f"arm {arm} is not available: this host cannot carry the delivery"):
        engine.conversation(wire, model, arm=arm, without=[delivery])


def test_auto_takes_no_arm_that_cannot_be_carried() -> None:
    engine = Engine(tools_of("auto"))
    assert engine.conversation("openai-chat").arm == "search"
    bound = engine.conversation("openai-chat", without=["bridge"])
    assert bound.arm not in ("index", "search") and len(bound.tools()) >= COPIES
    native = engine.conversation("openai-responses", "gpt-5.4")
    other = engine.conversation("openai-responses", "gpt-5.4", without=["native"])
    assert (native.arm, other.arm) == ("native", "search")


@pytest.mark.parametrize("framework", CARRIERS)
def test_auto_under_each_framework(framework: str, tmp_path: Path) -> None:
    needs(framework)
    host = asking(framework)([], "auto", tmp_path, wire="openai-chat")
    host.start()
    assert len(host.shown[0]) < 5, host.shown[0]


@pytest.mark.parametrize("framework", ["langchain", "openai_agents", "pydantic_ai"])
def test_auto_where_the_model_defers_tools(framework: str) -> None:
    """LangChain and the Agents SDK have models of both APIs of OpenAI, and only one has deferred tools."""
    needs(framework)
    module: Any = import_module(f"toolfold.{framework}")
    settings = module.Settings(wire="openai-responses", model="gpt-5.4")
    conversation = Engine(tools_of("auto")).conversation(settings.wire, settings.model, without=list(settings.without()))
    assert (conversation.arm == "native") == (framework == "pydantic_ai"), conversation.explain()


@pytest.mark.parametrize("arm", ["index", "search", "native", "append"])
def test_an_agent_whose_model_is_a_name_has_no_hook(arm: Any) -> None:
    needs("openai_agents")
    from toolfold.openai_agents import FoldedAgent, folding

    for model in ("gpt-5.4", None):
        with pytest.raises(StartError, match=f"arm {arm} is not available here: the agent's `model` is a name"):
            FoldedAgent(name="a", model=model, folding=folding(arm=arm, model="gpt-5.4"))
        FoldedAgent(name="a", model=model, folding=folding(arm="lean"))


@pytest.mark.parametrize("arm", ["lean", "index"])
def test_langchains_human_in_the_loop_after_toolfold(arm: str) -> None:
    needs("langchain")
    from hosts.langchain import GO, THREAD
    from hosts.rules import langchain_agent
    from langchain.agents.middleware import HumanInTheLoopMiddleware
    from langgraph.types import Command

    own = langchain_agent(arm, HumanInTheLoopMiddleware({"delete_sheet": True}))
    asked = own.agent.invoke(GO, THREAD)["__interrupt__"][0].value["action_requests"]
    assert [(one["name"], one["args"]) for one in asked] == [DELETE] and own.ran == []
    edited = {**DELETE[1], "sheet_name": "Other"}
    decision = {"type": "edit", "edited_action": {"name": DELETE[0], "args": edited}}
    own.agent.invoke(Command(resume={"decisions": [decision]}), THREAD)
    assert own.ran == [edited], "what the person wrote is what is judged and run"


@pytest.mark.parametrize("arm", ["lean", "index"])
def test_guardrails_of_the_agents_sdk(arm: str) -> None:
    needs("openai_agents")
    from hosts.rules import sdk_agent

    own = sdk_agent(arm, [DELETE])
    own.run("go")
    assert own.guarded == ["delete_sheet"] and own.ran == [DELETE]


@pytest.mark.parametrize("arm", ARMS)
def test_an_approval_of_every_call_is_one_of_that_tool(arm: str) -> None:
    needs("openai_agents")
    from hosts.asking import OTHER
    from hosts.rules import sdk_agent

    again = (DELETE[0], {**DELETE[1], "sheet_name": "Other"})
    own = sdk_agent(arm, [DELETE, again, OTHER], policy=POLICY)
    state = own.run("go").to_state()
    state.approve(state.get_interruptions()[0], always_approve=True)
    result = own.run(state)
    assert own.ran == [DELETE, again] and [one.name for one in result.interruptions] == ["delete_file"]


def test_an_answer_of_toolfold_is_not_the_first_result_of_a_run() -> None:
    needs("openai_agents")
    from hosts.rules import sdk_agent

    script = [("expand_tools", {"tools": ["delete_sheet"]}), DELETE]
    own = sdk_agent("lean", script, tool_use_behavior="stop_on_first_tool")
    assert own.run("go").final_output == "delete_sheet ran" and own.ran == [DELETE]


def test_langchains_model_does_not_read_the_name_that_continues_a_run() -> None:
    needs("langchain")
    from hosts.langchain import GO, THREAD
    from hosts.rules import langchain_agent

    wrong = (DELETE[0], {"file_path": "q.xlsx"})
    own = langchain_agent("lean", script=[wrong, DELETE], return_direct=True)
    assert own.agent.invoke(GO, THREAD)["messages"][-1].content == "delete_sheet ran"
    assert len(own.requests) == 2 and "toolfold_answer" not in str(own.requests)


@pytest.mark.parametrize("framework", CARRIERS)
def test_the_provider_gets_back_what_the_model_wrote(framework: str) -> None:
    """Requests and messages are compared, including the reasoning beside a call."""
    needs(framework)
    from hosts import rules

    said, sent, stored = getattr(rules, f"fidelity_{framework}")()
    assert sent == said, "byte for byte"
    assert "delete_sheet" in json.dumps(stored["name"]) and stored["arguments"] == DELETE[1]


def test_streams_of_the_agents_sdk() -> None:
    needs("openai_agents")
    from agents.testing import ScriptedModel, assistant_message, function_call
    from hosts.rules import sdk_agent

    own = sdk_agent("index", [])
    wrapped = {"name": DELETE[0], "arguments": DELETE[1]}
    own.agent.model = ScriptedModel([[function_call("call_tool", wrapped, call_id="c1")], [assistant_message("done")]])

    async def talk() -> Any:
        result = own.stream("go")
        async for _ in result.stream_events():
            pass
        return result

    result = asyncio.run(talk())
    assert own.ran == [DELETE] and result.final_output == "done"
    calls = [item for item in own.agent.model.calls[1].input if item.get("type") == "function_call"]
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [("call_tool", wrapped)]


def test_streams_of_pydantic_ai() -> None:
    needs("pydantic_ai")
    from hosts.rules import WRITTEN, pydantic_tools
    from pydantic_ai import Agent
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    from toolfold.pydantic_ai import Toolfold

    ran: list[Any] = []
    requests: list[Any] = []

    async def respond(messages: Any, info: Any) -> Any:
        requests.append(messages)
        if len(messages) > 1:
            yield "done"
            return
        yield {0: DeltaToolCall("call_tool", WRITTEN[:20], tool_call_id="c1")}
        yield {0: DeltaToolCall(json_args=WRITTEN[20:])}

    async def talk() -> Any:
        model, tools = FunctionModel(stream_function=respond), pydantic_tools("index", ran)
        agent: Any = Agent(model, tools=tools, capabilities=[Toolfold(arm="index")])
        async with agent.run_stream("go") as result:
            return await result.get_output(), result.all_messages()

    output, messages = asyncio.run(talk())
    assert output == "done" and ran == [DELETE[1]]
    (stored,) = [part for message in messages for part in message.parts if isinstance(part, ToolCallPart)]
    assert (stored.tool_name, stored.args_as_dict()) == DELETE
    assert (requests[1][1].parts[0].tool_name, requests[1][1].parts[0].args) == ("call_tool", WRITTEN)
