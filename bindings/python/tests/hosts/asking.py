"""One agent under each framework that is asked about a call, for tables of tests: what was asked, what ran, what was answered.

A scripted model makes each call of its script in one request of its own, through ``call_tool`` where the tool is not in the
array. The state that a framework stores is in ``state``, as what another process would read.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from workbook import FUNCTIONS, POLICY, TOOLS

from toolfold import Approval, Approver

SEVEN = ["agent_framework", "anthropic", "google_adk", "langchain", "openai", "openai_agents", "pydantic_ai"]
ARMS = ["full", "lean", "stable", "index", "auto"]
DELETE = ("delete_sheet", {"file_path": "q.xlsx", "sheet_name": "S", "confirm": True})
OTHER = ("delete_file", {"file_path": "q.xlsx", "confirm": True})
DONE = "done"
#: Enough other tools for arm ``auto`` to take ``index`` on the wires of OpenAI.
COPIES = 85


def tools_of(arm: str) -> list[dict[str, Any]]:
    """The tools of the tests; for arm ``auto`` with as many others as make it fold all it can."""
    more = [{**FUNCTIONS[at % len(FUNCTIONS)], "name": f"other_{at}"} for at in range(COPIES if arm == "auto" else 0)]
    return [*FUNCTIONS, *more]


class Asking:
    """An agent, its model and its person."""

    #: Where the person's interface of the framework has no way to change arguments.
    no_edit = ""
    #: Whether the person is asked within ``answer``, about the arguments as they are then.
    asks_in_answer = False
    #: The arms that the framework cannot carry.
    refused: tuple[str, ...] = ()

    def __init__(self, script: list[tuple[str, dict[str, Any]]], arm: str, folder: Path, **more: Any) -> None:
        self.script, self.arm, self.folder = script, arm, folder
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.shown: list[list[str]] = []
        self.read: list[str] = []
        self.state: Any = None
        self.store = folder / "approvals.db"
        self.settings = {"arm": arm, "policy": POLICY, "approvals": self.store, **more}
        self.build()

    def build(self) -> None:
        """Makes the agent's objects."""

    def restarted(self) -> Asking:
        """The same agent in another process: new objects, the stored state and the file of approvals."""
        other = type(self)(self.script, self.arm, self.folder)
        other.state, other.ran, other.read, other.shown = self.state, self.ran, self.read, self.shown
        return other

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        self.ran.append((name, arguments))
        return f"{name} ran"

    def says(self, names: list[str], newest: Any) -> tuple[str, str, dict[str, Any]] | None:
        """The model's next call: its id, name and arguments."""
        self.shown.append(names)
        self.read.append(json.dumps(newest, default=str))
        at = len(self.read) - 1
        if at >= len(self.script):
            return None
        name, arguments = self.script[at]
        own = name in names or name == "expand_tools"
        return (f"c{at}", name, arguments) if own else (f"c{at}", "call_tool", {"name": name, "arguments": arguments})

    def approvals(self) -> list[Approval]:
        """Every approval that was ever asked for, in order."""
        approver, found = Approver(self.store), []
        while True:
            try:
                found.append(approver.get(f"ap-{len(found) + 1}"))
            except Exception:
                return found

    def states(self) -> list[str]:
        return [one.state for one in self.approvals()]

    def start(self) -> bool:
        """Runs until the model has ended, or a person is asked: then True."""
        raise NotImplementedError

    def answer(self, said: bool | dict[str, Any]) -> bool:
        """Answers what was asked with a yes, a no or other arguments, and runs on. True if a person is asked again."""
        raise NotImplementedError

    def change(self, arguments: dict[str, Any]) -> None:
        """Changes the arguments of the waiting call where the framework stores it."""
        raise NotImplementedError


def asking(framework: str) -> type[Asking]:
    """The agent of a framework."""
    made: type[Asking] = globals()[f"_{framework}"]()
    return made


def _pydantic_ai() -> type[Asking]:
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool, ToolApproved
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from toolfold.pydantic_ai import Toolfold

    class Own(Asking):
        def build(self) -> None:
            def bound(function: dict[str, Any]) -> Any:
                name, about = function["name"], function["description"]
                schema = function["parameters"]
                return Tool.from_schema(lambda **k: self.run(name, k), name=name, description=about, json_schema=schema)

            def respond(messages: Any, info: Any) -> ModelResponse:
                call = self.says([tool.name for tool in info.function_tools], messages[-1])
                return ModelResponse(parts=[ToolCallPart(call[1], call[2], call[0]) if call else TextPart(DONE)])

            output: Any = [str, DeferredToolRequests]
            tools, self.fold = [bound(each) for each in tools_of(self.arm)], Toolfold(**self.settings)
            self.agent: Any = Agent(FunctionModel(respond), tools=tools, capabilities=[self.fold], output_type=output)

        def _went(self, made: Any) -> bool:
            self.state = made.all_messages_json()
            self.asked = made.output.approvals if isinstance(made.output, DeferredToolRequests) else []
            return bool(self.asked)

        def start(self) -> bool:
            return self._went(self.agent.run_sync("go", conversation_id="k"))

        def answer(self, said: bool | dict[str, Any]) -> bool:
            history = ModelMessagesTypeAdapter.validate_json(self.state)
            id = next(part.tool_call_id for part in history[-1].parts if isinstance(part, ToolCallPart))
            yes = ToolApproved(override_args=said) if isinstance(said, dict) else said
            results = DeferredToolResults(approvals={id: yes})
            return self._went(self.agent.run_sync(message_history=history, deferred_tool_results=results))

        def change(self, arguments: dict[str, Any]) -> None:
            history = json.loads(self.state)
            history[-1]["parts"][-1]["args"] = arguments
            self.state = json.dumps(history).encode()

    return Own


def _langchain() -> type[Asking]:
    import sqlite3

    from langchain.agents import create_agent
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
            return self.model_copy(update={"names": [tool.name for tool in tools]})

        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            call, message = self.own.says(self.names, messages[-1].model_dump()), AIMessage(DONE)
            if call:
                message = AIMessage("", tool_calls=[{"id": call[0], "name": call[1], "args": call[2]}])
            return ChatResult(generations=[ChatGeneration(message=message)])

    class Own(Asking):
        middleware: Any = []

        def build(self) -> None:
            def bound(function: dict[str, Any]) -> StructuredTool:
                name, about = function["name"], function["description"]
                return StructuredTool(
                    name=name, description=about, args_schema=function["parameters"], func=lambda **k: self.run(name, k)
                )

            file = sqlite3.connect(self.folder / "graph.db", check_same_thread=False)
            self.fold = Toolfold(**self.settings)
            self.agent: Any = create_agent(
                Model(own=self),
                [bound(each) for each in tools_of(self.arm)],
                middleware=[*self.middleware, self.fold],
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


def _openai_agents() -> type[Asking]:
    from agents import FunctionTool, Model, ModelResponse, Runner, RunState, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from hosts.openai_agents import CONFIG
    from toolfold.openai_agents import FoldedAgent, folding

    class Scripted(Model):
        def __init__(self, own: Asking) -> None:
            self.own = own

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        async def get_response(self, *, input: Any, tools: Any, **_: Any) -> Any:  # type: ignore[override]
            call = self.own.says([tool.name for tool in tools], input if isinstance(input, str) else input[-1])
            text = ResponseOutputText(text=DONE, type="output_text", annotations=[])
            said: Any = ResponseOutputMessage(
                id="m", role="assistant", status="completed", type="message", content=[text]
            )
            if call:
                own: dict[str, Any] = {"call_id": call[0], "name": call[1], "arguments": json.dumps(call[2])}
                said = ResponseFunctionToolCall(id=f"f{call[0]}", type="function_call", **own)
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

    class Own(Asking):
        no_edit = "RunState.approve has no arguments"

        def build(self) -> None:
            def bound(function: dict[str, Any]) -> FunctionTool:
                name = function["name"]

                async def invoke(context: Any, arguments: str) -> str:
                    return self.run(name, json.loads(arguments))

                return FunctionTool(name, function["description"], function["parameters"], invoke, strict_json_schema=False)

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
                state.approve(asked) if said else state.reject(asked)
            return self._went(state)

        def change(self, arguments: dict[str, Any]) -> None:
            # The SDK itself binds its record of a call to the arguments: all of it is changed alike.
            before = json.dumps(json.dumps(self.script[-1][1]))
            assert before in self.state
            self.state = self.state.replace(before, json.dumps(json.dumps(arguments)))

    return Own


def _google_adk() -> type[Asking]:
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
            call = self.own.says([own.name for own in declared], request.contents[-1].model_dump(mode="json"))
            part = types.Part(text=DONE)
            if call:
                part = types.Part(function_call=types.FunctionCall(id=call[0], name=call[1], args=call[2]))
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    class Real(BaseTool):
        def __init__(self, own: Asking, function: dict[str, Any]) -> None:
            super().__init__(name=function["name"], description=function["description"])
            self.own, self.schema = own, function["parameters"]

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=self.name, description=self.description, parameters_json_schema=self.schema
            )

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            return {"result": self.own.run(self.name, args)}

    class Own(Asking):
        no_edit = "a confirmation has no arguments"
        refused = ("index",)

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
            own = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": said})
            return self._went(types.Part(function_response=own))

        def change(self, arguments: dict[str, Any]) -> None:
            import sqlite3

            with sqlite3.connect(self.folder / "sessions.db") as file:
                old, new = json.dumps(self.script[-1][1])[1:-1], json.dumps(arguments)[1:-1]
                for data in (old, old.replace(": ", ":").replace(", ", ",")):
                    file.execute("UPDATE events SET event_data = REPLACE(event_data, ?, ?)", (data, new))

    return Own


def _agent_framework() -> type[Asking]:
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
                call, said = self.own.says(names, messages[-1].to_dict()), Content.from_text(DONE)
                if call:
                    said = Content.from_function_call(call[0], call[1], arguments=json.dumps(call[2]))
                return ChatResponse(messages=[Message(role="assistant", contents=[said])])

            return respond()

    class Own(Asking):
        no_edit = "the framework binds an answer to the arguments of its request"

        def build(self) -> None:
            def bound(function: dict[str, Any]) -> FunctionTool:
                name, about = function["name"], function["description"]

                async def run(**arguments: Any) -> str:
                    return self.run(name, arguments)

                return FunctionTool(name=name, description=about, input_model=function["parameters"], func=run)

            folded, client = fold([bound(each) for each in tools_of(self.arm)], **self.settings), Scripted()
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
            own = Message(role="user", contents=[asked.to_function_approval_response(approved=bool(said))])
            return self._went([own], AgentSession.from_dict(stored["session"]))

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


class _Raw(Asking):
    """The loops of the two SDKs: the person is a callback, which ends the process here."""

    no_edit = "the callback answers with yes or no"
    asks_in_answer = True
    wire = ""

    class Asked(Exception):
        pass

    def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
        raise NotImplementedError

    def _went(self, messages: list[Any], said: bool | None) -> bool:
        import toolfold

        approver = Approver(self.store)
        settings: Any = {**self.settings, "approvals": approver}
        wrapped = [{"type": "function", "function": each} for each in tools_of(self.arm)]
        model = "claude-sonnet-4-6" if self.wire == "anthropic" else "gpt-5.4"
        engine = toolfold.Engine(wrapped if self.arm == "auto" else TOOLS, **settings)
        conversation = engine.conversation(self.wire, model, "c-1", history=messages)
        answers = [] if said is None else [said]

        def ask(waiting: toolfold.Confirm) -> bool:
            if not answers:
                raise self.Asked
            return answers.pop()

        try:
            self.loop(conversation, messages, ask=ask, approver=approver)
        except self.Asked:
            return True
        finally:
            self.state = json.dumps(messages)
        return False

    def start(self) -> bool:
        return self._went([{"role": "user", "content": "go"}], None)

    def answer(self, said: bool | dict[str, Any]) -> bool:
        return self._went(json.loads(self.state), bool(said))


def _openai() -> type[Asking]:
    import httpx
    import openai

    from toolfold.openai import chat

    class Own(_Raw):
        wire = "openai-chat"

        def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
            def serve(request: Any) -> Any:
                body = json.loads(request.content)
                call = self.says([tool["function"]["name"] for tool in body["tools"]], body["messages"][-1])
                said: dict[str, Any] = {"role": "assistant", "content": DONE}
                if call:
                    function = {"name": call[1], "arguments": json.dumps(call[2])}
                    said = {"role": "assistant", "content": None, "tool_calls": [{"id": call[0], "type": "function", "function": function}]}
                choice = {"index": 0, "finish_reason": "stop", "message": said}
                fixed = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
                return httpx.Response(200, json={**fixed, "choices": [choice]})

            http = httpx.Client(transport=httpx.MockTransport(serve))
            client = openai.OpenAI(api_key="x", base_url="http://127.0.0.1:9/v1", http_client=http)
            return chat(client, conversation, messages, self.run, **asking)

        def change(self, arguments: dict[str, Any]) -> None:
            history = json.loads(self.state)
            function = history[-1]["tool_calls"][0]["function"]
            inner = {"name": DELETE[0], "arguments": arguments}
            function["arguments"] = json.dumps(inner if function["name"] == "call_tool" else arguments)
            self.state = json.dumps(history)

    return Own


def _anthropic() -> type[Asking]:
    import anthropic
    import httpx2

    from toolfold.anthropic import chat

    class Own(_Raw):
        wire = "anthropic"

        def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
            def serve(request: Any) -> Any:
                body = json.loads(request.content)
                call = self.says([tool["name"] for tool in body["tools"]], body["messages"][-1])
                block: dict[str, Any] = {"type": "text", "text": DONE}
                if call:
                    block = {"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]}
                fixed = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
                usage, stop = {"input_tokens": 1, "output_tokens": 1}, "tool_use" if call else "end_turn"
                return httpx2.Response(200, json={**fixed, "content": [block], "stop_reason": stop, "usage": usage})

            http = httpx2.Client(transport=httpx2.MockTransport(serve))
            client = anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1", http_client=http)
            return chat(client, conversation, messages, self.run, max_tokens=100, **asking)

        def change(self, arguments: dict[str, Any]) -> None:
            history = json.loads(self.state)
            block = history[-1]["content"][0]
            block["input"] = {"name": DELETE[0], "arguments": arguments} if block["name"] == "call_tool" else arguments
            self.state = json.dumps(history)

    return Own
