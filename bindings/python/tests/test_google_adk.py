"""The adapter of Google's ADK, on a model class of the framework that says what a script says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import ten_turns
from ten_turns import SCRIPT, Book

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.models.base_llm import BaseLlm  # noqa: E402
from google.adk.models.llm_response import LlmResponse  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.adk.tools.base_tool import BaseTool  # noqa: E402
from google.genai import types  # noqa: E402
from toolfold.google_adk import FoldedToolset  # noqa: E402


class Scripted(BaseLlm):
    book: Any

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        declared = [own for tool in llm_request.config.tools for own in tool.function_declarations]
        self.book.sent([(own.name, own.description, own.parameters_json_schema) for own in declared])
        at = len(self.book.arrays) - 1
        part = types.Part(text="ok")
        # The framework does not know the name that no tool has, and ends the run: that is its own matter.
        script = [step for step in SCRIPT if step[0] != "rename_everything"]
        if at < len(script):
            part = types.Part(function_call=types.FunctionCall(name=script[at][0], args=script[at][1]))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class Real(BaseTool):
    def __init__(self, spec: dict[str, Any], book: Book) -> None:
        super().__init__(name=spec["name"], description=spec["description"])
        self.spec, self.book = spec, book

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.spec["parameters"]
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        return {"result": self.book.run(self.name, args)}


async def talk(book: Book, answer: bool, **settings: Any) -> None:
    """One session; a person answers what is asked."""

    def runner() -> InMemoryRunner:
        tools = [Real(spec, book) for spec in ten_turns.specs()]
        agent = LlmAgent(name="a", model=Scripted(model="scripted", book=book), tools=[FoldedToolset(tools, **settings)])
        return InMemoryRunner(agent=agent, app_name="app")

    own = runner()
    session = await own.session_service.create_session(app_name="app", user_id="u")

    async def say(part: types.Part) -> list[Any]:
        asked = []
        message = types.Content(role="user", parts=[part])
        async for event in own.run_async(user_id="u", session_id=session.id, new_message=message):
            for part in (event.content.parts or []) if event.content else []:
                if part.function_call and part.function_call.name == "adk_request_confirmation":
                    asked.append(part.function_call)
        return asked

    (asked,) = await say(types.Part(text="Go."))
    ten_turns.check_before_the_answer(book)
    if "approvals" in settings:
        # A process that starts anew has the stored session, and nothing else.
        sessions, own = own.session_service, runner()
        own.session_service = sessions
    said = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": answer})
    assert await say(types.Part(function_response=said)) == []


@pytest.mark.parametrize("arm", ten_turns.ARMS)
def test_ten_turns(arm: str, tmp_path: Path) -> None:
    book = Book(tmp_path)
    asyncio.run(talk(book, True, **ten_turns.settings(arm)))
    ten_turns.check_after(book, requests=len(SCRIPT))


def test_an_approval_outlives_the_process(tmp_path: Path) -> None:
    book = Book(tmp_path)
    asyncio.run(talk(book, True, **ten_turns.settings("lean"), approvals=tmp_path / "approvals.db"))
    ten_turns.check_after(book, requests=len(SCRIPT))


def test_a_no_never_runs(tmp_path: Path) -> None:
    book = Book(tmp_path)
    asyncio.run(talk(book, False, **ten_turns.settings("lean")))
    ten_turns.check_before_the_answer(book)


def test_functions_and_toolsets_fold_too(tmp_path: Path) -> None:
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    inner = FoldedToolset([add], arm="full")
    names = [tool.name for tool in asyncio.run(FoldedToolset([inner], arm="full").get_tools())]
    assert names == ["add"]
