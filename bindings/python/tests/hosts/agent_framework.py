"""Microsoft's agent-framework: its own chat client, and its session in a file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

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
from dialogue import DONE, Dialogue, settings
from workbook import FUNCTIONS, Workbook

from toolfold.agent_framework import fold


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc]
    def __init__(self, dialogue: Dialogue) -> None:
        super().__init__()
        self.dialogue = dialogue

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **more: Any) -> Any:
        async def respond() -> ChatResponse:
            array = [(tool.name, tool.description, tool.parameters()) for tool in options["tools"]]
            call, said = self.dialogue.turn(array, messages[-1].to_dict()), Content.from_text(DONE)
            if call:
                id, name, arguments = call
                said = Content.from_function_call(id, name, arguments=json.dumps(arguments))
            return ChatResponse(messages=[Message(role="assistant", contents=[said])])

        return respond()


def tools_of(book: Workbook) -> list[FunctionTool]:
    def bound(function: dict[str, Any]) -> FunctionTool:
        name, description = function["name"], function["description"]

        async def run(**arguments: Any) -> str:
            return book.run(name, arguments)

        return FunctionTool(name=name, description=description, input_model=function["parameters"], func=run)

    return [bound(function) for function in FUNCTIONS]


def agent(dialogue: Dialogue, store: Path | None = None, arm: str = "lean") -> Agent[Any]:
    folded = fold(tools_of(dialogue.book), **settings(arm), approvals=store)
    return Agent(client=Scripted(dialogue), tools=folded.tools, middleware=folded.middleware)


class Host:
    def __init__(self, dialogue: Dialogue, folder: Path, store: Path) -> None:
        self._state, self._agent = folder / "session.json", agent(dialogue, store)

    def ask(self) -> None:
        session = self._agent.create_session()
        made = asyncio.run(self._agent.run("go", session=session))
        (asked,) = made.user_input_requests
        self._store(session, asked.to_dict())

    def answer(self, approval: str, yes: bool) -> str:
        stored = json.loads(self._state.read_text())
        session, asked = AgentSession.from_dict(stored["session"]), Content.from_dict(stored["asked"])
        said = Message(role="user", contents=[asked.to_function_approval_response(approved=yes)])
        made = asyncio.run(self._agent.run([said], session=session))
        self._store(session, stored["asked"])
        return made.text

    def _store(self, session: AgentSession, asked: dict[str, Any]) -> None:
        self._state.write_text(json.dumps({"session": session.to_dict(), "asked": asked}))
