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


class OpenCalls:
    """The calls of a history without an answer. Some models restart the numbering of calls in each message, so an answer belongs
    to the first open call of its id at that position."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self._waiting: dict[str, list[int]] = {}
        self._count = 0
        self.add(steps)

    def add(self, steps: Sequence[Step]) -> None:
        """Adds the next steps of the history."""
        for at, step in enumerate(steps, self._count):
            if len(step) == 3:
                self._waiting.setdefault(step[0], []).append(at)
            elif places := self._waiting.get(step[0]):
                places.pop(0)
                if not places:
                    del self._waiting[step[0]]
        self._count += len(steps)

    @property
    def ids(self) -> set[str]:
        return set(self._waiting)

    def left_out(self, steps: Sequence[Step]) -> list[Step]:
        """Returns the same history without them."""
        places = {at for each in self._waiting.values() for at in each}
        return [step for at, step in enumerate(steps) if at not in places] if places else list(steps)


def answered(steps: Sequence[Step]) -> set[str]:
    """Returns the ids of the answers of a history."""
    return {step[0] for step in steps if len(step) == 2}


def closed(steps: Sequence[Step]) -> set[str]:
    """Returns the ids of a history for which every call has an answer."""
    return answered(steps) - OpenCalls(steps).ids


def answered_only(steps: Sequence[Step]) -> list[Step]:
    """Returns the history without the calls that have no answer."""
    return OpenCalls(steps).left_out(steps)
