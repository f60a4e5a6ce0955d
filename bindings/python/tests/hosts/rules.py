"""Agents whose frameworks have rules of their own for a tool: approvals, guardrails, hooks, stop conditions."""

from __future__ import annotations

import asyncio
import json
from copy import copy
from typing import Any

from hosts.asking import DELETE, DONE, tools_of

#: ``call_tool`` as a model writes it, with spaces that no program would.
WRITTEN = '{ "name":"delete_sheet",  "arguments": {"file_path": "q.xlsx", "sheet_name": "S", "confirm": true } }'


def called(name: str, arguments: dict[str, Any], shown: Any) -> tuple[str, dict[str, Any]]:
    """A call as a model makes it that is shown these tools."""
    if name in shown or name == "expand_tools":
        return name, arguments
    return "call_tool", {"name": name, "arguments": arguments}


class Own:
    agent: Any

    def __init__(self) -> None:
        self.ran: list[Any] = []
        self.guarded: list[str] = []
        self.requests: list[Any] = []
        self.arrays: list[dict[str, Any]] = []


def langchain_agent(arm: str, *rules: Any, script: Any = None, **tool: Any) -> Any:
    from langchain.agents import create_agent
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
    from langgraph.checkpoint.memory import InMemorySaver

    from toolfold.langchain import Toolfold

    own, left = Own(), list(script or [DELETE])

    class Model(BaseChatModel):
        names: list[str] = []

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self.model_copy(update={"names": [tool.name for tool in tools]})

        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            own.requests.append((self.names, messages))
            message = AIMessage(DONE)
            if left and isinstance(left[0], AIMessage):
                message = left.pop(0)
            elif left:
                name, arguments = called(*left.pop(0), self.names)
                message = AIMessage("", tool_calls=[{"id": f"c{len(left)}", "name": name, "args": arguments}])
            return ChatResult(generations=[ChatGeneration(message=message)])

    def bound(function: dict[str, Any]) -> StructuredTool:
        def run(**arguments: Any) -> str:
            own.ran.append(arguments)
            return f"{function['name']} ran"

        more = tool if function["name"] == DELETE[0] else {}
        about = {"description": function["description"], "args_schema": function["parameters"]}
        return StructuredTool(name=function["name"], func=run, **about, **more)

    middleware: list[Any] = [Toolfold(arm=arm), *rules]
    tools = [bound(each) for each in tools_of(arm)]
    own.agent = create_agent(Model(), tools, middleware=middleware, checkpointer=InMemorySaver())
    return own


def pydantic_tools(arm: str, ran: list[Any]) -> list[Any]:
    from pydantic_ai import Tool

    def bound(function: dict[str, Any]) -> Any:
        def run(**arguments: Any) -> str:
            ran.append(arguments)
            return "ran"

        about = {"name": function["name"], "description": function["description"]}
        return Tool.from_schema(run, json_schema=function["parameters"], **about)

    return [bound(each) for each in tools_of(arm)]


def pydantic_agent(arm: str, said: Any) -> Any:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    from toolfold.pydantic_ai import Toolfold

    own: Any = Own()

    def respond(messages: Any, info: Any) -> ModelResponse:
        own.requests.append(messages)
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart(DONE)])
        own.said = copy(said)
        return said

    agent: Any = Agent(FunctionModel(respond), tools=pydantic_tools(arm, own.ran), capabilities=[Toolfold(arm=arm)])
    own.run = lambda: agent.run_sync("go")
    return own


def sdk_agent(arm: str, script: Any, *, policy: Any = None, **more: Any) -> Any:
    from agents import (
        FunctionTool,
        Model,
        ModelResponse,
        Runner,
        ToolGuardrailFunctionOutput,
        Usage,
        tool_input_guardrail,
    )
    from agents.testing import assistant_message, function_call

    from hosts.openai_agents import CONFIG
    from toolfold.openai_agents import FoldedAgent, folding

    own: Any = Own()
    left = list(script)

    @tool_input_guardrail
    def guardrail(data: Any) -> Any:
        own.guarded.append(data.context.tool_name)
        return ToolGuardrailFunctionOutput.allow()

    class Scripted(Model):
        async def get_response(self, *_: Any, input: Any, tools: Any, **__: Any) -> Any:
            own.requests.append(input)
            said: Any = assistant_message(DONE)
            if left and isinstance(left[0], list):
                return ModelResponse(output=left.pop(0), usage=Usage(), response_id=None)
            if left:
                name, arguments = called(*left.pop(0), [tool.name for tool in tools])
                said = function_call(name, arguments, call_id=f"c{len(left)}")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    def bound(function: dict[str, Any]) -> FunctionTool:
        async def run(context: Any, arguments: str) -> str:
            own.ran.append((function["name"], json.loads(arguments)))
            return f"{function['name']} ran"

        made = FunctionTool(
            function["name"], function["description"], function["parameters"], run, strict_json_schema=False
        )
        made.tool_input_guardrails = [guardrail] if function["name"] == DELETE[0] else None
        return made

    tools: Any = [bound(each) for each in tools_of(arm)]
    own.agent = FoldedAgent(name="a", tools=tools, model=Scripted(), folding=folding(arm=arm, policy=policy), **more)
    own.run = lambda given, **how: Runner.run_sync(own.agent, given, run_config=CONFIG, **how)
    own.stream = lambda given: Runner.run_streamed(own.agent, given, run_config=CONFIG)
    return own


def framework_agent(arm: str, call: Any = DELETE) -> Any:
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

    own: Any = Own()

    class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc]
        def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
            async def respond() -> ChatResponse:
                own.requests.append([message.to_dict() for message in messages])
                own.arrays.append({tool.name: tool.parameters() for tool in options["tools"]})
                said = [Content.from_text(DONE)]
                if len(own.requests) == 1:
                    name, arguments = called(*call, [tool.name for tool in options["tools"]])
                    text = WRITTEN if name == "call_tool" else json.dumps(arguments)
                    said = [Content.from_text_reasoning(text="hm"), Content.from_function_call("c1", name, arguments=text)]
                made = Message(role="assistant", contents=said)
                own.said = made.to_dict()
                return ChatResponse(messages=[made])

            return respond()

    def bound(function: dict[str, Any]) -> FunctionTool:
        async def run(**arguments: Any) -> str:
            own.ran.append(arguments)
            return "ran"

        name, about = function["name"], function["description"]
        return FunctionTool(name=name, description=about, input_model=function["parameters"], func=run)

    folded = fold([bound(each) for each in tools_of(arm)], arm=arm)
    own.agent = Agent(client=Scripted(), tools=folded.tools, middleware=folded.middleware)
    own.run = lambda given: asyncio.run(own.agent.run(given))
    return own


def fidelity_agent_framework() -> tuple[Any, Any, Any]:
    own = framework_agent("index")
    made = own.run("go")
    first, sent = own.requests[1][1], own.requests[1]
    call = next(one for message in made.messages for one in message.contents if one.type == "function_call")
    said = {
        "role": "assistant",
        "contents": [("text_reasoning", "hm"), ("function_call", "call_tool", WRITTEN, {})],
    }
    contents = [
        (one["type"], one["text"]) if one["type"] == "text_reasoning"
        else (one["type"], one["name"], one["arguments"], one.get("additional_properties") or {})
        for one in first["contents"]
    ]
    assert len(sent) == 3
    return said, {"role": first["role"], "contents": contents}, {"name": call.name, "arguments": call.parse_arguments()}


def fidelity_langchain() -> tuple[Any, Any, Any]:
    from hosts.langchain import GO, THREAD
    from langchain_core.messages import AIMessage

    content: Any = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "c1", "name": "call_tool", "input": json.loads(WRITTEN)},
    ]
    call: Any = {"id": "c1", "name": "call_tool", "args": json.loads(WRITTEN), "type": "tool_call"}
    raw = {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "call_tool", "arguments": WRITTEN}}]}
    more: Any = {"additional_kwargs": raw, "response_metadata": {"model": "m"}, "id": "msg_1"}
    said = AIMessage(content, tool_calls=[call], **more)
    before = said.model_dump()
    own = langchain_agent("index", script=[said])
    messages = own.agent.invoke(GO, THREAD)["messages"]
    stored = next(message for message in messages if message.type == "ai").tool_calls[0]
    names, sent = own.requests[1]
    result = next(message for message in sent if message.type == "tool")
    assert names == ["expand_tools", "call_tool"] and result.name == "call_tool"
    return before, sent[1].model_dump(), {"name": stored["name"], "arguments": stored["args"]}


def fidelity_pydantic_ai() -> tuple[Any, Any, Any]:
    from pydantic_ai.messages import ModelResponse, ThinkingPart, ToolCallPart

    parts = [ThinkingPart("hm", signature="s"), ToolCallPart("call_tool", WRITTEN, "c1", id="i", provider_name="p")]
    own = pydantic_agent("index", said=ModelResponse(parts=parts))
    messages = own.run().all_messages()
    stored = messages[1].parts[1]
    sent = own.requests[1]
    assert [part.tool_name for part in sent[2].parts] == ["call_tool"]
    kept = {"usage", "timestamp", "run_id", "conversation_id", "model_name", "model_id"}
    said, back = ({k: v for k, v in vars(one).items() if k not in kept} for one in (own.said, sent[1]))
    return said, back, {"name": stored.tool_name, "arguments": stored.args_as_dict()}


def fidelity_openai_agents() -> tuple[Any, Any, Any]:
    from openai.types.responses import ResponseFunctionToolCall, ResponseReasoningItem

    thought = ResponseReasoningItem(id="rs_1", type="reasoning", summary=[], encrypted_content="x")
    call = ResponseFunctionToolCall(id="fc_1", call_id="c1", name="call_tool", arguments=WRITTEN, type="function_call")
    said = [item.model_dump(exclude_unset=True) for item in (thought, call)]
    own = sdk_agent("index", [[thought, call]])
    result = own.run("go")
    stored = next(item for item in result.to_input_list() if item.get("type") == "function_call")
    sent = own.requests[1]
    assert sent[3]["call_id"] == "c1"
    return said, sent[1:3], {"name": stored["name"], "arguments": json.loads(stored["arguments"])}


def adk_agent(arm: str, script: list[Any], **settings: Any) -> Any:
    """An agent of ADK. Each entry of the script is the parts of one message, or one call."""
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types

    from toolfold.google_adk import FoldedToolset

    own, left = Own(), list(script)

    class Model(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            declared = [one for tool in llm_request.config.tools for one in tool.function_declarations]
            own.requests.append((declared, [content.model_dump(exclude_none=True) for content in llm_request.contents]))
            parts = left.pop(0) if left else [types.Part(text=DONE)]
            if isinstance(parts, tuple):
                name, arguments = called(*parts, [one.name for one in declared])
                parts = [types.Part(function_call=types.FunctionCall(name=name, args=arguments))]
            yield LlmResponse(content=types.Content(role="model", parts=parts))

    class Real(BaseTool):
        def __init__(self, function: dict[str, Any]) -> None:
            super().__init__(name=function["name"], description=function["description"])
            self.schema = function["parameters"]

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=self.name, description=self.description, parameters_json_schema=self.schema
            )

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            own.ran.append(args)
            return {"result": f"{self.name} ran"}

    tools = FoldedToolset([Real(each) for each in tools_of(arm)], arm=arm, **settings)
    own.agent = LlmAgent(name="a", model=Model(model="scripted"), tools=[tools])
    runner = InMemoryRunner(own.agent)

    async def talk() -> list[Any]:
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="go")])
        return [event async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message)]

    own.run = lambda: asyncio.run(talk())
    return own


def fidelity_google_adk() -> tuple[Any, Any, Any]:
    """Gemini gives calls no ids, and the same call comes twice: through ``call_tool``, and by its own name."""
    from google.genai import types

    plain = types.FunctionCall(name=DELETE[0], args=DELETE[1])
    wrapped = types.FunctionCall(name="call_tool", args=json.loads(WRITTEN))
    thought = types.Part(text="hm", thought=True, thought_signature=b"s")
    messages = [
        [thought, types.Part(function_call=wrapped, thought_signature=b"t"), types.Part(function_call=plain)],
        [types.Part(function_call=plain)],
        [types.Part(function_call=wrapped)],
    ]
    said = [types.Content(role="model", parts=parts).model_dump(exclude_none=True) for parts in messages]
    own = adk_agent("index", [list(parts) for parts in messages])
    events = own.run()
    stored = events[0].get_function_calls()[0]
    contents = own.requests[-1][1]
    answers = [part["function_response"]["name"] for content in contents for part in content["parts"] if "function_response" in part]
    assert answers == ["call_tool", DELETE[0], DELETE[0], "call_tool"]
    return said, [content for content in contents if content["role"] == "model"], {"name": stored.name, "arguments": stored.args}
