"""toolfold under Microsoft's agent-framework (``pip install toolfold[agent-framework]``).

    folded = fold([read_sheet, write_sheet], policy="policy.toml")
    agent = Agent(client=client, tools=folded.tools, middleware=folded.middleware)

A call that requires approval becomes the framework's own approval request (``response.user_input_requests``), which requires a
session. ``folded.edit(request, arguments, session)`` is the response that approves it with other arguments. State is read from
the messages of each request.

Function middleware gets calls by the names of their tools under every arm. Before ``folded.middleware``, it gets every call and
answer; after it, only the calls that run, with the real tool and the checked arguments. List middleware that ends a run after it.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agent_framework import (
    AgentSession,
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    FunctionTool,
    Message,
    MiddlewareTermination,
    included_messages,
    tool,
)

from . import Confirm, Conversation, Entry, Forward, InputError, Refuse, Reply, _settings
from ._adapter import Folder
from ._agent_framework_messages import direct_messages, restore, steps_of
from ._consent import NOBODY, Answer, Call, note_of
from ._names import MEMBER, unnamed
from ._settings import BridgeArm, CommonArm, Fields, Unpack
from ._steps import answered_only, closed

Next = Callable[[], Awaitable[None]]

#: The maximum number of stored calls that the model made under another name.
MOST_WRITTEN = 256


class Folded:
    """Folded tools with the middleware that checks every call of them. ``fold`` creates it."""

    def __init__(self, given: Sequence[FunctionTool | Callable[..., Any]], folder: Folder) -> None:
        self.real = {own.name: own for own in (one if isinstance(one, FunctionTool) else tool(one) for one in given)}
        self.folder = folder
        every = self.real.values()
        tools = [{"name": own.name, "description": own.description, "input_schema": own.parameters()} for own in every]
        self.engine = folder.bind(tools)
        #: The model's original calls, by the id of the call: an approval request repeats the call.
        self.written: OrderedDict[str, Any] = OrderedDict()
        #: The conversation of the request, in a list: compaction changes it in another context.
        self._current: ContextVar[list[Conversation]] = ContextVar("toolfold")
        first = folder.conversation(self.engine, None, [])
        self._digest, shown = first.digest, [self._shown(entry) for entry in first.entries()]
        #: The names of hidden tools: the framework's rules apply to calls of them.
        self.hidden = self.real.keys() - {own.name for own in shown}
        #: The tools and middleware for the agent.
        self.tools: list[FunctionTool] = [*shown, *(_copy(self.real[name]) for name in sorted(self.hidden))]
        self.middleware: list[Any] = [_Seen(self), _Gate(self)]

    def _shown(self, entry: Entry) -> FunctionTool:
        own = self.real.get(entry.name)
        return _tool(entry.name, entry.description, entry.parameters, own.approval_mode if own else "never_require")

    def requested(self, conversation: Conversation, tools: Sequence[Any]) -> list[Any]:
        """Returns the tools of a request: those of the agent without the hidden ones, as the conversation shows them now."""
        shown = [own for own in tools if getattr(own, "name", None) not in self.hidden]
        if conversation.digest == self._digest:
            return shown
        now = {entry.name: self._shown(entry) for entry in conversation.entries()}
        return [now.get(getattr(own, "name", ""), own) for own in shown]

    def conversation(self, id: str | None, messages: Sequence[Message]) -> Conversation:
        """Returns the conversation of these messages."""
        steps = steps_of(messages)
        self.folder.refused(id, closed(steps))  # A pending call that already has an answer was rejected.
        return self.folder.conversation(self.engine, id, answered_only(steps))

    def begin(self, id: str | None, messages: Sequence[Message]) -> list[Conversation]:
        """Returns the conversation of a request, in a list whose item may be replaced."""
        current = [self.conversation(id, messages)]
        self._current.set(current)
        return current

    def current(self, id: str | None) -> Conversation:
        """Returns the conversation of the request that made a call, or of a session that continues with an answer to one."""
        own = self._current.get(None)
        if own and own[0].id == (id or ""):
            return own[0]
        return self.folder.remembered(self.engine, id) or self.begin(id, [])[0]

    def edit(self, request: Content, arguments: Mapping[str, Any], session: AgentSession) -> Content:
        """Returns the approval response to a call that policy suspended, with other arguments. They are checked when this
        process continues the session: in another process, the call is refused.

        :param request: one of ``response.user_input_requests``.
        :raises InputError: policy did not suspend this call, or the arguments cannot be written as JSON.
        """
        call = request.function_call
        self.folder.change(session.session_id, (call.call_id if call else None) or "", arguments)
        return request.to_function_approval_response(approved=True)


async def _ungated(**_: Any) -> str:
    raise InputError("the tools are folded: give the agent `middleware=folded.middleware` too")


class _FoldedTool(FunctionTool):
    """A tool as the model sees it. The gate names the real tool, which runs instead."""

    async def invoke(
        self, *, arguments: Any = None, context: FunctionInvocationContext | None = None, tool_call_id: str | None = None, **_: Any
    ) -> Any:
        real = context.metadata.get(MEMBER) if context else None
        if context is None or not isinstance(real, FunctionTool):
            return await _ungated()
        inner = FunctionInvocationContext(
            function=real, arguments=arguments, session=context.session, kwargs=context.kwargs, tools=context.tools
        )
        return await real.invoke(arguments=arguments, context=inner, tool_call_id=tool_call_id)


def _tool(name: str, about: str, schema: dict[str, Any], mode: Any) -> FunctionTool:
    return _FoldedTool(name=name, description=about, input_model=schema, func=_ungated, approval_mode=mode)


def _copy(own: FunctionTool) -> FunctionTool:
    return _tool(own.name, own.description, own.parameters(), own.approval_mode)


#: The arms that the framework supports.
Arm: TypeAlias = Literal[CommonArm, BridgeArm, "seed"]


@dataclass(frozen=True)
class Settings(_settings.Settings):
    """The settings of the adapter, as ``toolfold.Engine`` and ``Engine.conversation`` take them."""

    WITHOUT = {
        "native": "a `Content` cannot be the result of a provider's tool search, and `FunctionTool` has no `defer_loading`",
        "append": "a `Content` cannot be a tool definition, and chat middleware does not see the request to the provider",
    }
    arm: Arm = "auto"
    wire: _settings.Wire = "openai-responses"


def fold(
    tools: Sequence[FunctionTool | Callable[..., Any]], settings: Settings | None = None, **fields: Unpack[Fields[Arm]]
) -> Folded:
    """Folds tools and functions.

    :param settings: the settings; the same members are accepted as keywords.
    """
    return Folded(tools, Folder(Settings.of(settings, fields)))


class _Seen(ChatMiddleware):
    """Records before each request what the model can still see, and gives its calls the names of the tools that run."""

    def __init__(self, folded: Folded) -> None:
        self._folded = folded

    async def process(self, context: ChatContext, call_next: Next) -> None:
        folded = self._folded
        id, given = context.session.session_id if context.session else None, list(context.messages)
        seen = included_messages(given)
        current = folded.begin(id, seen)
        restore(context)
        if context.options and (tools := context.options.get("tools")):
            context.options = {**context.options, "tools": folded.requested(current[0], tools)}

        def named(response: ChatResponse[Any]) -> ChatResponse[Any]:
            # The client's compaction has marked the messages that the model did not get.
            if len(sent := included_messages(given)) < len(seen):
                current[0] = folded.conversation(id, sent)
            response.messages, records = direct_messages(current[0], response.messages)
            folded.written.update(records)
            while len(folded.written) > MOST_WRITTEN:
                folded.written.popitem(last=False)
            return response

        context.stream_result_hooks.append(named)
        await call_next()
        if isinstance(context.result, ChatResponse):
            named(context.result)


class _Gate(FunctionMiddleware):
    """Checks a call before the framework runs it."""

    def __init__(self, folded: Folded) -> None:
        self._folded = folded

    async def process(self, context: FunctionInvocationContext, call_next: Next) -> None:
        name, id = context.function.name, context.metadata.get("call_id")
        if name not in {own.name for own in self._folded.tools}:
            return await call_next()
        arguments = dict(context.arguments) if not hasattr(context.arguments, "model_dump") else context.arguments.model_dump()
        conversation = self._folded.current(context.session.session_id if context.session else None)
        if why := unnamed(conversation, name, arguments):
            context.result = why
            return
        # The framework repeats only calls that its user approved.
        approved = context.metadata.get("approval_response") is not None
        outcome = self._folded.folder.judge(conversation, Call(name, arguments, id), Answer(True) if approved else None)
        if isinstance(outcome, Confirm) and context.session is None:
            # The framework binds a decision to the session that requested it.
            outcome = self._folded.folder.settle(conversation, outcome, False, f"{NOBODY}: the run has no session")
        match outcome:
            case Reply(content=text) | Refuse(content=text):
                context.result = text
            case Confirm():
                context.result = self._ask(context, arguments)
            case Forward(target=target) as forward:
                real = self._folded.real[target]
                if real.approval_mode == "always_require" and not approved:
                    context.result = self._ask(context, arguments)
                else:
                    await self._run(context, call_next, conversation, real, forward)

    def _ask(self, context: FunctionInvocationContext, arguments: dict[str, Any]) -> Content:
        """Returns the framework's approval request, bound to the call."""
        call_id, own = str(context.metadata["call_id"]), context.metadata.get("function_call_occurrence_id")
        written = self._folded.written.get(call_id)
        more: dict[str, Any] = {"additional_properties": {MEMBER: written}} if written else {}
        call = Content.from_function_call(call_id, context.function.name, arguments=json.dumps(arguments), id=own, **more)
        return Content.from_function_approval_request(id=own or call_id, function_call=call)

    async def _run(
        self, context: FunctionInvocationContext, call_next: Next, conversation: Conversation, real: FunctionTool, forward: Forward
    ) -> None:
        """Runs a call. Middleware after this one gets the real tool and the arguments that were checked."""
        given, ended = (context.function, context.arguments), None
        context.function, context.arguments, context.metadata[MEMBER] = real, forward.arguments, real
        try:
            with self._folded.folder.running(conversation, forward):
                try:
                    await call_next()
                except MiddlewareTermination as why:
                    ended = why
        finally:
            context.function, context.arguments = given
        conversation.report_result(forward.id)
        if note := note_of(conversation, forward):
            result = context.result if isinstance(context.result, list) else [Content.from_text(str(context.result))]
            context.result = [Content.from_text(note), *result]
        if ended:
            raise ended
