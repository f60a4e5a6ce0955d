"""toolfold under Google's Agent Development Kit (``pip install toolfold[google-adk]``).

    agent = LlmAgent(name="helper", model=..., tools=[FoldedToolset([read_sheet, other_toolset], policy="policy.toml")])

Tools, plain functions and whole toolsets are folded together. A call that requires approval becomes ADK's own tool
confirmation, whose payload contains the arguments. A confirmation runs the call with them. If its payload has other arguments,
the edited call is checked and runs instead. State is read from the session's events on each request, so resumed and rewound
sessions work.

Arms ``index`` and ``search`` are not supported: ADK's callbacks and plugins see the name of a call before any tool can
replace it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast, Literal, TypeAlias

from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from . import Confirm, Conversation, Engine, Entry, Forward, Refuse, Reply, _settings
from ._adapter import Folder
from ._consent import NOBODY, Answer, Call, note_of
from ._settings import CommonArm, Fields, Unpack
from ._steps import Step, answered_only

#: A tool, a function or a toolset, as an agent accepts them.
ToolUnion = BaseTool | BaseToolset | Callable[..., Any]


#: The arms that the framework supports.
Arm: TypeAlias = Literal[CommonArm, "seed"]


@dataclass(frozen=True)
class Settings(_settings.Settings):
    """The settings of the adapter, as ``toolfold.Engine`` and ``Engine.conversation`` take them."""

    WITHOUT = ("bridge", "native", "append")
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

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        real = await self._real(readonly_context)
        declared = [(tool, tool._get_declaration()) for tool in real]
        by_name = {tool.name: tool for tool, own in declared if own is not None}
        functions = [own.model_dump(mode="json", by_alias=True, exclude_none=True) for _, own in declared if own is not None]
        engine = self.folder.bind(json.dumps(functions), lambda: [{"functionDeclarations": functions}])
        entries = self.conversation(engine, readonly_context).entries()
        folded: list[BaseTool] = [FoldedTool(self, engine, entry, by_name) for entry in entries]
        return [*folded, *(tool for tool, own in declared if own is None)]

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
        return self.folder.conversation(engine, session.id, answered_only(past_steps(session.events)))

    async def close(self) -> None:
        for given in self._given:
            if isinstance(given, BaseToolset):
                await given.close()


def past_steps(events: Sequence[Any]) -> list[Step]:
    """Returns the calls and answers in a session's events."""
    steps: list[Step] = []
    for event in events:
        for part in (event.content.parts or []) if event.content else []:
            if (call := part.function_call) and call.id and call.name:
                steps.append((call.id, call.name, call.args or {}))
            elif (answer := part.function_response) and answer.id:
                steps.append((answer.id, True))
    return steps


def message_of(context: ToolContext) -> str | None:
    """Returns the id of the event that made the call of a tool."""
    events = reversed(context.session.events)
    return next((event.id for event in events if any(c.id == context.function_call_id for c in event.get_function_calls())), None)


class FoldedTool(BaseTool):
    """One entry of the folded array; running it passes the call to the conversation first."""

    def __init__(self, owner: FoldedToolset, engine: Engine, entry: Entry, real: dict[str, BaseTool]) -> None:
        own = real.get(entry.name)
        super().__init__(name=entry.name, description=entry.description, is_long_running=bool(own and own.is_long_running))
        self._owner, self._engine, self._entry, self._real = owner, engine, entry, real

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._entry.parameters
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        conversation = self._owner.conversation(self._engine, cast(ReadonlyContext, tool_context))
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
