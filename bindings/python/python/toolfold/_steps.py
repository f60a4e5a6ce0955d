"""The history of a framework as steps: calls and their answers, oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from . import Conversation

#: One step of a history: ``(id, name, arguments)`` for a call, ``(id, ok)`` for its answer.
Step: TypeAlias = tuple[str, str, Any] | tuple[str, bool]


def loaded(id: object, tools: Any) -> list[Step]:
    """Returns the steps that represent tools which the provider's own search loaded: an answered call of ``expand_tools``.

    :param tools: the loaded definitions, in OpenAI's format: functions, and namespaces of functions.
    """
    each = [tool for tool in tools or () if isinstance(tool, dict)]
    every = [inner for tool in each for inner in (tool.get("tools", ()) if tool.get("type") == "namespace" else [tool])]
    names = [tool["name"] for tool in every if isinstance(tool.get("name"), str)]
    key = f"search:{id}"
    return [(key, "expand_tools", {"tools": names}), (key, True)] if names else []


def open_loaded(conversation: Conversation, steps: Sequence[Step]) -> None:
    """Opens the tools of ``loaded`` steps in a conversation whose model has read them before its calls."""
    for step in steps:
        if len(step) == 3:
            conversation.call(step[1], step[2], step[0])
    if steps:
        conversation.entries()  # Marks the start of a message: the search ended before the calls.


def unanswered(steps: Sequence[Step]) -> set[str]:
    """Returns the ids of the calls of a history without an answer."""
    return {steps[at][0] for at in _open(steps)}


def answered(steps: Sequence[Step]) -> set[str]:
    """Returns the ids of the answers of a history."""
    return {step[0] for step in steps if len(step) == 2}


def closed(steps: Sequence[Step]) -> set[str]:
    """Returns the ids of a history for which every call has an answer."""
    return answered(steps) - unanswered(steps)


def answered_only(steps: Sequence[Step]) -> list[Step]:
    """Returns the history without the calls that have no answer."""
    left_out = _open(steps)
    return [step for at, step in enumerate(steps) if at not in left_out]


def _open(steps: Sequence[Step]) -> set[int]:
    """Returns the positions of the calls without an answer. Some models restart the numbering of calls in each message, so an
    answer belongs to the first open call of its id at that position."""
    waiting: dict[str, list[int]] = {}
    for at, step in enumerate(steps):
        if len(step) == 3:
            waiting.setdefault(step[0], []).append(at)
        elif waiting.get(step[0]):
            waiting[step[0]].pop(0)
    return {at for places in waiting.values() for at in places}
