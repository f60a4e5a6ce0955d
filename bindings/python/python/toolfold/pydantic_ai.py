"""pydantic-ai: a capability that folds what the model sees and judges what it calls.

    agent = Agent(model, tools=tools, capabilities=[Toolfold(arm="auto")], output_type=[str, DeferredToolRequests])

State is what the run's messages say; nothing is kept that they do not. A call that policy asks about becomes a deferred
approval of pydantic-ai's own; its metadata has what to show the person. Give the conversation's messages back with the
answer, in this process or another.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from pydantic import ValidationError
from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.messages import ModelMessage, RetryPromptPart, ToolCallPart, ToolReturnPart
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import SchemaValidator, core_schema

from . import Confirm, Conversation, Entry, Forward
from ._adapter import Folder, Step, answered_only, judged

__all__ = ["Toolfold"]

#: The real schema judges the arguments; the framework only reads them.
_ANY = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))

#: What of a definition is shown or decides how it is, beside what is known by its identity.
_SHOWN = attrgetter("name", "description", "strict", "sequential", "kind", "timeout", "defer_loading")


class Toolfold(AbstractCapability[Any]):
    """Folds the tools of a pydantic-ai agent. Takes what ``toolfold.Engine`` and ``Engine.conversation`` take."""

    def __init__(self, **settings: Any) -> None:
        self.folder = Folder(**settings)
        #: What was shown last, by tools and array, with the tools behind it: each run shows it again.
        self.shown: tuple[object, list[ToolDefinition], object] | None = None

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return _Folded(toolset, self)


@dataclass
class _Folded(WrapperToolset[Any]):
    """The toolset of one run: the framework makes another for each."""

    capability: Toolfold
    #: The tools last shown, for as long as array and tool set stay the same.
    shown: tuple[object, dict[str, ToolsetTool[Any]]] | None = None
    #: The tools behind them, and the conversation as it stood when they were asked for.
    step: tuple[dict[str, ToolsetTool[Any]], Conversation] | None = None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        key, (real, conversation) = await self._step(ctx)
        self.step = (real, conversation)
        key = (key, conversation.digest)
        if self.shown is None or self.shown[0] != key:
            if (kept := self.capability.shown) is None or kept[0] != key:
                self.capability.shown = kept = (key, [_show(entry, real) for entry in conversation.entries()], real)
            shown = [ToolsetTool(toolset=self, tool_def=one, max_retries=1, args_validator=_ANY) for one in kept[1]]
            self.shown = (key, {tool.tool_def.name: tool for tool in shown})
        return self.shown[1]

    async def _step(self, ctx: RunContext[Any]) -> tuple[object, tuple[dict[str, ToolsetTool[Any]], Conversation]]:
        real, folder = await self.wrapped.get_tools(ctx), self.capability.folder
        defined = [tool.tool_def for tool in real.values()]
        key = tuple([(_SHOWN(tool), id(tool.parameters_json_schema), id(tool.metadata)) for tool in defined])
        engine = folder.bind(key, lambda: [_neutral(tool) for tool in defined], keep=defined)
        if folder.may_ask:
            folder.refused(ctx.conversation_id, _denied(ctx.messages))
        # Calls without an answer are those that are about to be judged.
        steps = answered_only(_steps(ctx.messages))
        return key, (real, folder.conversation(engine, ctx.conversation_id, steps))

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        real, conversation = self.step or (await self._step(ctx))[1]
        # Arguments that the person changed make another call of the same id.
        outcome = judged(conversation, name, tool_args, ctx.tool_call_id)
        if isinstance(outcome, Confirm):
            if not ctx.tool_call_approved:
                about = {"tool": outcome.target, "arguments": outcome.arguments, "shown": outcome.shown}
                raise ApprovalRequired({"approval": outcome.approval, **about})
            outcome = self.capability.folder.settle(conversation, outcome, True)
        if not isinstance(outcome, Forward):
            # A plain result: a retry of the framework's would be counted against the model.
            return outcome.content
        return await self._run(conversation, outcome, real[outcome.target], ctx)

    async def _run(
        self, conversation: Conversation, call: Forward, tool: ToolsetTool[Any], ctx: RunContext[Any]
    ) -> Any:
        done = False
        try:
            arguments = tool.args_validator.validate_json(call.arguments_json, context=ctx.validation_context)
            if tool.args_validator_func is not None:
                checked = tool.args_validator_func(ctx, **arguments)
                if inspect.isawaitable(checked):
                    await checked
            result = await self.wrapped.call_tool(call.target, arguments, ctx, tool)
            done = True
        except ValidationError as why:
            return f"{call.name} was not run: its arguments do not fit.\n{why}"
        finally:
            conversation.report_result(call.id, done)
        return call.noted(result) if call.note and isinstance(result, str) else result


def _show(entry: Entry, real: dict[str, ToolsetTool[Any]]) -> ToolDefinition:
    base = real[entry.name].tool_def if entry.name in real else ToolDefinition(name=entry.name)
    return replace(
        base,
        name=entry.name,
        description=entry.description,
        parameters_json_schema=entry.parameters,
        strict=entry.strict and base.strict,
        defer_loading=entry.deferred or base.defer_loading,
    )


def _neutral(tool: ToolDefinition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description or "", "input_schema": tool.parameters_json_schema}


def _denied(messages: Sequence[ModelMessage]) -> set[str]:
    parts = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    return {part.tool_call_id for part in parts if part.outcome == "denied"}


def _steps(messages: Sequence[ModelMessage]) -> list[Step]:
    steps: list[Step] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                steps.append((part.tool_call_id, part.tool_name, part.args))
            elif isinstance(part, ToolReturnPart):
                steps.append((part.tool_call_id, part.outcome == "success"))
            elif isinstance(part, RetryPromptPart) and part.tool_name:
                steps.append((part.tool_call_id, False))
    return steps
