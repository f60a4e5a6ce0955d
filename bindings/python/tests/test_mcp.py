"""The adapter of the MCP SDK: an agent's session, and a server before a server, in both lifecycles of the protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from dialogue import ARMS, Dialogue, settings
from workbook import FUNCTIONS

pytest.importorskip("mcp")

from mcp import Client, types  # noqa: E402
from mcp.server import Server  # noqa: E402
from toolfold import Confirm  # noqa: E402
from toolfold.mcp import FoldedSession, folded_server  # noqa: E402


def real(dialogue: Dialogue) -> Server[Any]:
    async def listed(context: Any, params: Any) -> types.ListToolsResult:
        # In pages, as a server with many tools answers.
        start = int(params.cursor) if params and params.cursor else 0
        page = [
            types.Tool(name=each["name"], description=each["description"], input_schema=each["parameters"])
            for each in FUNCTIONS[start : start + 20]
        ]
        more = str(start + 20) if start + 20 < len(FUNCTIONS) else None
        return types.ListToolsResult(tools=page, next_cursor=more)

    async def called(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = dialogue.book.run(params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("excel", on_list_tools=listed, on_call_tool=called)


async def play(dialogue: Dialogue, session: Any) -> list[types.CallToolResult]:
    """What an agent does: before every call it sends the list."""
    results: list[types.CallToolResult] = []
    while True:
        array = [tool.model_dump(mode="json") for tool in (await session.list_tools()).tools]
        call = dialogue.turn(array, results[-1].model_dump(mode="json") if results else "go")
        if call is None:
            return results
        results.append(await session.call_tool(*call[1:]))


@pytest.mark.parametrize("arm", ARMS)
def test_an_agents_session(dialogue: Dialogue, arm: str) -> None:
    async def ask(asked: Confirm) -> bool:
        dialogue.verify_unanswered()
        return asked.target == "delete_sheet"

    async def talk() -> list[types.CallToolResult]:
        async with Client(real(dialogue)) as client:
            return await play(dialogue, FoldedSession(client, ask=ask, **settings(arm)))

    results = asyncio.run(talk())
    dialogue.verify()
    failed = [step[0] for step, result in zip(dialogue.script, results) if result.is_error]
    assert failed == ["format_cells", "read_exel", "create_excel_chart"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("answer", ["accept", "decline"])
def test_a_server_before_a_server(dialogue: Dialogue, mode: str, answer: Any) -> None:
    asked: list[str] = []

    async def person(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action=answer, content={} if answer == "accept" else None)

    async def talk() -> None:
        async with Client(real(dialogue)) as inner:
            folded = folded_server(inner, **settings("lean"))
            async with Client(folded, mode=mode, elicitation_callback=person) as client:
                await play(dialogue, client)

    asyncio.run(talk())
    assert len(asked) == 1 and asked[0].startswith("Run delete_sheet ")
    dialogue.verify(deleted=answer == "accept")


def test_what_nobody_is_asked_about_waits(dialogue: Dialogue) -> None:
    async def talk() -> list[types.CallToolResult]:
        async with Client(real(dialogue)) as client:
            return await play(dialogue, FoldedSession(client, **settings("lean")))

    results = asyncio.run(talk())
    dialogue.verify(deleted=False)
    (waiting,) = [result for step, result in zip(dialogue.script, results) if step[0] == "delete_sheet"]
    assert waiting.is_error and "requires approval" in waiting.content[0].text  # type: ignore[union-attr]
