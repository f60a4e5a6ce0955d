"""Nested agents: calls of the inner agent require approval, or do not run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hosts import missing
from hosts.asking import ARMS, DELETE, tools_of
from hosts.rules import called
from workbook import POLICY

import toolfold
from toolfold import Approver


def setup(framework: str, arm: str, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any], list[Any]]:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    settings: dict[str, Any] = {"arm": arm, "policy": POLICY, "approvals": folder / "a.db"}
    return tools_of(arm), settings, []


def states(folder: Path) -> list[str]:
    approver, found = Approver(folder / "a.db"), list[str]()
    while True:
        try:
            found.append(approver.get(f"ap-{len(found) + 1}").state)
        except toolfold.ApprovalError:
            return found


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("arm", ARMS)
def test_openai_agents_as_a_tool(arm: str, yes: bool, tmp_path: Path) -> None:
    functions, settings, ran = setup("openai_agents", arm, tmp_path)
    from agents import Agent, FunctionTool, Model, ModelResponse, Runner, Usage
    from agents.testing import ScriptedModel, assistant_message, function_call
    from hosts.openai_agents import CONFIG

    from toolfold.openai_agents import FoldedAgent, folding

    class Inner(Model):
        async def get_response(self, *_: Any, input: Any, tools: Any, **__: Any) -> Any:
            said: Any = assistant_message("inner done")
            if not any(isinstance(item, dict) and item.get("type") == "function_call_output" for item in input):
                name, arguments = called(*DELETE, [tool.name for tool in tools])
                said = function_call(name, arguments, call_id="s1")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    def bound(function: dict[str, Any]) -> FunctionTool:
        async def run(context: Any, arguments: str) -> str:
            ran.append((function["name"], json.loads(arguments)))
            return "deleted"

        about = (function["name"], function["description"], function["parameters"])
        return FunctionTool(*about, run, strict_json_schema=False)

    inner = FoldedAgent(name="inner", tools=[bound(f) for f in functions], model=Inner(), folding=folding(**settings))
    script: Any = [[function_call("ask", {"input": "x"}, call_id="1")], [assistant_message("done")]]
    outer = Agent(name="outer", tools=[inner.as_tool("ask", "Ask.")], model=ScriptedModel(script))
    first = Runner.run_sync(outer, "go", run_config=CONFIG)
    assert [one.name for one in first.interruptions] == [DELETE[0]] and ran == []
    state = first.to_state()
    (asked,) = state.get_interruptions()
    state.approve(asked) if yes else state.reject(asked)
    result = Runner.run_sync(outer, state, run_config=CONFIG)
    assert result.final_output == "done" and ran == ([DELETE] if yes else [])
    assert states(tmp_path) == ["consumed" if yes else "rejected"]


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("arm", ARMS)
def test_langchain_in_a_tool(arm: str, yes: bool, tmp_path: Path) -> None:
    """A graph in a tool of another graph, with one middleware for both."""
    functions, settings, ran = setup("langchain", arm, tmp_path)
    from hosts.langchain import GO, THREAD
    from langchain.agents import create_agent
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool, tool
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    from toolfold.langchain import Toolfold

    class Model(BaseChatModel):
        call: Any
        names: list[str] = []

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self.model_copy(update={"names": [own.name for own in tools]})

        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            message = AIMessage("done")
            if messages[-1].type == "human":
                name, arguments = called(*self.call, self.names)
                message = AIMessage("", tool_calls=[{"id": "c1", "name": name, "args": arguments}])
            return ChatResult(generations=[ChatGeneration(message=message)])

    def bound(function: dict[str, Any]) -> StructuredTool:
        def run(**arguments: Any) -> str:
            ran.append((function["name"], arguments))
            return "deleted"

        about = {"description": function["description"], "args_schema": function["parameters"]}
        return StructuredTool(name=function["name"], func=run, **about)

    fold = Toolfold(**settings)
    inner = create_agent(Model(call=DELETE), [bound(each) for each in functions], middleware=[fold])

    @tool
    def ask(q: str) -> str:
        """Asks the other agent."""
        return str(inner.invoke(GO)["messages"][-1].content)

    outer = create_agent(Model(call=("ask", {"q": "x"})), [ask], middleware=[fold], checkpointer=InMemorySaver())
    assert outer.invoke(GO, THREAD)["__interrupt__"][0].value["tool"] == DELETE[0] and ran == []
    done = outer.invoke(Command(resume=yes), THREAD)
    assert done["messages"][-1].content == "done" and ran == ([DELETE] if yes else [])
    assert states(tmp_path) == ["consumed" if yes else "rejected"]


@pytest.mark.parametrize("arm", ARMS)
def test_pydantic_ai_in_a_tool(arm: str, tmp_path: Path) -> None:
    """The framework passes what an inner agent defers to the tool that runs it: that tool asks, or nothing runs."""
    functions, settings, ran = setup("pydantic_ai", arm, tmp_path)
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from toolfold.pydantic_ai import Toolfold

    def respond(messages: Any, info: Any) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart("inner done")])
        name, arguments = called(*DELETE, [tool.name for tool in info.function_tools])
        return ModelResponse(parts=[ToolCallPart(name, arguments, "c1")])

    def bound(function: dict[str, Any]) -> Any:
        def run(**arguments: Any) -> str:
            ran.append((function["name"], arguments))
            return "deleted"

        about = {"name": function["name"], "description": function["description"]}
        return Tool.from_schema(run, json_schema=function["parameters"], **about)

    output: Any = [str, DeferredToolRequests]
    tools = [bound(each) for each in functions]
    inner: Any = Agent(FunctionModel(respond), tools=tools, capabilities=[Toolfold(**settings)], output_type=output)
    asked: list[Any] = []

    async def ask(q: str) -> str:
        made = await inner.run(q)
        assert isinstance(made.output, DeferredToolRequests) and ran == []
        asked.append(made.output.approvals[0])
        said = DeferredToolResults(approvals={"c1": True})
        return str((await inner.run(message_history=made.all_messages(), deferred_tool_results=said)).output)

    def outside(messages: Any, info: Any) -> ModelResponse:
        return ModelResponse(parts=[TextPart("done") if len(messages) > 1 else ToolCallPart("ask", {"q": "x"}, "c1")])

    assert Agent(FunctionModel(outside), tools=[ask]).run_sync("go").output == "done"
    assert [(one.tool_name, one.args_as_dict()) for one in asked] == [DELETE] and ran == [DELETE]
    assert states(tmp_path) == ["consumed"]


@pytest.mark.parametrize("how", ["transfer", "as a tool"])
@pytest.mark.parametrize("arm", ARMS)
def test_google_adk(arm: str, how: str, tmp_path: Path) -> None:
    """An agent after a transfer requires approvals as usual. An agent in a tool has its own session, which no one can answer."""
    functions, settings, ran = setup("google_adk", arm, tmp_path)
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService
    from google.adk.tools.agent_tool import AgentTool
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types
    from hosts.google_adk import SESSION, asked_in, reply, say

    from toolfold.google_adk import FoldedToolset

    class Model(BaseLlm):
        call: Any

        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            answers = [p.function_response.name for c in request.contents for p in c.parts or [] if p.function_response]
            part = types.Part(text="done")
            if self.call[0] not in answers:
                part = types.Part(function_call=types.FunctionCall(id=f"c-{self.call[0]}", name=self.call[0], args=self.call[1]))
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    class Real(BaseTool):
        def __init__(self, function: dict[str, Any]) -> None:
            super().__init__(name=function["name"], description=function["description"])
            self.schema = function["parameters"]

        def _get_declaration(self) -> Any:
            about = {"name": self.name, "description": self.description}
            return types.FunctionDeclaration(**about, parameters_json_schema=self.schema)

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            ran.append((self.name, args))
            return {"result": "deleted"}

    tools: Any = [FoldedToolset([Real(each) for each in functions], **settings)]
    inner = LlmAgent(name="inner", description="x", model=Model(model="m", call=DELETE), tools=tools)
    if how == "transfer":
        call: Any = ("transfer_to_agent", {"agent_name": "inner"})
        outer = LlmAgent(name="outer", model=Model(model="m", call=call), sub_agents=[inner])
    else:
        call = ("inner", {"request": "x"})
        outer = LlmAgent(name="outer", model=Model(model="m", call=call), tools=[AgentTool(inner)])
    own = Runner(app_name="app", agent=outer, session_service=InMemorySessionService())

    async def talk() -> None:
        await own.session_service.create_session(**SESSION)
        asked = asked_in(await say(own, types.Part(text="go")))
        assert ran == [] and len(asked) == (1 if how == "transfer" else 0)
        if asked:
            await reply(own, asked[0], True)

    asyncio.run(talk())
    assert ran == ([DELETE] if how == "transfer" else [])
    assert states(tmp_path) == ["consumed" if how == "transfer" else "pending"]


@pytest.mark.parametrize("arm", ARMS)
def test_agent_framework_as_a_tool(arm: str, tmp_path: Path) -> None:
    """The framework does not pass on the question of an agent in a tool: its call fails, and nothing runs."""
    functions, settings, ran = setup("agent_framework", arm, tmp_path)
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatMiddlewareLayer,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        FunctionInvocationLayer,
        FunctionTool,
        Message,
        ResponseStream,
    )

    from toolfold.agent_framework import fold

    class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc]
        def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
            async def updates() -> Any:
                for message in (await respond()).messages:
                    yield ChatResponseUpdate(role="assistant", contents=message.contents)

            async def respond() -> ChatResponse:
                said = Content.from_text("done")
                if not any(c.type == "function_result" for m in messages for c in m.contents):
                    name, arguments = called(*self.call, [tool.name for tool in options["tools"]])
                    said = Content.from_function_call(f"c-{self.call[0]}", name, arguments=json.dumps(arguments))
                return ChatResponse(messages=[Message(role="assistant", contents=[said])])

            return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else respond()

    def client(call: Any) -> Any:
        made = Scripted()
        made.call = call
        return made

    def bound(function: dict[str, Any]) -> FunctionTool:
        async def run(**arguments: Any) -> str:
            ran.append((function["name"], arguments))
            return "deleted"

        name, about = function["name"], function["description"]
        return FunctionTool(name=name, description=about, input_model=function["parameters"], func=run)

    folded = fold([bound(each) for each in functions], **settings)
    inner: Any = Agent(client=client(DELETE), name="inner", tools=folded.tools, middleware=folded.middleware)
    outer: Any = Agent(client=client(("inner", {"task": "x"})), tools=[inner.as_tool()])
    session = outer.create_session()
    made = asyncio.run(outer.run("go", session=session))
    assert ran == [] and states(tmp_path) == ["pending"] and not made.user_input_requests
    (said,) = [content for message in made.messages for content in message.contents if content.type == "function_result"]
    assert "failed" in str(said.result) or "Error" in str(said.result)


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize("arm", ["full", "lean", "stable", "index"])
def test_a_loop_in_a_tool_of_a_loop(arm: str, wire: str, yes: bool, tmp_path: Path) -> None:
    """The loops of the two SDKs ask through the given callback."""
    from test_left_calls import WIRES, words

    from toolfold._loop import Dialogue, talk
    from toolfold._result import Said

    ran: list[Any] = []
    approver = Approver(tmp_path / "a.db")
    engine = toolfold.Engine(tools_of(arm), "excel", arm, POLICY, approvals=approver)

    def made(id: str, call: tuple[str, dict[str, Any]]) -> Dialogue:
        conversation = engine.conversation(wire, id=id)
        name, arguments = called(*call, [entry.name for entry in conversation.entries()])
        own: dict[str, Any] = {"name": name, "arguments": json.dumps(arguments)}
        said: dict[str, list[Any]] = {
            "openai-chat": [{"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": own}]}],
            "openai-responses": [{"type": "function_call", "call_id": "c1", **own}],
            "anthropic": [{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": name, "input": arguments}]}],
        }
        left = [said[wire], words(wire)]
        dialogue = Dialogue(conversation, [], WIRES[wire], {}, lambda said: Said("ok", said))
        answers[id] = lambda **_: left.pop(0)
        return dialogue

    answers: dict[str, Any] = {}

    def inner(name: str, arguments: dict[str, Any]) -> str:
        ran.append((name, arguments))
        return "deleted"

    def outer(name: str, arguments: dict[str, Any]) -> str:
        return talk(made("inner", DELETE), answers["inner"], inner, lambda asked: yes, approver, 5).text

    dialogue = made("outer", ("read_excel", {"file_path": "a.xlsx"}))
    assert talk(dialogue, answers["outer"], outer, None, None, 5).text == "ok"
    assert ran == ([DELETE] if yes else []) and states(tmp_path) == ["consumed" if yes else "rejected"]
