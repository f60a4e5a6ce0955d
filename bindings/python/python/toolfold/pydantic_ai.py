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
from typing import Any

from pydantic import ValidationError
from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.messages import ModelMessage, RetryPromptPart, ToolCallPart, ToolReturnPart
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import SchemaValidator, core_schema

from . import CallError, Confirm, Conversation, Engine, Entry, Forward
from ._adapter import Folder, Step, answered_only

__all__ = ["Toolfold"]

#: The real schema judges the arguments; the framework only reads them.
_ANY = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


class Toolfold(AbstractCapability[Any]):
    """Folds the tools of a pydantic-ai agent. Takes what ``toolfold.Engine`` and ``Engine.conversation`` take."""

    def __init__(self, **settings: Any) -> None:
        self.folder = Folder(**settings)

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return _Folded(toolset, self.folder)


@dataclass
class _Folded(WrapperToolset[Any]):
    folder: Folder
    #: The tools last shown, for as long as array and tool set stay the same.
    shown: tuple[object, dict[str, ToolsetTool[Any]]] | None = None
    real: dict[str, ToolsetTool[Any]] | None = None

    def _engine(self, real: dict[str, ToolsetTool[Any]]) -> tuple[object, Engine]:
        schemas = [tool.tool_def.parameters_json_schema for tool in real.values()]
        key = tuple((name, id(schema)) for name, schema in zip(real, schemas))
        return key, self.folder.bind(key, lambda: [_neutral(tool.tool_def) for tool in real.values()], keep=schemas)

    def _conversation(self, engine: Engine, ctx: RunContext[Any]) -> Conversation:
        return self.folder.conversation(engine, ctx.conversation_id, answered_only(_steps(ctx.messages)))

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        self.real = await self.wrapped.get_tools(ctx)
        key, engine = self._engine(self.real)
        conversation = self._conversation(engine, ctx)
        key = (key, conversation.digest)
        if self.shown is None or self.shown[0] != key:
            self.shown = (key, {entry.name: self._show(entry, self.real) for entry in conversation.entries()})
        return self.shown[1]

    def _show(self, entry: Entry, real: dict[str, ToolsetTool[Any]]) -> ToolsetTool[Any]:
        base = real[entry.name].tool_def if entry.name in real else ToolDefinition(name=entry.name)
        definition = replace(
            base,
            name=entry.name,
            description=entry.description,
            parameters_json_schema=entry.parameters,
            strict=entry.strict and base.strict,
            defer_loading=entry.deferred or base.defer_loading,
        )
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=1, args_validator=_ANY)

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        real = self.real if self.real is not None else await self.wrapped.get_tools(ctx)
        conversation = self._conversation(self._engine(real)[1], ctx)
        try:
            outcome = conversation.call(name, tool_args, ctx.tool_call_id)
        except CallError:
            if not ctx.tool_call_approved:
                raise
            # The person changed the arguments: that is another call.
            outcome = conversation.call(name, tool_args)
        if isinstance(outcome, Confirm):
            if not ctx.tool_call_approved:
                raise ApprovalRequired(_asked(outcome))
            outcome = self.folder.settle(conversation, outcome, True)
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


def _asked(outcome: Confirm) -> dict[str, Any]:
    return {"approval": outcome.approval, "tool": outcome.target, "arguments": outcome.arguments, "shown": outcome.shown}


def _neutral(tool: ToolDefinition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description or "", "input_schema": tool.parameters_json_schema}


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
