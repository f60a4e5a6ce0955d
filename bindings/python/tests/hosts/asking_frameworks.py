"""The agent of ``asking`` under each framework."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hosts.asking import DELETE, DONE, Asking, tools_of


def pydantic_ai() -> type[Asking]:
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool, ToolApproved
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from toolfold.pydantic_ai import Toolfold

    class Own(Asking):
        native = {"wire": "openai-responses", "model": "gpt-5.4"}
        finds = ("search_tools", {"queries": ["rename sheet"]})

        def build(self) -> None:
            def bound(function: dict[str, Any]) -> Any:
                name, about = function["name"], function["description"]
                schema = function["parameters"]
                made = Tool.from_schema(lambda **k: self.run(name, k), name=name, description=about, json_schema=schema)
                made.requires_approval = self.own_rule and name == DELETE[0]
                return made

            def respond(messages: Any, info: Any) -> ModelResponse:
                added = [name for part in messages[-1].parts for name in getattr(part, "tools_added", [])]
                defined = [tool for tool in info.model_request_parameters.function_tools if tool.name in added]
                newest = [messages[-1], *defined] if defined else messages[-1]
                calls = self.says([tool.name for tool in info.function_tools], newest)
                parts = [ToolCallPart(name, arguments, id) for id, name, arguments in calls]
                return ModelResponse(parts=parts or [TextPart(DONE)])

            output: Any = [str, DeferredToolRequests]
            tools, self.fold = [bound(each) for each in tools_of(self.arm)], Toolfold(**self.settings)
            # As the profile of a model of Responses has it.
            profile: Any = {"tool_addition_mode": "with_definitions"} if self.arm == "append" else None
            model = FunctionModel(respond, profile=profile)
            self.agent: Any = Agent(model, tools=tools, capabilities=[self.fold], output_type=output)

        def _went(self, made: Any) -> bool:
            self.state = made.all_messages_json()
            self.asked = made.output.approvals if isinstance(made.output, DeferredToolRequests) else []
            return bool(self.asked)

        def start(self) -> bool:
            return self._went(self.agent.run_sync("go", conversation_id="k"))

        def answer(self, said: bool | dict[str, Any]) -> bool:
            history = ModelMessagesTypeAdapter.validate_json(self.state)
            # Calls that need no decision have ended: their results follow the message.
            said_last = [message for message in history if isinstance(message, ModelResponse)][-1]
            id = next(part.tool_call_id for part in said_last.parts if isinstance(part, ToolCallPart))
            yes = ToolApproved(override_args=said) if isinstance(said, dict) else said
            results = DeferredToolResults(approvals={id: yes})
            return self._went(self.agent.run_sync(message_history=history, deferred_tool_results=results))

        def change(self, arguments: dict[str, Any]) -> None:
            history = json.loads(self.state)
            history[-1]["parts"][-1]["args"] = arguments
            self.state = json.dumps(history).encode()

    return Own


def langchain() -> type[Asking]:
    import sqlite3

    from langchain.agents import create_agent
    from langchain.agents.middleware import HumanInTheLoopMiddleware
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.types import Command

    from toolfold.langchain import Toolfold

    thread: Any = {"configurable": {"thread_id": "t"}}

    class Model(BaseChatModel):
        own: Any
        names: list[str] = []

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self.model_copy(update={"names": [tool.name for tool in tools if not isinstance(tool, dict)]})

        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            calls = self.own.says(self.names, messages[-1].model_dump())
            written: Any = [{"id": id, "name": name, "args": arguments} for id, name, arguments in calls]
            message = AIMessage("", tool_calls=written) if written else AIMessage(DONE)
            return ChatResult(generations=[ChatGeneration(message=message)])

    class Own(Asking):
        native = {"wire": "openai-responses", "model": "gpt-5.4"}
        middleware: Any = []

        def build(self) -> None:
            def bound(function: dict[str, Any]) -> StructuredTool:
                name, about = function["name"], function["description"]
                return StructuredTool(
                    name=name, description=about, args_schema=function["parameters"], func=lambda **k: self.run(name, k)
                )

            file = sqlite3.connect(self.folder / "graph.db", check_same_thread=False)
            self.fold = Toolfold(**self.settings)
            rules = [HumanInTheLoopMiddleware({DELETE[0]: True})] if self.own_rule else []
            self.agent: Any = create_agent(
                Model(own=self),
                [bound(each) for each in tools_of(self.arm)],
                middleware=[*self.middleware, *rules, self.fold],
                checkpointer=SqliteSaver(file),
            )

        def _went(self, what: Any) -> bool:
            made = self.agent.invoke(what, thread)
            self.asked = made.get("__interrupt__", ())
            return bool(self.asked)

        def start(self) -> bool:
            return self._went({"messages": [("user", "go")]})

        def answer(self, said: bool | dict[str, Any]) -> bool:
            if isinstance(said, dict):
                action = {"name": DELETE[0], "args": said}
                return self._went(Command(resume={"decisions": [{"type": "edit", "edited_action": action}]}))
            return self._went(Command(resume=said))

        def change(self, arguments: dict[str, Any]) -> None:
            message = self.agent.get_state(thread).values["messages"][-1]
            calls = [{**call, "args": arguments} for call in message.tool_calls]
            changed = message.model_copy(update={"tool_calls": calls})
            self.agent.update_state(thread, {"messages": [changed]}, as_node="model")

    return Own


def openai_agents() -> type[Asking]:
    from agents import FunctionTool, Model, ModelResponse, Runner, RunState, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from hosts.openai_agents import CONFIG
    from toolfold.openai_agents import FoldedAgent, edit, folding

    class Scripted(Model):
        def __init__(self, own: Asking) -> None:
            self.own = own

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        async def get_response(self, *, input: Any, tools: Any, **_: Any) -> Any:  # type: ignore[override]
            calls = self.own.says([tool.name for tool in tools], input if isinstance(input, str) else input[-1])
            text = ResponseOutputText(text=DONE, type="output_text", annotations=[])
            said: list[Any] = [
                ResponseFunctionToolCall(
                    id=f"f{id}", type="function_call", call_id=id, name=name, arguments=json.dumps(arguments)
                )
                for id, name, arguments in calls
            ]
            if not said:
                own: dict[str, Any] = {"id": "m", "role": "assistant", "status": "completed", "type": "message"}
                said = [ResponseOutputMessage(**own, content=[text])]
            return ModelResponse(output=said, usage=Usage(), response_id=None)

    class Own(Asking):
        native = {"model": "gpt-5.4"}

        def build(self) -> None:
            def bound(function: dict[str, Any]) -> FunctionTool:
                name = function["name"]

                async def invoke(context: Any, arguments: str) -> str:
                    return self.run(name, json.loads(arguments))

                about: dict[str, Any] = {"needs_approval": self.own_rule and name == DELETE[0], "strict_json_schema": False}
                return FunctionTool(name, function["description"], function["parameters"], invoke, **about)

            tools: Any = [bound(each) for each in tools_of(self.arm)]
            own = folding(**self.settings)
            self.agent = FoldedAgent(name="a", tools=tools, model=Scripted(self), folding=own, thread=lambda context: "t")

        def _went(self, given: Any) -> bool:
            made = Runner.run_sync(self.agent, given, run_config=CONFIG, max_turns=20)
            self.state, self.asked = json.dumps(made.to_state().to_json()), made.interruptions
            return bool(self.asked)

        def start(self) -> bool:
            return self._went("go")

        def answer(self, said: bool | dict[str, Any]) -> bool:
            state: Any = asyncio.run(RunState.from_json(self.agent, json.loads(self.state)))
            for asked in state.get_interruptions():
                if isinstance(said, dict):
                    edit(state, asked, said)
                else:
                    state.approve(asked) if said else state.reject(asked)
            return self._went(state)

        def change(self, arguments: dict[str, Any]) -> None:
            # The SDK itself binds its record of a call to the arguments: all of it is changed alike.
            before = json.dumps(json.dumps(self.script[-1][1]))
            assert before in self.state
            self.state = self.state.replace(before, json.dumps(json.dumps(arguments)))

    return Own


def google_adk() -> type[Asking]:
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions.sqlite_session_service import SqliteSessionService
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types

    from hosts.google_adk import SESSION, asked_in
    from toolfold.google_adk import FoldedToolset

    class Model(BaseLlm):
        own: Any

        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            declared = [own for tool in request.config.tools or [] for own in tool.function_declarations or []]
            calls = self.own.says([own.name for own in declared], request.contents[-1].model_dump(mode="json"))
            parts = [
                types.Part(function_call=types.FunctionCall(id=id, name=name, args=arguments))
                for id, name, arguments in calls
            ]
            yield LlmResponse(content=types.Content(role="model", parts=parts or [types.Part(text=DONE)]))

    class Real(BaseTool):
        def __init__(self, own: Asking, function: dict[str, Any]) -> None:
            super().__init__(name=function["name"], description=function["description"])
            self.own, self.schema = own, function["parameters"]

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=self.name, description=self.description, parameters_json_schema=self.schema
            )

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            if self.own.own_rule and self.name == DELETE[0] and not tool_context.tool_confirmation:
                tool_context.request_confirmation(hint="sure?")  # As FunctionTool does for require_confirmation.
                return {"error": "it requires a confirmation"}
            return {"result": self.own.run(self.name, args)}

    class Own(Asking):
        def build(self) -> None:
            tools = FoldedToolset([Real(self, each) for each in tools_of(self.arm)], **self.settings)
            agent = LlmAgent(name="a", model=Model(model="scripted", own=self), tools=[tools])
            sessions = SqliteSessionService(str(self.folder / "sessions.db"))
            self.runner = Runner(app_name="app", agent=agent, session_service=sessions)

        def _went(self, part: types.Part) -> bool:
            async def talk() -> list[Any]:
                message = types.Content(role="user", parts=[part])
                each = self.runner.run_async(user_id="u", session_id="s-1", new_message=message)
                return [event async for event in each]

            return bool(asked_in(asyncio.run(talk())))

        def start(self) -> bool:
            asyncio.run(self.runner.session_service.create_session(**SESSION))
            return self._went(types.Part(text="go"))

        def answer(self, said: bool | dict[str, Any]) -> bool:
            session: Any = asyncio.run(self.runner.session_service.get_session(**SESSION))
            asked = asked_in(session.events)[-1]
            edited = {"payload": said} if isinstance(said, dict) else {}
            response = {"confirmed": bool(said), **edited}
            own = types.FunctionResponse(id=asked.id, name=asked.name, response=response)
            return self._went(types.Part(function_response=own))

        def change(self, arguments: dict[str, Any]) -> None:
            import sqlite3

            with sqlite3.connect(self.folder / "sessions.db") as file:
                old, new = json.dumps(self.script[-1][1])[1:-1], json.dumps(arguments)[1:-1]
                for data in (old, old.replace(": ", ":").replace(", ", ",")):
                    file.execute("UPDATE events SET event_data = REPLACE(event_data, ?, ?)", (data, new))

    return Own


def agent_framework() -> type[Asking]:
    from agent_framework import (
        Agent,
        AgentSession,
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
                said = [
                    Content.from_function_call(id, name, arguments=json.dumps(arguments))
                    for id, name, arguments in self.own.says(names, messages[-1].to_dict())
                ]
                return ChatResponse(messages=[Message(role="assistant", contents=said or [Content.from_text(DONE)])])

            return respond()

    class Own(Asking):
        def build(self) -> None:
            def bound(function: dict[str, Any]) -> FunctionTool:
                name, about = function["name"], function["description"]

                async def run(**arguments: Any) -> str:
                    return self.run(name, arguments)

                asks: Any = "always_require" if self.own_rule and name == DELETE[0] else "never_require"
                schema = function["parameters"]
                return FunctionTool(name=name, description=about, input_model=schema, func=run, approval_mode=asks)

            folded, client = fold([bound(each) for each in tools_of(self.arm)], **self.settings), Scripted()
            self.folded = folded
            client.own = self
            self.agent: Any = Agent(client=client, tools=folded.tools, middleware=folded.middleware)

        def _went(self, what: Any, session: Any) -> bool:
            made = asyncio.run(self.agent.run(what, session=session))
            self.asked = list(made.user_input_requests)
            asked = [one.to_dict() for one in self.asked]
            self.state = json.dumps({"session": session.to_dict(), "asked": asked or json.loads(self.state or "{}").get("asked")})
            return bool(self.asked)

        def start(self) -> bool:
            return self._went("go", self.agent.create_session())

        def answer(self, said: bool | dict[str, Any]) -> bool:
            stored = json.loads(self.state)
            asked = Content.from_dict(stored["asked"][0])
            session = AgentSession.from_dict(stored["session"])
            edited = isinstance(said, dict)
            own = self.folded.edit(asked, said, session) if edited else asked.to_function_approval_response(approved=said)
            return self._went([Message(role="user", contents=[own])], session)

        def change(self, arguments: dict[str, Any]) -> None:
            stored = json.loads(self.state)
            for request in [*stored["asked"], *_requests(stored["session"])]:
                call = request["function_call"]
                inner = {"name": DELETE[0], "arguments": arguments}
                call["arguments"] = json.dumps(inner if call["name"] == "call_tool" else arguments)
            self.state = json.dumps(stored)

    return Own


def _requests(value: Any) -> list[dict[str, Any]]:
    """The requests for an approval in a stored session."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    found = [value] if isinstance(value, dict) and value.get("type") == "function_approval_request" else []
    return [*found, *(one for each in inside for one in _requests(each))]
