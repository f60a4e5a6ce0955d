"""toolfold under Google's Agent Development Kit (``pip install toolfold[google-adk]``).

    agent = LlmAgent(name="helper", model=..., tools=[FoldedToolset([read_sheet, other_toolset], policy="policy.toml")])

Tools, plain functions and whole toolsets are folded together. A call that requires approval becomes ADK's own tool
confirmation, whose payload contains the arguments. A confirmation runs the call with them. If its payload has other arguments,
the edited call is checked and runs instead. State is read from the session's events on each request, so resumed and rewound
sessions work.

The toolset adds itself to two callbacks of its agent. As the last ``before_model_callback``, it sees which messages plugins and
callbacks removed from a request: definitions in them are expanded again. As the first ``after_model_callback``, under the arms
``index`` and ``search``, it gives calls the names of their tools, which callbacks of tools, plugins of tools and the session get. The
next request has what the model wrote.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast, Literal, TypeAlias

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from . import Confirm, Conversation, Engine, Entry, Forward, Refuse, Reply, _settings
from ._adapter import MOST_CONVERSATIONS, Folder, remember
from ._consent import NOBODY, Answer, Call, note_of
from ._google_adk_messages import Hidden, direct_response, hidden_calls, message_of, past_steps, restored
from ._names import unnamed
from ._settings import BridgeArm, CommonArm, Fields, Unpack
from ._steps import answered_only

#: A tool, a function or a toolset, as an agent accepts them.
ToolUnion = BaseTool | BaseToolset | Callable[..., Any]


#: The arms that the framework supports.
Arm: TypeAlias = Literal[CommonArm, BridgeArm, "seed"]


@dataclass(frozen=True)
class Settings(_settings.Settings):
    """The settings of the adapter, as ``toolfold.Engine`` and ``Engine.conversation`` take them."""

    WITHOUT = {
        "native": "the `FunctionDeclaration` of an `LlmRequest` has no `defer_loading`, and ADK's models add none",
        "append": "a `Part` of an `LlmRequest` cannot be a tool definition, and ADK's models write messages from parts",
    }
    arm: Arm = "auto"
    wire: _settings.Wire = "gemini"


class FoldedToolset(BaseToolset):
    """A toolset that folds other tools and checks every call of them.

    :param tools: tools, functions and toolsets.
    :param settings: the settings, with ``wire`` if the model is not a Gemini model; the same members are accepted as
        keywords.
    """

    def __init__(
        self, tools: Sequence[ToolUnion], settings: Settings | None = None, **fields: Unpack[Fields[Arm]]
    ) -> None:
        super().__init__()
        self._given = tools
        self.folder = Folder(Settings.of(settings, fields))
        #: The entries shown last, by name, of each conversation. ADK uses the same tools in all requests of a run.
        self._shown: OrderedDict[tuple[int, str], dict[str, Entry]] = OrderedDict()
        #: The calls that the last request of an agent in a session did not have.
        self._hidden: OrderedDict[tuple[str, str], Hidden] = OrderedDict()

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        real = await self._real(readonly_context)
        declared = [(tool, tool._get_declaration()) for tool in real]
        by_name = {tool.name: tool for tool, own in declared if own is not None}
        functions = [own.model_dump(mode="json", by_alias=True, exclude_none=True) for _, own in declared if own is not None]
        engine = self.folder.bind([{"functionDeclarations": functions}])
        entries = self._entries(engine, self.conversation(engine, readonly_context))
        folded: list[BaseTool] = [FoldedTool(self, engine, name, entries, by_name) for name in entries]
        # Tools that the model calls by another name are also tools of the agent, so the framework's rules for them apply.
        hidden = sorted(by_name.keys() - entries.keys())
        folded += [HiddenTool(self, engine, name, entries, by_name) for name in hidden]
        return [*folded, *(tool for tool, own in declared if own is None)]

    def _entries(self, engine: Engine, conversation: Conversation) -> dict[str, Entry]:
        """Returns the entries of a conversation as they are now. All tools of the conversation share the dict."""
        key = (hash(engine), conversation.id)
        remember(self._shown, key, self._shown.get(key, {}), MOST_CONVERSATIONS)
        self._shown[key].update((entry.name, entry) for entry in conversation.entries())
        return self._shown[key]

    async def _current(self, context: ReadonlyContext) -> tuple[list[FoldedTool], Conversation | None]:
        """Returns the tools of a run, and the conversation of its session; none if they cannot be listed: ADK has logged the
        error and continues without these tools."""
        try:
            listed = await self.get_tools_with_prefix(context)
        except Exception:
            return [], None
        tools = [tool for tool in listed if isinstance(tool, FoldedTool)]
        return tools, self.conversation(tools[0].engine, context) if tools else None

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        tools, conversation = await self._current(cast(ReadonlyContext, tool_context))
        if conversation is None:
            return
        self._entries(tools[0].engine, conversation)
        # The messages of other agents are in the request as texts.
        events = [event for event in tool_context.session.events if event.author == tool_context.agent_name]
        llm_request.contents = restored(llm_request.contents, events)
        agent = tool_context.get_invocation_context().agent
        if isinstance(agent, LlmAgent) and self._direct not in agent.canonical_after_model_callbacks:
            agent.after_model_callback = [self._direct, *agent.canonical_after_model_callbacks]
            agent.before_model_callback = [*agent.canonical_before_model_callbacks, self._sent]

    async def _sent(self, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Records which calls a request does not have, after all plugins and the agent's own callbacks have changed it."""
        context = cast(ReadonlyContext, callback_context)
        names = {tool.name for tool in (await self._current(context))[0]}
        hidden = hidden_calls(llm_request.contents, context.session.events, names)
        remember(self._hidden, (context.session.id, context.agent_name), hidden, MOST_CONVERSATIONS)

    async def _direct(self, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        """Renames the calls of a response in place, so that the agent's own callbacks get the response too."""
        tools, conversation = await self._current(cast(ReadonlyContext, callback_context))
        if conversation is not None:
            direct_response(conversation, llm_response, {tool.name for tool in tools})

    async def _real(self, context: ReadonlyContext | None) -> list[BaseTool]:
        real: list[BaseTool] = []
        for given in self._given:
            if isinstance(given, BaseToolset):
                real += await given.get_tools_with_prefix(context)
            else:
                real.append(given if isinstance(given, BaseTool) else FunctionTool(given))
        return real

    def conversation(self, engine: Engine, context: ReadonlyContext | None) -> Conversation:
        """Returns the conversation of a session."""
        if context is None:
            return self.folder.conversation(engine, None, [])
        session = context.session
        hidden = self._hidden.get((session.id, context.agent_name), Hidden())
        return self.folder.conversation(engine, session.id, answered_only(past_steps(session.events, hidden)))

    async def close(self) -> None:
        for given in self._given:
            if isinstance(given, BaseToolset):
                await given.close()


class FoldedTool(BaseTool):
    """One entry of the folded array; running it passes the call to the conversation first."""

    def __init__(
        self, owner: FoldedToolset, engine: Engine, name: str, entries: dict[str, Entry], real: dict[str, BaseTool]
    ) -> None:
        own = real.get(name)
        about = entries[name].description if name in entries else real[name].description
        super().__init__(name=name, description=about, is_long_running=bool(own and own.is_long_running))
        self.engine = engine
        self._owner, self._entries, self._real = owner, entries, real

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        if (entry := self._entries.get(self.name)) is None:
            return self._real[self.name]._get_declaration()
        return types.FunctionDeclaration(
            name=self.name, description=entry.description, parameters_json_schema=entry.parameters
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        conversation = self._owner.conversation(self.engine, cast(ReadonlyContext, tool_context))
        if why := unnamed(conversation, self.name, args):
            return {"error": why}
        confirmation, id = tool_context.tool_confirmation, tool_context.function_call_id
        payload = confirmation.payload if confirmation else None
        # A tool may request a confirmation of its own, whose payload has another meaning.
        waiting = [one.arguments for one in self._owner.folder.waiting(conversation.id) if one.call == id]
        changed = bool(waiting and payload) and isinstance(payload, dict) and payload not in waiting
        edited = (self.name, payload) if changed else None
        answer = None if confirmation is None else Answer(confirmation.confirmed, edited=edited)
        call = Call(self.name, args, id, message_of(tool_context))
        outcome = self._owner.folder.judge(conversation, call, answer)
        if isinstance(outcome, Confirm) and answer:
            # ADK requests a confirmation of a call only once.
            outcome = self._owner.folder.settle(conversation, outcome, False, NOBODY)
        match outcome:
            case Confirm():
                shown = f"{outcome.target} {outcome.arguments_json}: {outcome.reason}"
                tool_context.request_confirmation(hint=shown, payload=outcome.arguments)
                tool_context.actions.skip_summarization = True
                return {"error": outcome.content}
            case Reply(content=text, is_error=failed):
                return {"error" if failed else "result": text}
            case Refuse(content=text):
                return {"error": text}
            case Forward() as forward:
                tool = self._real[forward.target]
                with self._owner.folder.running(conversation, forward):
                    result = await tool.run_async(args=forward.arguments, tool_context=tool_context)
                conversation.report_result(forward.id)
                note = note_of(conversation, forward)
                return {"note": note, "result": result} if note else result


class HiddenTool(FoldedTool):
    """A tool that the model calls through ``call_tool``: the agent has it, and no request does."""

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        llm_request.tools_dict[self.name] = self
