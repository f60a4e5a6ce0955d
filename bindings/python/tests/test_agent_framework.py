"""The adapter of agent-framework, on a chat client of the framework that says what a script says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import ten_turns
from ten_turns import SCRIPT, Book

pytest.importorskip("agent_framework")

from agent_framework import (  # noqa: E402
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
)
from toolfold import InputError  # noqa: E402
from toolfold.agent_framework import fold  # noqa: E402


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc]
    def __init__(self, book: Book) -> None:
        super().__init__()
        self.book = book

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **more: Any) -> Any:
        async def respond() -> ChatResponse:
            self.book.sent([(tool.name, tool.description, tool.parameters()) for tool in options["tools"]])
            at = len(self.book.arrays) - 1
            said: list[Any] = ["ok"]
            if at < len(SCRIPT):
                name, arguments = SCRIPT[at]
                said = [Content.from_function_call(f"c{at}", name, arguments=json.dumps(arguments))]
            return ChatResponse(messages=[Message(role="assistant", contents=said)])

        return respond()


def tools(book: Book) -> list[FunctionTool]:
    def made(spec: dict[str, Any]) -> FunctionTool:
        async def run(**arguments: Any) -> str:
            return book.run(spec["name"], arguments)

        return FunctionTool(
            name=spec["name"], description=spec["description"], input_model=spec["parameters"], func=run
        )

    return [made(spec) for spec in ten_turns.specs()]


async def talk(book: Book, answer: bool, **settings: Any) -> None:
    def agent() -> Agent[Any]:
        folded = fold(tools(book), **settings)
        return Agent(client=Scripted(book), tools=folded.tools, middleware=folded.middleware)

    own = agent()
    session = own.create_session()
    first = await own.run("Go.", session=session)
    ten_turns.check_before_the_answer(book)
    said = [request.to_function_approval_response(approved=answer) for request in first.user_input_requests]
    assert len(said) == 1
    if "approvals" in settings:
        own = agent()
    await own.run([Message(role="user", contents=said)], session=session)


@pytest.mark.parametrize("arm", ten_turns.ARMS)
def test_ten_turns(arm: str, tmp_path: Path) -> None:
    book = Book(tmp_path)
    asyncio.run(talk(book, True, **ten_turns.settings(arm)))
    ten_turns.check_after(book)


def test_an_approval_is_taken_up_by_another_agent(tmp_path: Path) -> None:
    book = Book(tmp_path)
    asyncio.run(talk(book, True, **ten_turns.settings("lean"), approvals=tmp_path / "approvals.db"))
    ten_turns.check_after(book)


def test_a_no_never_runs(tmp_path: Path) -> None:
    book = Book(tmp_path)
    asyncio.run(talk(book, False, **ten_turns.settings("lean")))
    ten_turns.check_before_the_answer(book)


def test_an_arm_that_grows_the_array_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="arm seed"):
        fold(tools(Book(tmp_path)), arm="seed", profile=ten_turns.PROFILE)


def test_tools_without_the_middleware_do_not_run(tmp_path: Path) -> None:
    book = Book(tmp_path)
    folded = fold(tools(book), **ten_turns.settings("lean"))
    agent: Agent[Any] = Agent(client=Scripted(book), tools=folded.tools)
    asyncio.run(agent.run("Go."))
    assert book.ran == []
