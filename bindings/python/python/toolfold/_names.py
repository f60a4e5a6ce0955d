"""The names of calls: the layers of a framework see the tool that runs, and the provider gets back what the model wrote.

A framework's approvals, guardrails, hooks and stop rules apply to the name of a call. An adapter replaces a call of
``call_tool`` before those layers see it, stores what the model wrote in the message itself (so that it is there after a restart
too), and puts it back into the next request.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from . import Conversation

#: What the model wrote and what the framework sees instead: ``name``, ``arguments`` and ``direct``, a pair of both.
Record: TypeAlias = dict[str, Any]

#: The member of a message's metadata that holds the records of its calls, by the id of the call.
MEMBER = "toolfold"


def record(conversation: Conversation, name: str, arguments: Any) -> Record | None:
    """The record of a call that the framework must see by another name; None where the model wrote the name of the tool."""
    found = conversation.direct(name, arguments)
    return {"name": name, "arguments": arguments, "direct": list(found)} if found else None


def original(own: Record, name: str, arguments: Any) -> tuple[str, Any]:
    """What the model wrote, for the next request.

    :param name, arguments: the call as the framework has it now. Where another layer changed it since, the change is wrapped
        as the call was.
    """
    direct, inner = own["direct"]
    if name == direct and value(arguments) == value(inner):
        return own["name"], own["arguments"]
    if value(own["arguments"]) == value(inner):
        return name, arguments  # Another name of the tool, with nothing around the arguments.
    changed = {"name": name, "arguments": value(arguments)}
    return own["name"], json.dumps(changed) if isinstance(own["arguments"], str) else changed


def value(arguments: Any) -> Any:
    """Arguments as a value: frameworks pass them as JSON text or as a dict."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def unnamed(conversation: Conversation, name: str, arguments: Any) -> str | None:
    """What the model reads where a call reached the tools under another name than that of its tool, so that the framework's
    rules did not apply to it; None where the name is the tool's."""
    found = conversation.direct(name, arguments)
    return f"{name} was not run: call {found[0]} by its own name, with its own arguments." if found else None
