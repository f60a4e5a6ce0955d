"""What a person's answer does: it covers the call that was shown, with the arguments that were shown, and nothing else."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from . import Approval, ApprovalError, Approver, Confirm, Conversation, InputError, Outcome

#: The reason of the rejection that an edit leaves at the approval that was shown.
EDITED = "the person changed the arguments of the call"
#: The reason of a rejection where the framework cannot ask.
NOBODY = "no one could be asked about this call"
#: The reason of the rejection of an approval whose call has other arguments by the time of the answer.
CHANGED = "the call has other arguments than those that were shown"


@dataclass(frozen=True)
class Call:
    """A call as its framework passes it on."""

    name: str
    #: A dict, or JSON text as the model wrote it.
    arguments: Any
    #: The provider's id: a label, which may be another call's too.
    id: str | None
    #: The id of the assistant message, where the framework relies on its being unique; None where it has none.
    message: str | None = None


@dataclass(frozen=True)
class Answer:
    """The framework's own proof that a person answered a call."""

    approved: bool
    reason: str | None = None
    #: The name and arguments that the person put in place of the ones that were shown.
    edited: tuple[str, Any] | None = None
    #: Whether the answer holds for every later call of the tool, as the person decided in the framework's interface.
    standing: bool = False


class Consent:
    """Judges calls, and settles the ones that a person answered in the framework's interface.

    :param approver: the person's handle on the approvals.
    :param may_ask: whether a call may require approval at all.
    """

    def __init__(self, approver: Approver, may_ask: bool) -> None:
        self.approver, self.may_ask = approver, may_ask

    def forget(self, conversation: Conversation) -> None:
        """Drops a conversation from memory, where it is remembered."""

    def judge(self, conversation: Conversation, call: Call, answer: Answer | None = None) -> Outcome:
        """Judges a call, and settles it if it requires approval and ``answer`` covers it.

        An approval covers what existed before the call was judged: only that can have been shown. A call with other
        arguments gets a new approval, which is returned as ``Confirm``, and the old one is rejected. A rejection covers any
        arguments.
        """
        shown = {one.id for one in self.waiting(conversation.id)} if answer else set()
        outcome = judged(conversation, call)
        if not isinstance(outcome, Confirm) or answer is None:
            return outcome
        if outcome.approval not in shown:
            self.replace(outcome, call.id)
            if answer.approved and not answer.standing:
                return outcome
        return self.settle(conversation, outcome, answer.approved, answer.reason, answer.edited)

    def settle(
        self,
        conversation: Conversation,
        asked: Confirm,
        approved: bool,
        reason: str | None = None,
        edited: tuple[str, Any] | None = None,
    ) -> Outcome:
        """Stores a person's answer that came through the framework's interface, and returns what the call becomes.

        An answer that came another way in between stays. The conversation is forgotten: a framework that runs the step again
        finds that the approval is used, and not a call to run.

        :param edited: the name and arguments that the person put in place of those of ``asked``.
        """
        self.forget(conversation)
        # Only True approves: a forgotten `await` or a text does not.
        if approved is True and edited is not None and not _same(asked, edited):
            return self._edit(conversation, asked, edited)
        answer_approval(self.approver, asked, approved is True, reason)
        return conversation.resume(asked.approval)

    def _edit(self, conversation: Conversation, asked: Confirm, edited: tuple[str, Any]) -> Outcome:
        """Judges the person's call in place of the one that was shown. The record of its approval names the first one."""
        answer_approval(self.approver, asked, False, EDITED)
        if (stored := self.approver.get(asked.approval)).reason != EDITED:
            return conversation.resume(stored.id)  # It was answered another way in between.
        outcome = conversation.call(*edited)
        if isinstance(outcome, Confirm):
            self.approver.approve(outcome.approval, edited=asked.approval)
            return conversation.resume(outcome.approval)
        return outcome

    def replace(self, asked: Confirm, call: str | None) -> None:
        """Rejects what waits for an earlier form of a call: the person is asked about ``asked`` instead.

        :param call: the id of the call in its framework.
        """
        for one in self.waiting(self.approver.get(asked.approval).conversation):
            if one.call in (call, asked.id) and one.id != asked.approval:
                self.reject(one.id, CHANGED)

    def refused(self, id: str | None, calls: set[str]) -> None:
        """Rejects what waits for calls that have an answer in the framework: a rejection there isn't reported to its tools.

        :param calls: the ids of the calls.
        """
        for one in self.waiting(id) if calls else ():
            if one.call in calls:
                self.reject(one.id)

    def reject(self, approval: str, reason: str | None = None) -> None:
        """Rejects an approval that is still pending."""
        with suppress(ApprovalError):  # It was answered in between.
            self.approver.reject(approval, reason)

    def waiting(self, id: str | None) -> list[Approval]:
        """The unanswered approvals of a conversation. Empty without an id, and where no policy is set."""
        return [one for one in self.approver.pending() if one.conversation == id] if id and self.may_ask else []


def judged(conversation: Conversation, call: Call) -> Outcome:
    """Judges a call, once for each time that its message has it."""
    return conversation.call(call.name, call.arguments, call.id, call.message)


def answer_approval(approver: Approver, asked: Confirm, approved: bool, reason: str | None = None) -> None:
    """Gives a person's answer to the store. One that was given there meanwhile stands.

    :raises InputError: the store is not the engine's, where the same id stands for another call.
    :raises ApprovalError: the store knows no such approval.
    """
    found = approver.get(asked.approval)
    if found.state == "pending" and found.shown != asked.shown:
        raise InputError(f"{asked.approval} of this approver is another call, of {found.tool}: give the engine's own")
    try:
        approver.approve(asked.approval) if approved else approver.reject(asked.approval, reason)
    except ApprovalError:
        if approver.get(asked.approval).state == "pending":
            raise


def edit_note(arguments: Any) -> str:
    """What the model reads before the result of a call that a person edited."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return f"A person changed the arguments of this call before it ran: {text}"


def _same(asked: Confirm, edited: tuple[str, Any]) -> bool:
    name, arguments = edited
    return name == asked.name and arguments == asked.arguments
