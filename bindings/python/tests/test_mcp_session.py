"""``FoldedSession`` beside the official session: what a host does with one, it can do with the other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import Client, types  # noqa: E402
from mcp.server import Server  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402
from toolfold import Confirm, Engine, InputError  # noqa: E402
from toolfold.mcp import FoldedSession, folded_server  # noqa: E402

MODES = ["legacy", "auto"]
POLICY = '[[rule]]\ntool = "*"\ndecide = "allow"\n[[rule]]\ntool = "drop"\ndecide = "ask"\n'
TEXT: dict[str, Any] = {"type": "string", "description": "A text that is long enough to be worth folding."}


def definition(name: str, *names: str, about: str = "") -> types.Tool:
    schema = {"type": "object", "properties": {key: TEXT for key in names}, "required": list(names[:1])}
    return types.Tool(name=name, description=about or f"The tool {name}.", input_schema=schema)


class Real:
    """A server with everything that a session can use."""

    def __init__(self) -> None:
        self.tools = [definition("work", "a", "b", "c"), definition("drop", "a"), definition("slow", "a")]
        self.tools += [definition(f"more_{at}", "a", "b", "c", "d", "e") for at in range(20)]
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.meta: list[dict[str, Any]] = []
        self.lists = 0
        self.server: Server[Any] = Server(
            "real",
            version="7",
            instructions="Be brief.",
            on_list_tools=self.listed,
            on_call_tool=self.called,
            on_list_prompts=self.prompts,
            on_get_prompt=self.prompt,
            on_list_resources=self.resources,
            on_list_resource_templates=self.templates,
            on_read_resource=self.resource,
            on_completion=self.completed,
        )

    async def listed(self, context: Any, params: Any) -> types.ListToolsResult:
        self.lists += 1
        return types.ListToolsResult(tools=self.tools)

    async def called(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        self.calls.append((params.name, params.arguments or {}))
        self.meta.append({key: value for key, value in (params.meta or {}).items() if key.startswith("x/")})
        if params.name == "slow":
            await asyncio.sleep(5)
        if params.name == "change":
            self.tools[0] = definition("work", "a", "b", "c", "d", about="Another one.")
            await context.session.send_tool_list_changed()
        for done in (1.0, 2.0):
            await context.session.report_progress(done, 2.0, "half" if done == 1 else "done")
        content: list[Any] = [types.TextContent(type="text", text="done")]
        return types.CallToolResult(content=content, structured_content={"n": 10**30}, meta={"x/answer": 1})

    async def prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        first = params is None or params.cursor is None
        return types.ListPromptsResult(
            prompts=[types.Prompt(name="greet" if first else "part")], next_cursor="2" if first else None
        )

    async def prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        text = types.TextContent(type="text", text=f"{params.name} {json.dumps(params.arguments)}")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[types.Resource(name="r", uri="file:///r")])

    async def templates(self, context: Any, params: Any) -> types.ListResourceTemplatesResult:
        own = types.ResourceTemplate(name="t", uri_template="file:///{name}")
        return types.ListResourceTemplatesResult(resource_templates=[own])

    async def resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text="the text")])

    async def completed(self, context: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        return types.CompleteResult(completion=types.Completion(values=[f"{params.argument.value}is"]))


Use = Callable[[Any], Awaitable[Any]]


def used(use: Use, mode: str, how: str, real: Real | None = None, **settings: Any) -> tuple[Any, Real]:
    """What a use returns, or raises, on the bare session, a folded one, or a client of a folded server."""
    real = real or Real()

    async def talk() -> Any:
        async with Client(real.server, mode=mode) as client:  # type: ignore[arg-type]
            if how == "bare":
                return await use(client)
            if how == "session":
                return await use(FoldedSession(client.session, **settings))
            if how == "client":
                return await use(FoldedSession(client, **settings))
            async with Client(folded_server(client, **settings), mode=mode) as outer:  # type: ignore[arg-type]
                return await use(outer)

    return asyncio.run(talk()), real


async def progress(session: Any) -> Any:
    seen: list[Any] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    result = await session.call_tool("work", {"a": "1", "b": "2", "c": "3"}, progress_callback=report)
    return seen, result.content[-1].text, result.structured_content, result.meta


async def no_progress(session: Any) -> Any:
    return (await session.call_tool("work", {"a": "1", "b": "2", "c": "3"})).structured_content


async def meta(session: Any) -> Any:
    await session.call_tool("work", {"a": "1", "b": "2", "c": "3"}, meta={"x/trace": "t"})


async def time_out(session: Any) -> Any:
    try:
        await session.call_tool("slow", {"a": "1"}, 0.2)
    except (MCPError, TimeoutError) as why:
        return type(why).__name__
    return "no time-out"


async def prompts(session: Any) -> Any:
    page = await session.list_prompts()
    got = await session.get_prompt("greet", {"name": "Ann"})
    return [one.name for one in page.prompts], page.next_cursor, got.messages[0].content.text


async def resources(session: Any) -> Any:
    listed, templates = await session.list_resources(), await session.list_resource_templates()
    text = (await session.read_resource("file:///r")).contents[0].text
    return [one.uri for one in listed.resources], [one.uri_template for one in templates.resource_templates], text


async def completion(session: Any) -> Any:
    own = types.PromptReference(type="ref/prompt", name="greet")
    return (await session.complete(own, {"name": "name", "value": "Par"})).completion.values


async def about(session: Any) -> Any:
    return session.protocol_version is not None, session.server_capabilities.prompts is not None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", ["session", "client", "server"])
@pytest.mark.parametrize("use", [progress, no_progress, meta, time_out, prompts, resources, completion, about])
def test_a_folded_session_does_what_the_session_does(use: Use, how: str, mode: str) -> None:
    (bare, one), (folded, other) = used(use, mode, "bare"), used(use, mode, how, arm="lean")
    assert folded == bare and other.calls == one.calls and other.meta == one.meta
    assert bare is not None or one.meta == [{"x/trace": "t"}]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", ["session", "client", "server"])
def test_a_changed_list_is_listed(how: str, mode: str) -> None:
    """Before the change the list is the same each time; after it, opened tools stay open unless one has changed."""

    async def use(session: Any) -> Any:
        before = [[tool.model_dump() for tool in (await session.list_tools()).tools] for _ in range(2)]
        assert before[0] == before[1]
        await session.call_tool("expand_tools", {"tools": ["more_1"]})
        await session.call_tool("work", {"a": "1", "b": "2", "c": "3"})
        real.tools.append(definition("late", "a", "b"))
        await session.list_tools()
        again = await session.call_tool("expand_tools", {"tools": ["more_1"]})
        real.tools[4] = definition("more_1", "a", "z")
        after = {tool.name: tool for tool in (await session.list_tools()).tools}
        opened = await session.call_tool("expand_tools", {"tools": ["more_1"]})
        ran = await session.call_tool("late", {"a": "1", "b": "2"})
        return again.content[0].text, opened.content[0].text, ran.content[-1].text, "late" in after

    real = Real()
    (again, opened, ran, listed), _ = used(use, mode, how, real, arm="lean")
    assert "Opened" not in again and '"z"' in opened and ran == "done" and listed
    assert real.calls[-1] == ("late", {"a": "1", "b": "2"}) and real.lists >= 3


def test_an_approval_survives_a_changed_list() -> None:
    """Also one whose tool was called with a generated id, and no other call uses it."""

    async def use(session: Any) -> Any:
        waiting = await session.call_tool("drop", {"a": "1"})
        real.tools.append(definition("late", "a"))
        await session.list_tools()
        (asked,) = session.folder.approver.pending()
        session.folder.approver.approve(asked.id)
        ran, other = await session.call_tool("drop", {"a": "1"}), await session.call_tool("drop", {"a": "1"})
        return waiting.content[0].text, ran.is_error, other.content[0].text

    real = Real()
    (waiting, failed, other), _ = used(use, "auto", "session", real, arm="lean", policy=POLICY, id="k")
    assert "requires approval" in waiting and not failed and "requires approval" in other
    assert real.calls == [("drop", {"a": "1"})]


def test_a_person_may_take_longer_than_the_server() -> None:
    async def ask(asked: Confirm) -> bool:
        await asyncio.sleep(0.3)
        return True

    async def use(session: Any) -> Any:
        return (await session.call_tool("drop", {"a": "1"}, 0.2)).is_error

    assert used(use, "auto", "session", arm="lean", policy=POLICY, ask=ask)[0] is False


def test_a_call_that_timed_out_failed() -> None:
    async def use(session: Any) -> Any:
        with pytest.raises((MCPError, TimeoutError)):
            await session.call_tool("slow", {"a": "1"}, 0.2)
        (record,) = json.loads((await session.conversation()).snapshot())["state"]["calls"].values()
        return record["target"], record["became"]["ok"]

    assert used(use, "auto", "session", arm="lean")[0] == ("slow", False)


def test_a_server_without_prompts_offers_none() -> None:
    async def listed(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[definition("work", "a")])

    async def talk() -> types.ServerCapabilities:
        async with Client(Server("bare", on_list_tools=listed)) as client, Client(folded_server(client)) as outer:
            return outer.server_capabilities

    capabilities = asyncio.run(talk())
    assert capabilities.prompts is None and capabilities.resources is None and capabilities.tools is not None


def test_the_wire_of_a_session_is_mcp() -> None:
    with pytest.raises(InputError, match="has the wire mcp, not anthropic"):
        FoldedSession(None, wire="anthropic")
    assert Engine("excel").conversation("mcp").wire == "mcp"


def test_a_private_member_is_not_passed_on() -> None:
    folded = FoldedSession(object())
    with pytest.raises(AttributeError, match="FoldedSession has no attribute _request_id"):
        folded._request_id


@pytest.mark.parametrize("mode", MODES)
def test_a_folded_server_reports_that_its_tools_changed(mode: str) -> None:
    """Under arm ``seed``, the array grows: the official client is notified in both generations of the protocol."""
    notified: list[str] = []

    async def heard(message: Any) -> None:
        notified.append(getattr(message, "method", ""))

    async def use(outer: Client) -> list[str]:
        assert outer.server_capabilities.tools and outer.server_capabilities.tools.list_changed
        assert outer.server_capabilities.prompts and not outer.server_capabilities.prompts.list_changed
        before = (await outer.list_tools()).tools
        await outer.call_tool("more_1", dict.fromkeys("abcde", "x"))
        await outer.call_tool("expand_tools", {"tools": ["work"]})
        after = (await outer.list_tools(cache_mode="refresh")).tools
        return [new.name for old, new in zip(before, after) if old != new]

    async def talk() -> None:
        async with Client(Real().server, mode=mode) as client:  # type: ignore[arg-type]
            server = folded_server(client, arm="seed")
            async with Client(server, mode=mode, message_handler=heard) as outer:  # type: ignore[arg-type]
                if mode == "legacy":
                    assert await use(outer) == ["work"]
                    return
                async with outer.listen(tools_list_changed=True) as events:
                    assert await use(outer) == ["work"]
                    notified.append(type(await asyncio.wait_for(anext(aiter(events)), 5)).__name__)

    asyncio.run(talk())
    # The client's handler also hears what comes over the subscription.
    assert notified == ["notifications/tools/list_changed", *(["ToolsListChanged"] if mode != "legacy" else [])]
