"""toolfold folds the tool schemas that an agent sends to its model, and checks every call of the model.

    engine = toolfold.Engine(tools)                               # once per process
    conversation = engine.conversation("openai-chat", "gpt-5.4")  # once per conversation
    request["tools"] = conversation.tools()
    turn = conversation.turn(message)                             # reads and checks every call of the message
    for call in turn.runnable:
        turn.finish(call.id, run(call.target, call.arguments))    # the agent's own code
    messages += [message, *turn.messages()]

Framework adapters are separate modules that are imported only on demand: ``toolfold.openai``,
``toolfold.anthropic``, ``toolfold.pydantic_ai``, ``toolfold.langchain`` and others.
"""

from __future__ import annotations

from typing import TypeAlias

from ._toolfold import (
    VERSION,
    Approval,
    Approver,
    Confirm,
    Conversation,
    Engine,
    Entry,
    Forward,
    OpenedTool,
    Refuse,
    Reply,
    Turn,
    tokens,
)
from .errors import (
    ApprovalError,
    CallError,
    InputError,
    InternalError,
    LoadError,
    RestoreError,
    StartError,
    ToolfoldError,
    WireError,
)

__version__ = VERSION

#: The outcome of a call.
Outcome: TypeAlias = Reply | Forward | Confirm | Refuse

__all__ = [
    "Approval",
    "ApprovalError",
    "Approver",
    "CallError",
    "Confirm",
    "Conversation",
    "Engine",
    "Entry",
    "Forward",
    "InputError",
    "InternalError",
    "LoadError",
    "OpenedTool",
    "Outcome",
    "Refuse",
    "Reply",
    "RestoreError",
    "StartError",
    "ToolfoldError",
    "Turn",
    "WireError",
    "__version__",
    "tokens",
]
