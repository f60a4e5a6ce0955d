"""toolfold under the OpenAI Agents SDK (``pip install toolfold[openai-agents]``).

    agent = FoldedAgent(name="helper", tools=[...], model=..., folding=folding(policy="policy.toml"))
    result = await Runner.run(agent, "Which sheets are there?", run_config=RUN_CONFIG)

The agent's own function tools and those of its MCP servers are folded; tools that the provider runs stay as they are. What
policy asks a person about interrupts the run, as ``needs_approval`` does, and ``RunState.approve`` runs it once.

A run keeps one conversation. What earlier runs opened is read from the run's input, so give the history as the SDK does.
Guardrails of a tool apply where the tool is shown, and not to what arm ``index`` runs through ``call_tool``.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from agents import Agent, FunctionTool, RunConfig, RunContextWrapper
from agents.tool import Tool
from agents.tool_context import ToolContext

from . import Approval, Confirm, Conversation, Engine, Forward, Refuse, Reply
from ._adapter import Folder, Step, answered_only, judged

#: A name that no tool has is answered by the SDK instead of ending the run.
RUN_CONFIG = RunConfig(tool_not_found_behavior="return_error_to_model")


def folding(*, wire: str = "openai-responses", **settings: Any) -> Folder:
    """How an agent folds: ``arm``, ``profile``, ``policy``, ``skills``, ``approvals``, ``model`` and ``wire``."""
    return Folder(wire=wire, **settings)


@dataclass
class _Run:
    """What one run has: its conversation, and the tools made from it."""

    engine: Engine
    conversation: Conversation
    digest: str = ""
    tools: list[Tool] = field(default_factory=list)


@dataclass
class FoldedAgent(Agent[Any]):
    """An ``Agent`` whose tools are folded.

    :param folding: what ``folding()`` gives; agents may share it.
    :param thread: the id of the conversation that a run belongs to. Give one where an approval must outlive the process.
    """

    folding: Folder = field(default_factory=folding)
    thread: Callable[[RunContextWrapper[Any]], str | None] = lambda context: None

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[no-untyped-call]  # the SDK does not say
        self._runs: WeakKeyDictionary[RunContextWrapper[Any], _Run] = WeakKeyDictionary()
        self._bound: tuple[list[FunctionTool], Engine] | None = None

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        every = await super().get_all_tools(run_context)
        real = [tool for tool in every if isinstance(tool, FunctionTool)]
        engine = self._engine(real)
        run = self._runs.get(run_context)
        if run is None:
            steps = answered_only(past_steps(run_context.turn_input))
            run = _Run(engine, self.folding.conversation(engine, self.thread(run_context), steps))
        elif run.engine is not engine:
            run = _Run(engine, engine.restore(run.conversation.snapshot()))
        self._runs[run_context] = run
        if asked := self.folding.waiting(run.conversation.id):
            self.folding.refused(run.conversation.id, _denied(run_context, asked, {tool.name for tool in every}))
        if (digest := run.conversation.digest) != run.digest:
            run.digest, run.tools = digest, _folded(run.conversation, self.folding, real)
        return [*run.tools, *(tool for tool in every if not isinstance(tool, FunctionTool))]

    def _engine(self, real: list[FunctionTool]) -> Engine:
        """The engine of a tool set; the same objects are the same set, and else their content says."""
        if (known := self._bound) and len(known[0]) == len(real) and all(map(lambda a, b: a is b, known[0], real)):
            return known[1]
        tools = [{"name": t.name, "description": t.description, "input_schema": t.params_json_schema} for t in real]
        engine = self.folding.bind(json.dumps(tools), lambda: tools)
        self._bound = (real, engine)
        return engine


def _denied(context: RunContextWrapper[Any], asked: Sequence[Approval], shown: set[str]) -> set[str]:
    """The calls that the SDK's user said no to, of which it tells its tools nothing. What is not shown goes by ``call_tool``."""
    names = ((one.tool if one.tool in shown else "call_tool", one.call) for one in asked)
    return {call for name, call in names if context.is_tool_approved(name, call) is False}


def past_steps(items: Sequence[Any]) -> list[Step]:
    """The calls and answers among the input items of a run."""
    steps: list[Step] = []
    for item in items:
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "function_call":
            steps.append((item["call_id"], item["name"], item["arguments"]))
        elif kind == "function_call_output":
            steps.append((item["call_id"], True))
    return steps


def _folded(conversation: Conversation, folder: Folder, real: list[FunctionTool]) -> list[Tool]:
    by_name = {tool.name: tool for tool in real}

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        outcome = judged(conversation, context.tool_name, arguments, context.tool_call_id)
        if isinstance(outcome, Confirm):
            # The SDK runs what waited only once its user said yes.
            outcome = folder.settle(conversation, outcome, approved=True)
        match outcome:
            case Reply(content=text) | Refuse(content=text):
                return text
            case Forward() as forward:
                with folder.running(conversation, forward):
                    result = await by_name[forward.target].on_invoke_tool(context, forward.arguments_json)
                conversation.report_result(forward.id)
                return forward.noted(result) if isinstance(result, str) else result

    def asks(name: str) -> Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]:
        async def needs_approval(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
            written = getattr(context, "tool_arguments", None) or json.dumps(arguments)
            outcome = judged(conversation, name, written, call_id)
            if not isinstance(outcome, Forward):
                return isinstance(outcome, Confirm)
            own = by_name[outcome.target].needs_approval
            if callable(own):
                found = own(context, outcome.arguments, call_id)
                return bool(await found if inspect.isawaitable(found) else found)
            return own

        return needs_approval

    # Where `needs_approval` is a function, the SDK asks a person about arguments that it cannot read: they are repaired.
    may_ask = folder.may_ask or any(tool.needs_approval for tool in real)
    tools: list[Tool] = []
    for entry in conversation.entries():
        own = by_name.get(entry.name) or FunctionTool(entry.name, "", {}, invoke, strict_json_schema=False)
        shown: dict[str, Any] = {"description": entry.description, "params_json_schema": entry.parameters}
        shown |= {"strict_json_schema": entry.strict, "on_invoke_tool": invoke, "needs_approval": may_ask and asks(entry.name)}
        tools.append(replace(own, **shown))
    return tools
