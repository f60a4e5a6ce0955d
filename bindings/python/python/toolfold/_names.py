"""The names of calls: the framework's layers see the tool that runs, and the provider gets the model's original call.

A framework's approvals, guardrails, hooks and stop rules apply to the name of a call. An adapter replaces a call of
``call_tool`` before those layers see it, stores the original call in the message itself (so it survives a restart),
and restores it in the next request.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from . import Conversation

#: The model's original call and the replacement: ``name``, ``arguments`` and ``direct``, a pair of both.
Record: TypeAlias = dict[str, Any]

#: The metadata key of a message under which the records of its calls are stored, by the id of the call.
MEMBER = "toolfold"


def record(conversation: Conversation, name: str, arguments: Any) -> Record | None:
    """Returns the record of a call that the framework must see by another name; None if the model wrote the tool's name."""
    found = conversation.direct(name, arguments)
    return {"name": name, "arguments": arguments, "direct": list(found)} if found else None


def original(own: Record, name: str, arguments: Any) -> tuple[str, Any]:
    """Returns the model's original call, for the next request.

    :param name, arguments: the call as the framework has it now. If another layer changed it, the change is wrapped like the
        original call.
    """
    direct, inner = own["direct"]
    if name == direct and value(arguments) == value(inner):
        return own["name"], own["arguments"]
    if value(own["arguments"]) == value(inner):
        return name, arguments  # Another name of the tool, without a wrapper around the arguments.
    changed = {"name": name, "arguments": value(arguments)}
    return own["name"], json.dumps(changed) if isinstance(own["arguments"], str) else changed


def value(arguments: Any) -> Any:
    """Returns arguments as a value: frameworks pass them as JSON text or as a dict."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def unnamed(conversation: Conversation, name: str, arguments: Any) -> str | None:
    """Returns an error for the model if a call reached the tools under a name other than its tool's, so that the framework's
    rules did not apply to it; None if the name is the tool's."""
    found = conversation.direct(name, arguments)
    return f"{name} was not run: call {found[0]} by its own name, with its own arguments." if found else None
