"""One run of an agent with any tools and any script, under each framework, for hostile input."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

#: A tool: its name, the schema of its arguments, and what it does.
Tool: TypeAlias = tuple[str, dict[str, Any], Callable[..., Awaitable[str]]]
#: What the model calls, one call a request: an id or None, a name, the arguments as it wrote them.
Script: TypeAlias = Sequence[tuple[str | None, str, str]]

HOSTS = ["agent_framework", "google_adk", "langchain", "openai_agents", "pydantic_ai"]


class Model:
    """Says a script, and keeps what it was sent."""

    def __init__(self, script: Script, before: Callable[[int], Awaitable[None]] | None = None) -> None:
        self.script, self.before = script, before
        self.arrays: list[list[str]] = []
        self.read: list[str] = []

    async def turn(self, names: list[str], newest: Any) -> tuple[str | None, str, str] | None:
        self.arrays.append(names)
        self.read.append(json.dumps(newest, default=str))
        at = len(self.read) - 1
        if self.before:
            await self.before(at)
        return self.script[at] if at < len(self.script) else None


def agent_of(host: str, tools: Sequence[Tool], **settings: Any) -> Callable[[Model, str], Awaitable[Any]]:
    """One agent object. Called with a model and the id of a conversation it makes one run, as often as one likes."""
    made: Callable[[Model, str], Awaitable[Any]] = globals()[f"_{host}"](tools, **settings)
    return made


def _pydantic_ai(tools: Sequence[Tool], **settings: Any) -> Any:
    from pydantic_ai import Agent, DeferredToolRequests
    from pydantic_ai import Tool as Made
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from toolfold.pydantic_ai import Toolfold

    made = [Made.from_schema(run, name=name, description="x", json_schema=schema) for name, schema, run in tools]
    output: Any = [str, DeferredToolRequests]
    agent: Any = Agent(tools=made, capabilities=[Toolfold(**settings)], output_type=output)

    async def run(model: Model, id: str) -> Any:
        async def respond(messages: list[Any], info: Any) -> ModelResponse:
            call = await model.turn([tool.name for tool in info.function_tools], messages[-1])
            if call is None:
                return ModelResponse(parts=[TextPart("ok")])
            # Without an id the framework makes one.
            more = {"tool_call_id": call[0]} if call[0] else {}
            return ModelResponse(parts=[ToolCallPart(call[1], call[2], **more)])

        return await agent.run("go", model=FunctionModel(respond), conversation_id=id)

    return run


def _langchain(tools: Sequence[Tool], **settings: Any) -> Any:
    from langchain.agents import create_agent
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
    from langgraph.checkpoint.memory import InMemorySaver

    from toolfold.langchain import Toolfold

    class Scripted(BaseChatModel):
        names: list[str] = []

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self.model_copy(update={"names": [tool.name for tool in tools]})

        def _generate(self, *_: Any, **__: Any) -> ChatResult:
            raise NotImplementedError

        async def _agenerate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            call = await models[messages[0].content].turn(self.names, messages[-1].model_dump())
            message = AIMessage("ok")
            if call:
                id, name, text = call
                try:
                    arguments = json.loads(text)
                    assert isinstance(arguments, dict)
                    message = AIMessage("", tool_calls=[{"id": id, "name": name, "args": arguments}])
                except (ValueError, AssertionError):
                    wrong: Any = {"id": id, "name": name, "args": text, "error": "x", "type": "invalid_tool_call"}
                    message = AIMessage("", invalid_tool_calls=[wrong])
            return ChatResult(generations=[ChatGeneration(message=message)])

    models: dict[str, Model] = {}
    made = [StructuredTool(name=n, description="x", args_schema=s, coroutine=r) for n, s, r in tools]
    agent = create_agent(Scripted(), tools=made, middleware=[Toolfold(**settings)], checkpointer=InMemorySaver())

    async def run(model: Model, id: str) -> Any:
        models[id] = model
        return await agent.ainvoke({"messages": [("user", id)]}, {"configurable": {"thread_id": id}})

    return run


def _openai_agents(tools: Sequence[Tool], **settings: Any) -> Any:
    from agents import FunctionTool, ModelResponse, Runner, Usage
    from agents import Model as Base
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from hosts.openai_agents import CONFIG
    from toolfold.openai_agents import FoldedAgent, folding

    class Scripted(Base):
        async def get_response(
            self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any
        ) -> Any:
            items = [{"role": "user", "content": input}] if isinstance(input, str) else input
            call = await models[items[0]["content"]].turn([tool.name for tool in tools], items[-1])
            text = ResponseOutputText(text="ok", type="output_text", annotations=[])
            said: Any = ResponseOutputMessage(
                id="m", role="assistant", status="completed", type="message", content=[text]
            )
            if call:
                own = {"call_id": call[0] or "", "name": call[1], "arguments": call[2]}
                said = ResponseFunctionToolCall(id="f", type="function_call", **own)
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    def bound(name: str, schema: dict[str, Any], run: Any) -> FunctionTool:
        async def invoke(context: Any, arguments: str) -> str:
            return await run(**json.loads(arguments))

        return FunctionTool(name, "x", schema, invoke, strict_json_schema=False)

    models: dict[str, Model] = {}
    agent: Any = FoldedAgent(
        name="a", tools=[bound(*tool) for tool in tools], model=Scripted(), folding=folding(**settings)
    )

    async def run(model: Model, id: str) -> Any:
        models[id] = model
        return await Runner.run(agent, id, run_config=CONFIG, max_turns=20)

    return run


def _google_adk(tools: Sequence[Tool], **settings: Any) -> Any:
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types

    from toolfold.google_adk import FoldedToolset

    class Scripted(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            declared = [own for tool in request.config.tools or [] for own in tool.function_declarations or []]
            said = request.contents
            newest = said[-1].model_dump(mode="json")
            call = await models[said[0].parts[0].text].turn([own.name for own in declared], newest)
            part = types.Part(text="ok")
            if call:
                part = types.Part(function_call=types.FunctionCall(id=call[0], name=call[1], args=json.loads(call[2])))
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    class Real(BaseTool):
        def __init__(self, name: str, schema: dict[str, Any], run: Any) -> None:
            super().__init__(name=name, description="x")
            self.schema, self.run = schema, run

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(name=self.name, description="x", parameters_json_schema=self.schema)

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            return {"result": await self.run(**args)}

    models: dict[str, Model] = {}
    folded = FoldedToolset([Real(*tool) for tool in tools], **settings)
    agent = LlmAgent(name="a", model=Scripted(model="scripted"), tools=[folded])
    runner = Runner(app_name="app", agent=agent, session_service=InMemorySessionService())

    async def run(model: Model, id: str) -> Any:
        models[id] = model
        await runner.session_service.create_session(app_name="app", user_id="u", session_id=id)
        message = types.Content(role="user", parts=[types.Part(text=id)])
        return [event async for event in runner.run_async(user_id="u", session_id=id, new_message=message)]

    return run


def _agent_framework(tools: Sequence[Tool], **settings: Any) -> Any:
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatMiddlewareLayer,
        ChatResponse,
        Content,
        FunctionInvocationLayer,
        FunctionTool,
        Message,
    )

    from toolfold.agent_framework import fold

    class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc]
        def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
            async def respond() -> ChatResponse:
                names = [tool.name for tool in options.get("tools") or []]
                call = await models[messages[0].text].turn(names, messages[-1].to_dict())
                said = Content.from_text("ok")
                if call:
                    said = Content.from_function_call(call[0] or "", call[1], arguments=call[2])
                return ChatResponse(messages=[Message(role="assistant", contents=[said])])

            return respond()

    models: dict[str, Model] = {}
    made = [FunctionTool(name=n, description="x", input_model=s, func=r) for n, s, r in tools]
    folded = fold(made, **settings)
    agent: Any = Agent(client=Scripted(), tools=folded.tools, middleware=folded.middleware)

    async def run(model: Model, id: str) -> Any:
        models[id] = model
        return await agent.run(id, session=agent.create_session(session_id=id))

    return run
