"""Calls in the OpenAI Agents SDK: the items of its input, and results that may end a run."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents import RunContextWrapper
from agents.agent import ToolsToFinalOutputResult

from ._steps import Step, loaded


def steps_of(items: Sequence[Any]) -> list[Step]:
    """Returns the calls and answers in the input items of a run."""
    steps: list[Step] = []
    for item in items:
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "function_call":
            steps.append((item["call_id"], item["name"], item["arguments"]))
        elif kind == "function_call_output":
            steps.append((item["call_id"], True))
        elif kind == "tool_search_output":
            steps += loaded(item.get("id"), item.get("tools"))
    return steps


class Own(str):
    """An answer of toolfold instead of the called tool."""


@dataclass
class Behavior:
    """A ``tool_use_behavior`` that applies only to the results of tools."""

    behavior: Any

    async def __call__(self, context: RunContextWrapper[Any], results: list[Any]) -> ToolsToFinalOutputResult:
        ran = [result for result in results if not isinstance(result.output, Own)]
        if not ran:
            return ToolsToFinalOutputResult(is_final_output=False, final_output=None)
        if callable(self.behavior):
            found = self.behavior(context, ran)
            made: ToolsToFinalOutputResult = await found if inspect.isawaitable(found) else found
            return made
        names = self.behavior.get("stop_at_tool_names", []) if isinstance(self.behavior, dict) else None
        stops = (one for one in ran if names is None or one.tool.name in names or one.tool.qualified_name in names)
        last = next(stops, None)
        return ToolsToFinalOutputResult(is_final_output=last is not None, final_output=last.output if last else None)
