"""LangChain's create_agent on LangGraph, whose checkpoints are in a file of SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import toolfold.langchain
from dialogue import DONE, Dialogue, settings
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.types import Command
from workbook import FUNCTIONS, Workbook

from toolfold.langchain import Toolfold

THREAD: Any = {"configurable": {"thread_id": "t-1"}}
GO: Any = {"messages": [("user", "go")]}


class Scripted(BaseChatModel):
    dialogue: Any
    tools: list[Any] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self.model_copy(update={"tools": [convert_to_openai_tool(tool) for tool in tools]})

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        message, call = AIMessage(DONE), self.dialogue.turn(self.tools, messages[-1].model_dump())
        if call:
            id, name, arguments = call
            message = AIMessage("", tool_calls=[{"id": id, "name": name, "args": arguments}])
        return ChatResult(generations=[ChatGeneration(message=message)])


def tools_of(book: Workbook) -> list[Any]:
    def bound(function: dict[str, Any]) -> StructuredTool:
        name = function["name"]
        shown = {"description": function["description"], "args_schema": function["parameters"]}
        return StructuredTool(name=name, **shown, func=lambda **k: book.run(name, k))

    return [bound(function) for function in FUNCTIONS]


def agent(dialogue: Dialogue, saver: Any, store: Path | None = None, arm: str = "lean") -> Any:
    fold = Toolfold(**settings(arm), approvals=store)
    model, tools = Scripted(dialogue=dialogue), tools_of(dialogue.book)
    return create_agent(model, tools=tools, middleware=[fold], checkpointer=saver)


class Host:
    def __init__(self, dialogue: Dialogue, folder: Path, store: Path) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver

        connection = sqlite3.connect(folder / "checkpoints.db", check_same_thread=False)
        self._graph = agent(dialogue, SqliteSaver(connection), store)

    def ask(self) -> None:
        assert "__interrupt__" in self._graph.invoke(GO, THREAD, durability="sync")

    def answer(self, approval: str, yes: bool) -> str:
        if not self._graph.get_state(THREAD).interrupts:
            # Its process died before the request was stored: the graph continues from its last checkpoint.
            self._graph.invoke(None, THREAD, durability="sync")
        made = self._graph.invoke(Command(resume=yes), THREAD, durability="sync")
        return str(made["messages"][-1].content)

    @staticmethod
    def on_question(act: Any) -> None:
        """Does something when a question is in the store of approvals and not yet among the checkpoints."""
        toolfold.langchain.interrupt = lambda value: act()
