"""Google's ADK: its own model class, and its sessions in a SQLite file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from dialogue import DONE, Dialogue, settings
from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.base_tool import BaseTool
from google.genai import types
from workbook import FUNCTIONS, Workbook

from toolfold.google_adk import FoldedToolset

SESSION: Any = {"app_name": "app", "user_id": "u", "session_id": "s-1"}


class Scripted(BaseLlm):
    dialogue: Any

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        declared = [own for tool in llm_request.config.tools for own in tool.function_declarations]
        array = [(own.name, own.description, own.parameters_json_schema) for own in declared]
        call = self.dialogue.turn(array, llm_request.contents[-1].model_dump(mode="json"))
        part = types.Part(text=DONE)
        if call:
            part = types.Part(function_call=types.FunctionCall(id=call[0], name=call[1], args=call[2]))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class Real(BaseTool):
    def __init__(self, function: dict[str, Any], book: Workbook) -> None:
        super().__init__(name=function["name"], description=function["description"])
        self.schema, self.book = function["parameters"], book

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        return {"result": self.book.run(self.name, args)}


def runner(dialogue: Dialogue, sessions: Any, store: Path | None = None, arm: str = "lean") -> Runner:
    tools = FoldedToolset([Real(each, dialogue.book) for each in FUNCTIONS], **settings(arm), approvals=store)
    agent = LlmAgent(name="a", model=Scripted(model="scripted", dialogue=dialogue), tools=[tools])
    return Runner(app_name="app", agent=agent, session_service=sessions)


def asked_in(events: list[Any]) -> list[Any]:
    """ADK's own calls that ask for a confirmation."""
    parts = [part for event in events if event.content for part in event.content.parts or []]
    calls = [part.function_call for part in parts if part.function_call]
    return [call for call in calls if call.name == "adk_request_confirmation"]


async def say(own: Runner, part: types.Part) -> list[Any]:
    message = types.Content(role="user", parts=[part])
    return [event async for event in own.run_async(user_id="u", session_id="s-1", new_message=message)]


async def reply(own: Runner, asked: Any, yes: bool) -> list[Any]:
    said = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": yes})
    return await say(own, types.Part(function_response=said))


class Host:
    def __init__(self, dialogue: Dialogue, folder: Path, store: Path) -> None:
        self._dialogue, self._store, self._file = dialogue, store, str(folder / "sessions.db")

    def _runner(self) -> Runner:
        return runner(self._dialogue, SqliteSessionService(self._file), self._store)

    def ask(self) -> None:
        async def talk() -> None:
            own = self._runner()
            await own.session_service.create_session(**SESSION)
            assert len(asked_in(await say(own, types.Part(text="go")))) == 1

        asyncio.run(talk())

    def answer(self, approval: str, yes: bool) -> str:
        async def talk() -> str:
            own = self._runner()
            session = await own.session_service.get_session(**SESSION)
            events = await reply(own, asked_in(session.events)[-1], yes)
            texts = [part.text for event in events if event.content for part in event.content.parts if part.text]
            # The framework ignores an answer that it already has.
            return " ".join(texts) if events else "no event"

        return asyncio.run(talk())
