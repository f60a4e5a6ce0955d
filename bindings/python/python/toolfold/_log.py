"""What toolfold reports to ``logging.getLogger("toolfold")``: arms with their reasons, diagnostics, and refused calls.

The arguments of calls and the contents of results are never logged.
"""

from __future__ import annotations

import logging

from . import Confirm, Conversation, Outcome, Refuse, Reply

LOG = logging.getLogger("toolfold")
LOG.addHandler(logging.NullHandler())


def started(conversation: Conversation) -> None:
    """Reports the arm of a conversation, and what its wire does not support."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("conversation %r: %s", conversation.id, conversation.explain())
    if LOG.isEnabledFor(logging.WARNING):
        for one in conversation.diagnostics:
            LOG.warning("conversation %r: %s: %s", conversation.id, one["code"], one["message"])


def judged(conversation: Conversation, outcome: Outcome) -> None:
    """Reports a call that is not run, with its reason."""
    match outcome:
        case Refuse():
            LOG.warning("conversation %r: %s was refused: %s", conversation.id, outcome.target, outcome.reason)
        case Confirm():
            LOG.info("conversation %r: %s waits for %s", conversation.id, outcome.target, outcome.approval)
        case Reply(is_error=True):
            LOG.info("conversation %r: %s was answered here: %s", conversation.id, outcome.name, outcome.kind)
