"""The adapter of the MCP SDK: an agent's session, and a server before a server, in both lifecycles of the protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import ten_turns
from ten_turns import SCRIPT, Book

pytest.importorskip("mcp")

from mcp import Client, types  # noqa: E402
from mcp.server import Server  # noqa: E402
from toolfold import Confirm  # noqa: E402
from toolfold.mcp import FoldedSession, folded_server  # noqa: E402


def real(book: Book) -> Server[Any]:
    async def listed(context: Any, params: Any) -> types.ListToolsResult:
        # In pages, as a server with many tools answers.
        every, start = ten_turns.specs(), int(params.cursor) if params and params.cursor else 0
        page = [
            types.Tool(name=spec["name"], description=spec["description"], input_schema=spec["parameters"])
            for spec in every[start : start + 20]
        ]
        more = str(start + 20) if start + 20 < len(every) else None
        return types.ListToolsResult(tools=page, next_cursor=more)

    async def called(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = book.run(params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("excel", on_list_tools=listed, on_call_tool=called)


async def play(book: Book, session: Any) -> list[types.CallToolResult]:
    """What an agent does: before every call it sends the list."""
    results = []
    for name, arguments in SCRIPT:
        book.sent([tool.model_dump(mode="json") for tool in (await session.list_tools()).tools])
        results.append(await session.call_tool(name, arguments))
    return results


@pytest.mark.parametrize("arm", ten_turns.ARMS)
def test_an_agents_session(arm: str, tmp_path: Path) -> None:
    book = Book(tmp_path)

    async def ask(asked: Confirm) -> bool:
        ten_turns.check_before_the_answer(book)
        return asked.target == "delete_sheet"

    async def talk() -> list[types.CallToolResult]:
        async with Client(real(book)) as client:
            return await play(book, FoldedSession(client, ask=ask, **ten_turns.settings(arm)))

    results = asyncio.run(talk())
    ten_turns.check_after(book, requests=len(SCRIPT))
    failed = [SCRIPT[at][0] for at, result in enumerate(results) if result.is_error]
    assert failed == ["format_cells", "rename_everything"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("answer", ["accept", "decline"])
def test_a_server_before_a_server(mode: str, answer: Any, tmp_path: Path) -> None:
    book, asked = Book(tmp_path), []

    async def person(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action=answer, content={} if answer == "accept" else None)

    async def talk() -> None:
        async with Client(real(book)) as inner:
            folded = folded_server(inner, **ten_turns.settings("lean"))
            async with Client(folded, mode=mode, elicitation_callback=person) as client:
                await play(book, client)

    asyncio.run(talk())
    assert len(asked) == 1 and asked[0].startswith("Run delete_sheet ")
    if answer == "accept":
        ten_turns.check_after(book, requests=len(SCRIPT))
    else:
        ten_turns.check_before_the_answer(book)


def test_what_nobody_is_asked_about_waits(tmp_path: Path) -> None:
    book = Book(tmp_path)

    async def talk() -> types.CallToolResult:
        async with Client(real(book)) as client:
            return (await play(book, FoldedSession(client, **ten_turns.settings("lean"))))[-1]

    last = asyncio.run(talk())
    ten_turns.check_before_the_answer(book)
    assert last.is_error and "waits for a person's approval" in last.content[0].text  # type: ignore[union-attr]
