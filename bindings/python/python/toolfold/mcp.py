"""toolfold between an MCP client and its servers (``pip install toolfold[mcp]``), with the Python SDK.

An agent that connects to a server itself wraps its session:

    async with Client(server) as client:
        folded = FoldedSession(client, policy="policy.toml", ask=ask_the_person)
        tools = (await folded.list_tools()).tools
        result = await folded.call_tool("read_sheet", {"path": "a.xlsx"})

``folded_server`` turns it into a server for any client; ``toolfold gateway`` is a more complete version of this.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp import Client, types
from mcp.server import Server
from mcp.shared.exceptions import NoBackChannelError

from . import Confirm, Conversation, Forward, Refuse, Reply, _settings
from ._adapter import Folder
from ._consent import CHANGED, Call
from ._settings import Fields, Unpack

#: Requests a person's approval; only True runs the call.
Ask = Callable[[Confirm], Awaitable[bool]]

APPROVE = "approve"
NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}
ELICITS = types.ClientCapabilities(elicitation=types.ElicitationCapability())


class _Waits(Exception):
    """The client must request the approval itself."""

    def __init__(self, form: types.ElicitRequestFormParams, approval: str) -> None:
        super().__init__(approval)
        self.form, self.approval = form, approval


@dataclass(frozen=True)
class Settings(_settings.Settings):
    """The settings of the adapter, as ``toolfold.Engine`` and ``Engine.conversation`` take them."""

    wire: _settings.Wire = "mcp"


class FoldedSession:
    """A session whose tools are folded, and whose calls are checked before they are sent.

    :param session: the connected ``mcp.Client`` or ``mcp.ClientSession``.
    :param ask: requests a person's approval; None leaves the call pending in ``approvals``, and the same call made again
        after the approval runs.
    :param id: the conversation's id; set it if approvals are stored in a file.
    :param settings: the settings; the same members are accepted as keywords.
    """

    def __init__(
        self,
        session: Any,
        settings: Settings | None = None,
        *,
        ask: Ask | None = None,
        id: str | None = None,
        **fields: Unpack[Fields],
    ) -> None:
        self._session, self._ask, self._id = session, ask, id
        self.folder = Folder(Settings.of(settings, fields))
        self._conversation: Conversation | None = None

    async def conversation(self) -> Conversation:
        """The conversation, with the tools that the server listed when it started."""
        if self._conversation is None:
            listed = await _all_tools(self._session)
            engine = self.folder.bind("", lambda: listed)
            self._conversation = self.folder.conversation(engine, self._id, [])
        return self._conversation

    async def list_tools(self) -> types.ListToolsResult:
        """Returns the folded tools, including meta-tools. The list is the same for the life of the session."""
        tools = (await self.conversation()).tools()
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tools])

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *, ask: Ask | None = None
    ) -> types.CallToolResult:
        """Checks a call, and runs it on the server if it may run. ``ask`` overrides the session's own."""
        conversation = await self.conversation()
        outcome = self.folder.judge(conversation, Call(name, arguments or {}, None))
        if isinstance(outcome, Confirm) and (ask := ask or self._ask):
            # The approval is for exactly this call.
            outcome = self.folder.settle(conversation, outcome, await ask(outcome))
        match outcome:
            case Forward() as forward:
                return await self._run(conversation, forward)
            case Reply(content=text, is_error=failed):
                return _text(text, failed)
            case Refuse(content=text) | Confirm(content=text):
                return _text(text, True)

    async def _run(self, conversation: Conversation, forward: Forward) -> types.CallToolResult:
        with self.folder.running(conversation, forward):
            result: types.CallToolResult = await self._session.call_tool(forward.target, forward.arguments)
        conversation.report_result(forward.id, not result.is_error)
        if forward.note:
            note = types.TextContent(type="text", text=forward.note)
            result = result.model_copy(update={"content": [note, *result.content]})
        return result


def folded_server(
    session: Any, name: str = "toolfold", settings: Settings | None = None, **fields: Unpack[Fields]
) -> Server[Any]:
    """Returns a server that offers another server's tools folded, to one client. Approvals use elicitation if the client
    supports it.

    :param session: the connected client or session of the other server.
    :param settings: as for ``FoldedSession``.
    """
    folded = FoldedSession(session, settings, **fields)

    async def list_tools(context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return await folded.list_tools()

    async def call_tool(
        context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        async def ask(asked: Confirm) -> bool:
            if params.input_responses and params.request_state == asked.approval:
                answer: Any = params.input_responses.get(APPROVE)
            else:
                if params.input_responses and params.request_state in (await folded.conversation()).pending:
                    # The answer is for another call: that one is no longer pending.
                    folded.folder.reject(params.request_state, CHANGED)
                message = f"Run {asked.target} {asked.arguments_json}? {asked.reason}"
                form = types.ElicitRequestFormParams(message=message, requested_schema=NO_FIELDS)
                try:
                    answer = await context.session.elicit_form(form.message, NO_FIELDS)
                except NoBackChannelError:
                    raise _Waits(form, asked.approval) from None
            return getattr(answer, "action", None) == "accept"

        able = context.session.check_client_capability(ELICITS)
        try:
            return await folded.call_tool(params.name, params.arguments, ask=ask if able else None)
        except _Waits as waits:
            # From 2026-07-28 on, the client requests the approval and repeats the call with the answer.
            request = types.ElicitRequest(params=waits.form)
            return types.InputRequiredResult(input_requests={APPROVE: request}, request_state=waits.approval)

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)


async def _all_tools(session: Any) -> list[dict[str, Any]]:
    """Returns every page of a server's list."""
    page = await session.list_tools()
    tools = list(page.tools)
    while cursor := page.next_cursor:
        if isinstance(session, Client):
            page = await session.list_tools(cursor=cursor)
        else:
            page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        tools += page.tools
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


def _text(text: str, failed: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)
