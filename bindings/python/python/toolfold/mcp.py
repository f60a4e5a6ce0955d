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
from typing import Any, Literal, TypeAlias

from mcp import Client, ClientSession, types
from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import NoBackChannelError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from . import Confirm, Conversation, Engine, Forward, InputError, Refuse, Reply, _settings
from ._adapter import Folder
from ._consent import CHANGED, Call
from ._settings import BridgeArm, CommonArm, Fields, Unpack

#: Requests a person's approval; only True runs the call.
Ask = Callable[[Confirm], Awaitable[bool]]

APPROVE = "approve"
#: The prefix of the members of ``_meta`` that the protocol defines.
RESERVED = "io.modelcontextprotocol/"
NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}
ELICITS = types.ClientCapabilities(elicitation=types.ElicitationCapability())


class _Waits(Exception):
    """The client must request the approval itself."""

    def __init__(self, form: types.ElicitRequestFormParams, approval: str) -> None:
        super().__init__(approval)
        self.form, self.approval = form, approval


#: The arms that the framework supports.
Arm: TypeAlias = Literal[CommonArm, BridgeArm, "seed"]


@dataclass(frozen=True)
class Settings(_settings.Settings):
    """The settings of the adapter, as ``toolfold.Engine`` and ``Engine.conversation`` take them."""

    WITHOUT = {
        "native": "MCP has no deferred tools",
        "append": "MCP has no tool definitions in messages",
    }
    arm: Arm = "auto"
    wire: Literal["mcp"] = "mcp"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.wire != "mcp":
            raise InputError(f"a session of MCP has the wire mcp, not {self.wire}")


class FoldedSession:
    """A session whose tools are folded, and whose calls are checked before they are sent. Prompts, resources and all other
    members are those of the session.

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
        **fields: Unpack[Fields[Arm]],
    ) -> None:
        self._session, self._ask, self._id = session, ask, id
        self.folder = Folder(Settings.of(settings, fields))
        self._engine: Engine | None = None
        self._conversation: Conversation | None = None
        self._listed: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Also before ``__init__``, where copies look for members.
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        return getattr(self._session, name)

    async def conversation(self) -> Conversation:
        """The conversation, with the tools that the server listed last."""
        return self._conversation or await self._current({})

    async def list_tools(self, **options: Any) -> types.ListToolsResult:
        """Returns the folded tools, including meta-tools, in one page. As without toolfold, each call requests the server's
        list: the result is the same until that list changes. Opened tools then remain open, unless a definition that
        the model has read has changed.

        :param options: as for the session's own ``list_tools``.
        """
        tools = (await self._current(options)).tools()
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tools])

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: ProgressFnT | None = None,
        *,
        meta: types.RequestParamsMeta | None = None,
        ask: Ask | None = None,
    ) -> types.CallToolResult:
        """Checks a call, and runs it on the server if it may run.

        :param read_timeout_seconds: as for the session; the time of the person who is asked does not count.
        :param progress_callback, meta: as for the session.
        :param ask: overrides the session's own.
        """
        conversation = await self.conversation()
        outcome = self.folder.judge(conversation, Call(name, arguments or {}, None))
        if isinstance(outcome, Confirm) and (ask := ask or self._ask):
            # The approval is for exactly this call.
            outcome = self.folder.settle(conversation, outcome, await ask(outcome))
        match outcome:
            case Forward() as forward:
                return await self._run(conversation, forward, read_timeout_seconds, progress_callback, meta)
            case Reply(content=text, is_error=failed):
                return _text(text, failed)
            case Refuse(content=text) | Confirm(content=text):
                return _text(text, True)

    async def _run(
        self,
        conversation: Conversation,
        forward: Forward,
        timeout: float | None,
        progress: ProgressFnT | None,
        meta: types.RequestParamsMeta | None,
    ) -> types.CallToolResult:
        with self.folder.running(conversation, forward):
            result: types.CallToolResult = await self._session.call_tool(
                forward.target, forward.arguments, timeout, progress, meta=meta
            )
        conversation.report_result(forward.id, not result.is_error)
        if forward.note:
            note = types.TextContent(type="text", text=forward.note)
            result = result.model_copy(update={"content": [note, *result.content]})
        return result

    async def _current(self, options: dict[str, Any]) -> Conversation:
        """Requests the server's list, and returns the conversation with these tools."""
        listed = await _all_tools(self._session, options)
        engine = self.folder.bind(listed)
        if self._conversation is None:
            self._conversation = self.folder.conversation(engine, self._id, [])
        elif engine is not self._engine:
            self._conversation = self._moved(self._conversation, engine, listed)
        self._engine, self._listed = engine, listed
        return self._conversation

    def _moved(self, before: Conversation, engine: Engine, listed: list[dict[str, Any]]) -> Conversation:
        """Returns the conversation with the tools that replace its own: its calls and approvals remain."""
        moved = engine.restore(before.snapshot())
        if any(tool["name"] in before.opened and tool not in listed for tool in self._listed):
            moved.seen_calls([])  # The model has read a definition that is no longer valid: tools are opened again.
        return moved


def folded_server(
    session: Any, name: str = "toolfold", settings: Settings | None = None, **fields: Unpack[Fields[Arm]]
) -> Server[Any]:
    """Returns a server that offers another server's tools folded, to one client. Approvals use elicitation if the client
    supports it. If a call changes the folded tools, the client is notified (``notifications/tools/list_changed``, or the event of
    its ``subscriptions/listen``).

    :param session: the connected client or session of the other server.
    :param settings: as for ``FoldedSession``.
    """
    folded, inner = FoldedSession(session, settings, **fields), _client_session(session)
    bus = InMemorySubscriptionBus()

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

        before = (await folded.conversation()).digest
        able = context.session.check_client_capability(ELICITS)
        progress = context.session.report_progress  # Sends nothing if the client has not requested it.
        try:
            return await folded.call_tool(
                params.name,
                params.arguments,
                progress_callback=progress,
                meta=_own_meta(params),
                ask=ask if able else None,
            )
        except _Waits as waits:
            # From 2026-07-28 on, the client requests the approval and repeats the call with the answer.
            request = types.ElicitRequest(params=waits.form)
            return types.InputRequiredResult(input_requests={APPROVE: request}, request_state=waits.approval)
        finally:
            if (await folded.conversation()).digest != before:
                if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    await bus.publish(ToolsListChanged())
                else:
                    await context.session.send_tool_list_changed()

    handlers = _passed_on(inner) | {"on_subscriptions_listen": ListenHandler(bus)}
    return _FoldedServer(name, on_list_tools=list_tools, on_call_tool=call_tool, **handlers)


class _FoldedServer(Server[Any]):
    """A server that reports changes of its tools, and of nothing else."""

    def get_capabilities(self, *given: Any, **named: Any) -> types.ServerCapabilities:
        found = super().get_capabilities(*given, **named)
        for capability in (found.tools, found.prompts, found.resources):
            if capability:
                capability.list_changed = capability is found.tools
        if found.resources:
            found.resources.subscribe = False
        return found


def _passed_on(inner: ClientSession) -> dict[str, Any]:
    """Returns the handlers of the requests that a server passes on unchanged: those that the other server supports."""
    capabilities = inner.server_capabilities or types.ServerCapabilities()

    async def list_prompts(context: Any, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return await inner.list_prompts(params=_page(params))

    async def get_prompt(
        context: Any, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        found: types.GetPromptResult | types.InputRequiredResult
        found = await inner.get_prompt(params.name, params.arguments, **_resumed(params))
        return found

    async def list_resources(context: Any, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return await inner.list_resources(params=_page(params))

    async def list_templates(
        context: Any, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return await inner.list_resource_templates(params=_page(params))

    async def read_resource(
        context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        found: types.ReadResourceResult | types.InputRequiredResult
        found = await inner.read_resource(params.uri, **_resumed(params))
        return found

    async def complete(context: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        known = params.context.arguments if params.context else None
        return await inner.complete(params.ref, params.argument.model_dump(), known)

    handlers: dict[str, Any] = {}
    if capabilities.prompts:
        handlers |= {"on_list_prompts": list_prompts, "on_get_prompt": get_prompt}
    if capabilities.resources:
        handlers |= {"on_list_resources": list_resources, "on_list_resource_templates": list_templates}
        handlers |= {"on_read_resource": read_resource}
    if capabilities.completions:
        handlers |= {"on_completion": complete}
    return handlers


def _resumed(params: types.GetPromptRequestParams | types.ReadResourceRequestParams) -> dict[str, Any]:
    """Returns the members of a request that are passed on: the answers of a person to an earlier one, and its ``_meta``."""
    answers = {"input_responses": params.input_responses, "request_state": params.request_state}
    return {**answers, "meta": _own_meta(params), "allow_input_required": True}


def _own_meta(params: types.RequestParams) -> types.RequestParamsMeta | None:
    """Returns the ``_meta`` of a request without the members that belong to one connection."""
    given: dict[str, Any] = dict(params.meta or {})
    own: Any = {key: value for key, value in given.items() if key != "progress_token" and not key.startswith(RESERVED)}
    return own or None


def _page(params: types.PaginatedRequestParams | None) -> types.PaginatedRequestParams:
    return types.PaginatedRequestParams(cursor=params.cursor if params else None)


def _client_session(session: Any) -> ClientSession:
    """The session itself, or that of a client."""
    inner: ClientSession = session.session if isinstance(session, Client) else session
    return inner


async def _all_tools(session: Any, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns every page of a server's list."""
    # The folded list has one page, so that a cursor can only be None.
    first = {key: value for key, value in options.items() if key != "cursor"}
    page = await session.list_tools(**first)
    tools = list(page.tools)
    while cursor := page.next_cursor:
        if isinstance(session, Client):
            page = await session.list_tools(**{**first, "cursor": cursor})
        else:
            page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        tools += page.tools
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


def _text(text: str, failed: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)
