"""The agent of ``asking`` under LangChain."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Annotated, Any

from hosts.asking import DELETE, DONE, RENAME, Asking, Sheets, tools_of
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain.tools import InjectedState, ToolRuntime
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from toolfold.langchain import Toolfold
from toolfold.testing import INJECTED, OUTPUT, PARTS, Script

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Model(BaseChatModel):
    own: Any
    names: list[str] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self.model_copy(update={"names": [tool.name for tool in tools if not isinstance(tool, dict)]})

    def _said(self, messages: list[Any]) -> list[Any]:
        calls = self.own.says([name for name in self.names if name != "Sheets"], messages[-1].model_dump())
        if not calls and "Sheets" in self.names:
            calls = [("last", "Sheets", OUTPUT)]
        return [{"id": id, "name": name, "args": arguments} for id, name, arguments in calls]

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        written = self._said(messages)
        message = AIMessage("", tool_calls=written) if written else AIMessage(DONE)
        return ChatResult(generations=[ChatGeneration(message=message)])


class Streamed(Model):
    def _stream(self, messages: list[Any], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        written = self._said(messages)
        chunks = [AIMessageChunk("", tool_calls=written)] if written else [AIMessageChunk(part) for part in PARTS]
        for chunk in chunks:
            yield ChatGenerationChunk(message=chunk)


class Hooks(AgentMiddleware):
    def __init__(self, own: Asking) -> None:
        self.own = own

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.own.hooked.append(request.tool_call["name"])
        return handler(request)


class Changes(AgentMiddleware):
    def __init__(self, own: Asking) -> None:
        self.own = own

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        offered = self.own.offered()
        return handler(request.override(tools=[tool for tool in request.tools if offered or tool.name != RENAME]))


class Trims(AgentMiddleware):
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        started = [at for at, message in enumerate(request.messages) if message.type == "human"]
        return handler(request.override(messages=request.messages[started[-1] :]))


class Own(Asking):
    native = {"wire": "openai-responses", "model": "gpt-5.4"}
    middleware: Any = []
    model: Any = Model

    def build(self) -> None:
        injects, ends, nested = self.wants("injected"), self.wants("ends"), self.wants("nested")

        def bound(function: dict[str, Any]) -> StructuredTool:
            name, about = function["name"], function["description"]
            if name == RENAME and injects:
                return StructuredTool.from_function(rename_sheet, description=about)
            shown: Any = {"description": about, "args_schema": function["parameters"]}
            last = ends and name == RENAME
            return StructuredTool(name=name, **shown, func=lambda **k: self.run(name, k), return_direct=last)

        def rename_sheet(
            file_path: str, old_name: str, new_name: str, runtime: ToolRuntime, state: Annotated[Any, InjectedState]
        ) -> str:
            assert state["messages"][0].content == "go"
            return self.renamed(runtime.context["user"], file_path, old_name, new_name)

        self.fold, saver = Toolfold(**self.settings), SqliteSaver(
            sqlite3.connect(self.folder / "graph.db", check_same_thread=False)
        )
        rules: list[Any] = [HumanInTheLoopMiddleware({DELETE[0]: True})] if self.wants("own_rule") else []
        rules += [Hooks(self)] if self.wants("hooks") else []
        rules += [Changes(self)] if self.wants("changes") else []
        rules += [Trims()] if self.wants("trims") else []
        self.given: Any = {"context": {"user": INJECTED}} if injects else {}
        more: Any = {"context_schema": dict} if injects else {}
        more |= {"response_format": ToolStrategy(Sheets)} if self.wants("output") else {}
        self.agent: Any = create_agent(
            self.model(own=self),
            [bound(each) for each in tools_of(self.arm)],
            middleware=[*self.middleware, *rules, self.fold],
            checkpointer=None if nested else saver,
            **more,
        )
        if nested:
            inner = self.agent

            def ask(text: str) -> str:
                """Runs the nested agent."""
                return str(inner.invoke({"messages": [("user", text)]})["messages"][-1].content)

            outer = self.model(own=Script([("ask", {"text": "x"})]))
            self.agent = create_agent(outer, [StructuredTool.from_function(ask)], checkpointer=saver)

    def _went(self, what: Any) -> bool:
        made = self.agent.invoke(what, THREAD, **self.given)
        self.asked, self.output = made.get("__interrupt__", ()), made.get("structured_response")
        if isinstance(self.output, Sheets):
            self.output = self.output.model_dump()
        return bool(self.asked)

    def start(self) -> bool:
        return self._went({"messages": [("user", "go")]})

    def again(self) -> bool:
        return self._went({"messages": [("user", "go on")]})

    def stream(self) -> bool:
        self.model = Streamed
        self.build()
        for message, _ in self.agent.stream({"messages": [("user", "go")]}, THREAD, stream_mode="messages"):
            if isinstance(message, AIMessageChunk) and message.content:
                self.heard.append(message.content)
        self.asked = self.agent.get_state(THREAD).interrupts
        return bool(self.asked)

    def answer(self, said: bool | dict[str, Any]) -> bool:
        if isinstance(said, dict):
            action = {"name": DELETE[0], "args": said}
            return self._went(Command(resume={"decisions": [{"type": "edit", "edited_action": action}]}))
        return self._went(Command(resume=said))

    def change(self, arguments: dict[str, Any]) -> None:
        message = self.agent.get_state(THREAD).values["messages"][-1]
        calls = [{**call, "args": arguments} for call in message.tool_calls]
        changed = message.model_copy(update={"tool_calls": calls})
        self.agent.update_state(THREAD, {"messages": [changed]}, as_node="model")
