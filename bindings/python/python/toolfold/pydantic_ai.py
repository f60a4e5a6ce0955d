"""pydantic-ai: a capability that folds the model's tools and checks its calls.

    agent = Agent(model, tools=tools, capabilities=[Toolfold(arm="auto")], output_type=[str, DeferredToolRequests])

Arm ``append`` needs a model that accepts tools in messages, as pydantic-ai's deferred capabilities do, and its name in the settings.

All state is in the run's messages. A call that requires approval becomes a deferred approval of pydantic-ai; its metadata
contains what to show to the person. Pass the conversation's messages with the decision, in this process or another.
"""

from __future__ import annotations

import inspect
from copy import copy
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Any, NamedTuple, TypeAlias

from pydantic import ValidationError
from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import SchemaValidator, core_schema

from . import Confirm, Conversation, Engine, Entry, Forward, _settings
from ._adapter import Added, Folder, ToolSet
from ._consent import Answer, Call, noted
from ._names import unnamed
from ._pydantic_ai_messages import History, called, direct_response, key_of, restored, searched, with_added
from ._settings import Fields, Unpack
from ._steps import closed, open_loaded

__all__ = ["Settings", "Toolfold"]

#: The real schema validates the arguments; the framework only parses them.
_ANY = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


@dataclass
class _Memo:
    """State shared by the runs of a capability: the tools shown last, by tool set and array; and what follows the answers to
    calls, by engine."""

    shown: tuple[object, list[ToolDefinition]] | None = None
    added: tuple[Engine, Added] | None = None


class _Step(NamedTuple):
    """The original tools of those shown last, and the conversation and the messages at the time they were requested."""

    engine: Engine
    real: dict[str, ToolsetTool[Any]]
    conversation: Conversation
    messages: list[ModelMessage]


@dataclass
class _Run:
    """State shared by the toolset of a run and the hooks of its capability."""

    step: _Step | None = None
    history: History = field(default_factory=History)
    #: The names of hidden tools.
    hidden: frozenset[str] = frozenset()
    #: The model's original calls that a person edited, by their ids.
    edited: dict[str, ToolCallPart] = field(default_factory=dict)


#: The arms that the framework supports.
Arm: TypeAlias = _settings.Arm


@dataclass(frozen=True)
class Settings(_settings.Settings):
    """The settings of the adapter, as ``toolfold.Engine`` and ``Engine.conversation`` take them."""

    arm: Arm = "auto"


class Toolfold(AbstractCapability[Any]):
    """Folds the tools of a pydantic-ai agent.

    :param settings: the settings; the same members are accepted as keywords.
    """

    def __init__(self, settings: Settings | None = None, **fields: Unpack[Fields[Arm]]) -> None:
        self.folder = Folder(Settings.of(settings, fields))
        self.memo, self.run = _Memo(), _Run()

    async def for_run(self, ctx: RunContext[Any]) -> Toolfold:
        own = copy(self)
        own.run = _Run()
        return own

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return _Folded(toolset, self)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        parameters, hidden = request_context.model_request_parameters, self.run.hidden
        shown, messages = parameters.function_tools, restored(request_context.messages)
        if hidden:
            shown = [tool for tool in shown if tool.name not in hidden]
        step = self._seen(ctx, request_context.messages)
        if step and step.conversation.arm == "append":
            # The framework withholds these until a message adds them.
            withheld = [tool for tool in parameters.function_tools if tool.name in hidden]
            shown = [*shown, *(replace(tool, defer_loading=True) for tool in withheld)]
            if self.memo.added is None or self.memo.added[0] is not step.engine:
                self.memo.added = (step.engine, Added(step.engine, step.conversation))
            messages, opened = with_added(messages, self.memo.added[1])
            parameters = replace(parameters, revealed_tool_names=parameters.revealed_tool_names | opened)
        if shown is parameters.function_tools and messages is request_context.messages:
            return request_context
        return replace(
            request_context, messages=messages, model_request_parameters=replace(parameters, function_tools=shown)
        )

    def _seen(self, ctx: RunContext[Any], messages: list[ModelMessage]) -> _Step | None:
        """Returns the step of a request. If the run has other messages than the request, such as before ``ProcessHistory``, its
        conversation is that of the request."""
        step = self.run.step
        if step and not (len(messages) == len(step.messages) and all(map(is_, messages, step.messages))):
            seen = self.folder.conversation(step.engine, ctx.conversation_id, History().read(messages))
            self.run.step = step = step._replace(conversation=seen, messages=messages)
        return step

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        if (step := self.run.step) is None:
            return response
        open_loaded(step.conversation, searched(response))
        return direct_response(step.conversation, response, step.real)

    async def before_tool_validate(self, ctx: RunContext[Any], *, call: ToolCallPart, args: Any, **_: Any) -> Any:
        # Only a person's `override_args` differ from the arguments in the history here.
        written = called(ctx.messages, call.tool_call_id) if ctx.tool_call_approved else None
        if written and written.args_as_dict() != call.args_as_dict():
            self.run.edited[call.tool_call_id] = written
        return args


@dataclass
class _Folded(WrapperToolset[Any]):
    """The toolset of one run: the framework creates a new one for each."""

    capability: Toolfold
    #: The tools shown last, while array and tool set are unchanged.
    shown: tuple[object, dict[str, ToolsetTool[Any]]] | None = None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        tools, step = await self._step(ctx)
        self.capability.run.step, (_, real, conversation, _) = step, step
        key = (tools, conversation.digest)
        if self.shown is None or self.shown[0] != key:
            memo = self.capability.memo
            if (kept := memo.shown) is None or kept[0] != key:
                memo.shown = kept = (key, [_show(entry, real) for entry in conversation.entries()])
            shown = {one.name: self._tool(one, real) for one in kept[1]}
            # Tools that the model calls by another name are also tools of the run, so the framework's rules for them apply.
            behind = {name: own for name, own in real.items() if name not in shown}
            self.capability.run.hidden = frozenset(behind)
            self.shown = (key, shown | {name: self._tool(own.tool_def, real) for name, own in behind.items()})
        return self.shown[1]

    def _tool(self, definition: ToolDefinition, real: dict[str, ToolsetTool[Any]]) -> ToolsetTool[Any]:
        own = real.get(definition.name)
        retries = own.max_retries if own else 1
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=retries, args_validator=_ANY)

    async def _step(self, ctx: RunContext[Any]) -> tuple[ToolSet[ToolDefinition], _Step]:
        real, folder = await self.wrapped.get_tools(ctx), self.capability.folder
        defined = [tool.tool_def for tool in real.values()]
        tools = folder.tool_set(defined, _neutral)
        # Calls without an answer are about to be checked.
        history = self.capability.run.history
        steps = history.read(ctx.messages)
        if folder.may_ask:
            folder.refused(ctx.conversation_id, closed(history.steps))
        conversation = folder.conversation(tools.engine, ctx.conversation_id, steps)
        return tools, _Step(tools.engine, real, conversation, ctx.messages[:])

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        run = self.capability.run
        step = run.step or (await self._step(ctx))[1]
        conversation = step.conversation
        if name not in step.real and (why := unnamed(conversation, name, tool_args)):
            return why
        written = run.edited.pop(ctx.tool_call_id or "", None)
        key = key_of(ctx.messages, ctx.tool_call_id)
        call = Call(name, written.args if written else tool_args, ctx.tool_call_id, key)
        answer = Answer(True, edited=(name, tool_args) if written else None) if ctx.tool_call_approved else None
        outcome = self.capability.folder.judge(conversation, call, answer)
        if isinstance(outcome, Confirm):
            about = {"tool": outcome.target, "arguments": outcome.arguments, "shown": outcome.shown}
            raise ApprovalRequired({"approval": outcome.approval, **about})
        if not isinstance(outcome, Forward):
            # A plain result: the framework would count a retry against the model.
            return outcome.content
        try:
            with self.capability.folder.running(conversation, outcome, (ApprovalRequired, CallDeferred), step.engine):
                result = await self._run(outcome, step.real[outcome.target], ctx)
        except ValidationError as why:
            return f"{outcome.name} was not run: invalid arguments.\n{why}"
        conversation.report_result(outcome.id)
        return noted(conversation, outcome, result) if isinstance(result, str) else result

    async def _run(self, call: Forward, tool: ToolsetTool[Any], ctx: RunContext[Any]) -> Any:
        arguments = tool.args_validator.validate_json(call.arguments_json, context=ctx.validation_context)
        if tool.args_validator_func is not None:
            checked = tool.args_validator_func(ctx, **arguments)
            if inspect.isawaitable(checked):
                await checked
        return await self.wrapped.call_tool(call.target, arguments, ctx, tool)


def _show(entry: Entry, real: dict[str, ToolsetTool[Any]]) -> ToolDefinition:
    base = real[entry.name].tool_def if entry.name in real else ToolDefinition(name=entry.name, strict=False)
    # None: the framework decides, which it must not do for the schema of a folded tool.
    strict = entry.strict if base.strict or entry.detail != "full" else base.strict
    return replace(
        base,
        name=entry.name,
        description=entry.description,
        parameters_json_schema=entry.parameters,
        strict=strict,
        defer_loading=entry.deferred or base.defer_loading,
    )


def _neutral(tool: ToolDefinition) -> dict[str, Any]:
    own = {"name": tool.name, "description": tool.description or "", "input_schema": tool.parameters_json_schema}
    return {**own, "strict": True} if tool.strict else own
