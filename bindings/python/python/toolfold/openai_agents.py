"""toolfold under the OpenAI Agents SDK (``pip install toolfold[openai-agents]``).

    agent = FoldedAgent(name="helper", tools=[...], model=..., folding=folding(policy="policy.toml"))
    result = await Runner.run(agent, "Which sheets are there?", run_config=RUN_CONFIG)

The agent's own function tools and those of its MCP servers are folded; provider-run tools are unchanged. A call
that requires approval interrupts the run, as ``needs_approval`` does, and ``RunState.approve`` runs it once, with the arguments
that were shown. ``edit(state, item, arguments)`` approves it with other arguments. An approval for every later call of a tool
(``always_approve``) applies only to that tool.

A run has one conversation. Tools opened by earlier runs are read from the run's input, so pass the history as in the SDK.
Guardrails, hooks and stop rules of a tool apply under every arm. Arms ``index``, ``search``, ``native`` and ``append``
need an agent whose ``model`` is a ``Model`` object, because only there can a request and a call be changed. ``native`` and
``append`` also need the Responses API and the model's name in the settings; under ``native``, the SDK's ``ToolSearchTool`` finds
the folded tools. Answers of toolfold never end a run.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4
from weakref import WeakKeyDictionary

from agents import Agent, FunctionTool, Model, RunConfig, RunContextWrapper, RunState, ToolApprovalItem, UserError
from agents.tool import Tool
from agents.tool_context import ToolContext

from . import Approval, Confirm, Conversation, Engine, Forward, InputError, _settings
from ._adapter import Added, Folder, ToolSet
from ._consent import NOBODY, Answer, Call, judged, noted
from ._names import unnamed
from ._openai_agents_model import DirectModel, Names
from ._openai_agents_results import Behavior, Own, steps_of
from ._settings import Fields, Unpack, carried
from ._steps import Step, answered, answered_only

#: A name that no tool has: the SDK answers it instead of ending the run.
RUN_CONFIG = RunConfig(tool_not_found_behavior="return_error_to_model")

#: An id that no call has: only an approval of every later call of a tool covers it.
EVERY_CALL = "toolfold:every-call"


#: Why an agent whose model is given by its name supports fewer deliveries.
BY_NAME = "the agent's `model` is a name, and only a `Model` object has a hook for its requests and responses"

#: The arms that the framework supports.
Arm: TypeAlias = _settings.Arm


@dataclass(frozen=True)
class Settings(_settings.Settings):
    """The settings of the adapter, as ``toolfold.Engine`` and ``Engine.conversation`` take them."""

    NOT_AUTO = ("native",)
    WIRES = {"native": ("openai-responses",), "append": ("openai-responses",)}
    arm: Arm = "auto"
    wire: _settings.Wire = "openai-responses"


def folding(settings: Settings | None = None, **fields: Unpack[Fields[Arm]]) -> Folder:
    """Returns the folding of an agent, which agents may share.

    :param settings: the settings; the same members are accepted as keywords.
    """
    return Folder(Settings.of(settings, fields))


@dataclass
class _Run:
    """The state of one run: its conversation, the ids of the answers in its last request, and the tools created from it with what
    runs their calls."""

    tool_set: ToolSet[FunctionTool]
    conversation: Conversation
    seen: set[str]
    digest: str = ""
    tools: list[Tool] = field(default_factory=list)
    gate: _Gate | None = None


@dataclass
class FoldedAgent(Agent[Any]):
    """An ``Agent`` whose tools are folded.

    :param folding: the result of ``folding()``; agents may share it.
    :param thread: the id of the run's conversation. Set it if an approval must outlive the process.
    """

    folding: Folder = field(default_factory=folding)
    thread: Callable[[RunContextWrapper[Any]], str | None] = lambda context: None

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[no-untyped-call]  # the SDK has no annotation
        self._runs: WeakKeyDictionary[RunContextWrapper[Any], _Run] = WeakKeyDictionary()
        #: The tools of the last request with their engine, for scripts that look at what was folded.
        self._bound: tuple[ToolSet[FunctionTool], Engine] | None = None
        carried(self.folding.settings.arm, self._without())

    def __setattr__(self, name: str, value: Any) -> None:
        # Wherever they are set: calls use the tools' names, and an answer of toolfold never ends a run.
        if name == "model" and isinstance(value, Model) and type(value) is not DirectModel:
            value = DirectModel(value)
        elif name == "tool_use_behavior" and value != "run_llm_again" and not isinstance(value, Behavior):
            value = Behavior(value)
        super().__setattr__(name, value)

    def _without(self) -> dict[str, str]:
        named = {} if isinstance(self.model, Model) else dict.fromkeys(("bridge", "native", "append"), BY_NAME)
        return {**named, **self.folding.without}

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        every = await super().get_all_tools(run_context)
        real = [tool for tool in every if isinstance(tool, FunctionTool)]
        # Tools of MCP servers are created again for every request, with another function each time.
        tools = self.folding.tool_set(real, _neutral, besides="on_invoke_tool")
        engine, run = tools.engine, self._runs.get(run_context)
        self._bound = (tools, engine)
        if run is None:
            steps, id = answered_only(steps_of(run_context.turn_input)), self.thread(run_context) or _run_id(run_context)
            run = _Run(tools, self._begin(engine, id, steps), answered(steps))
        elif run.gate:
            run.conversation = run.gate.names.conversation
        if run.tool_set.engine is not engine:
            run = _Run(tools, engine.restore(run.conversation.snapshot()), run.seen, gate=run.gate)
        self._runs[run_context] = run
        if asked := self.folding.waiting(run.conversation.id):
            self.folding.refused(run.conversation.id, _denied(run_context, asked))
        run.conversation.entries()  # Marks the start of the model's next message.
        by_name = {tool.name: tool for tool in real}
        if run.gate and run.tool_set is tools and run.conversation.digest == run.digest:
            run.gate.real = by_name
        else:
            id, before = run.conversation.id, run.gate.names if run.gate else None
            added = before.added if before and before.added.engine is engine else Added(engine, run.conversation)
            hidden = by_name.keys() - {entry.name for entry in run.conversation.entries()}
            names = Names(run.conversation, frozenset(hidden), added, run.seen, partial(self._begin, engine, id), before)
            run.digest, run.tool_set, run.gate = run.conversation.digest, tools, _Gate(names, self.folding, by_name)
            run.tools = _folded(run.gate)
        return [*run.tools, *(tool for tool in every if not isinstance(tool, FunctionTool))]

    def _begin(self, engine: Engine, id: str, steps: Sequence[Step]) -> Conversation:
        return self.folding.conversation(engine, id, steps, without=self._without())


def edit(state: RunState[Any, Any], item: ToolApprovalItem, arguments: Mapping[str, Any]) -> None:
    """Approves a call that an agent's policy suspended, with other arguments. They are checked when this process continues the
    run: in another process, the call is refused.

    :param item: one of ``state.get_interruptions()``.
    :raises InputError: the agent has no policy that suspended this call, or the arguments cannot be written as JSON.
    """
    agent, context = item.agent, state._context
    if not isinstance(agent, FoldedAgent) or context is None:
        raise InputError("only a call of a FoldedAgent can be edited")
    agent.folding.change(agent.thread(context) or _run_id(context), item.call_id or "", arguments)
    state.approve(item)


def _run_id(context: RunContextWrapper[Any]) -> str:
    """Returns the id of a run without a thread. The SDK copies it with the context into the state of an interrupted run."""
    id: str | None = getattr(context, "toolfold_run", None)
    if id is None:
        id = f"run-{uuid4().hex}"
        setattr(context, "toolfold_run", id)  # noqa: B010  # the SDK's class does not declare it
    return id


def _denied(context: RunContextWrapper[Any], asked: Sequence[Approval]) -> set[str]:
    """Returns the calls that the SDK's user rejected, which the SDK does not report to its tools."""
    return {one.call for one in asked if context.is_tool_approved(one.tool, one.call) is False}


def _proof(context: ToolContext[Any]) -> Answer | None:
    """Returns the SDK's record that its user approved this call, or every call of the tool."""
    if context.is_tool_approved(context.tool_name, context.tool_call_id) is not True:
        return None
    return Answer(True, standing=context.is_tool_approved(context.tool_name, EVERY_CALL) is True)


class _Gate:
    """Runs the calls of one run: the ``on_invoke_tool`` of its tools.

    :param real: the agent's tools by name, as they were in the last request.
    """

    def __init__(self, names: Names, folder: Folder, real: dict[str, FunctionTool]) -> None:
        self.names, self.folder, self.real = names, folder, real

    async def __call__(self, context: ToolContext[Any], arguments: str) -> Any:
        conversation, folder = self.names.conversation, self.folder
        if unnamed(conversation, context.tool_name, arguments):
            raise UserError(f"{context.tool_name}: the model of this run is not the agent's; give the agent the model")
        outcome = folder.judge(conversation, Call(context.tool_name, arguments, context.tool_call_id), _proof(context))
        if isinstance(outcome, Confirm):
            # The SDK requests approvals before it runs a call, and cannot request one now.
            outcome = folder.settle(conversation, outcome, False, NOBODY)
        if not isinstance(outcome, Forward):
            return Own(outcome.content)
        with folder.running(conversation, outcome):
            result = await self.real[outcome.target].on_invoke_tool(context, outcome.arguments_json)
        conversation.report_result(outcome.id)
        return noted(conversation, outcome, result) if isinstance(result, str) else result

    def asks(self, name: str) -> Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]:
        async def needs_approval(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
            outcome = judged(self.names.conversation, Call(name, json.dumps(arguments), call_id))
            if not isinstance(outcome, Forward):
                return isinstance(outcome, Confirm)
            own = self.real[outcome.target].needs_approval
            if callable(own):
                found = own(context, outcome.arguments, call_id)
                return bool(await found if inspect.isawaitable(found) else found)
            return own

        return needs_approval


def _neutral(tool: FunctionTool) -> dict[str, Any]:
    own = {"name": tool.name, "description": tool.description, "input_schema": tool.params_json_schema}
    return {**own, "strict": True} if tool.strict_json_schema else own


def _folded(gate: _Gate) -> list[Tool]:
    names, by_name, entries = gate.names, gate.real, gate.names.conversation.entries()
    # If `needs_approval` is a function, the SDK may request an approval for arguments it cannot parse: they are repaired.
    may_ask = gate.folder.may_ask or any(tool.needs_approval for tool in by_name.values())
    tools: list[Tool] = []
    for entry in entries:
        own = by_name.get(entry.name) or FunctionTool(entry.name, "", {}, gate, strict_json_schema=False)
        shown: dict[str, Any] = {"description": entry.description, "params_json_schema": entry.parameters}
        shown |= {"strict_json_schema": entry.strict, "on_invoke_tool": gate}
        tools.append(replace(own, needs_approval=may_ask and gate.asks(entry.name), **shown))
    # Tools that the model calls by another name are also tools of the run, so the SDK's rules for them apply.
    for name in sorted(names.hidden):
        tools.append(replace(by_name[name], on_invoke_tool=gate, needs_approval=may_ask and gate.asks(name)))
    return tools
