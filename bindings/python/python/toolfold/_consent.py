"""Decisions of a person: a decision covers exactly the call that was shown, with the arguments that were shown."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from . import Approval, ApprovalError, Approver, Confirm, Conversation, Forward, InputError, Outcome, Refuse, _log

#: The rejection reason of an approval whose call the person edited.
EDITED = "the person changed the arguments of the call"
#: The maximum number of stored edits of calls that have not continued.
MOST_EDITS = 256
#: The ids of the calls with arguments that a person wrote.
_EDITED: WeakKeyDictionary[Conversation, set[str]] = WeakKeyDictionary()
#: The rejection reason if the framework cannot request an approval.
NOBODY = "no one could be asked about this call"
#: The rejection reason of an approval whose call has different arguments by the time of the decision.
CHANGED = "the call has other arguments than those that were shown"


class Call(NamedTuple):
    """A call as its framework passes it."""

    name: str
    #: A dict, or JSON text as the model wrote it.
    arguments: Any
    #: The provider's id: a label that other calls may share.
    id: str | None
    #: The id of the assistant message, if the framework relies on unique ids; otherwise None.
    message: str | None = None


@dataclass(frozen=True)
class Answer:
    """The framework's own proof that a person decided about a call."""

    approved: bool
    reason: str | None = None
    #: The name and arguments with which the person replaced the shown ones.
    edited: tuple[str, Any] | None = None
    #: Whether the decision covers every later call of the tool, as chosen in the framework's interface.
    standing: bool = False


class Consent:
    """Checks calls, and completes those that a person decided about in the framework's interface.

    :param approver: the person's handle for approvals.
    :param may_ask: whether a call may require approval at all.
    """

    def __init__(self, approver: Approver, may_ask: bool) -> None:
        self.approver, self.may_ask = approver, may_ask
        #: What ``change`` stored, by conversation and call: the edited approval, and the call with the person's arguments.
        self._edits: OrderedDict[tuple[str, str], tuple[str, tuple[str, Any]]] = OrderedDict()

    def forget(self, conversation: Conversation) -> None:
        """Drops a conversation from the cache."""

    def judge(self, conversation: Conversation, call: Call, answer: Answer | None = None) -> Outcome:
        """Checks a call, and completes it if it requires approval and ``answer`` covers it.

        An approval covers only what existed before the call was checked, because only that can have been shown. A call with
        different arguments gets a new approval, which is returned as ``Confirm``, and the old one is rejected. A rejection
        covers any arguments.
        """
        shown = {one.id for one in self.waiting(conversation.id)} if answer else set()
        outcome = judged(conversation, call)
        if answer is None:
            return outcome
        if isinstance(outcome, Refuse) and answer.approved:
            key = (conversation.id, call.id or "")
            edit = self._edits.get(key)
            # Threads may continue the call at the same time: one of them takes the edit.
            if edit and edit[1][0] == outcome.target and self._edits.pop(key, None):
                return self._edited(conversation, *edit)
            return outcome
        if isinstance(outcome, Forward) and outcome.policy != "confirm" and answer.approved and answer.edited:
            # Only the framework requested this approval.
            conversation.pause(outcome.id)
            return self._edited(conversation, None, answer.edited)
        if not isinstance(outcome, Confirm):
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
        """Stores a decision made in the framework's interface, and returns the outcome of the call.

        A decision that was made elsewhere in the meantime is preserved. The conversation is dropped from the cache: if the
        framework runs the step again, the approval is already used.

        :param edited: the name and arguments with which the person replaced those of ``asked``.
        """
        self.forget(conversation)
        # Only True approves: a missing `await` or a string does not.
        if approved is True and edited is not None and not same_call(asked, edited):
            return self.edit(conversation, asked, edited) or conversation.resume(asked.approval)
        answer_approval(self.approver, asked, approved is True, reason)
        return conversation.resume(asked.approval)

    def edit(self, conversation: Conversation, asked: Confirm, edited: tuple[str, Any]) -> Outcome | None:
        """Checks the edited call instead of the one that was shown. The record of its approval names the first one.

        :returns: the outcome of the edited call; None if ``asked`` was decided elsewhere in the meantime.
        :raises InputError: the arguments cannot be written as JSON. Nothing is decided then.
        """
        conversation.direct("", edited[1])  # An unknown name: the arguments are read, before anything is decided.
        answer_approval(self.approver, asked, False, EDITED)
        if self.approver.get(asked.approval).reason != EDITED:
            return None
        return self._edited(conversation, asked.approval, edited)

    def change(self, id: str, call: str, arguments: Mapping[str, Any]) -> None:
        """Stores the arguments with which a person approves a call, for a framework whose approvals have no arguments. The
        approval that was shown is rejected. Once the framework continues the call in this process, ``judge`` checks these
        arguments; in another process, the call is refused.

        :param id: the conversation.
        :param call: the id of the call in its framework.
        :raises InputError: no call of this id waits for approval, or the arguments cannot be written as JSON.
        :raises ApprovalError: it was decided in the meantime.
        """
        asked = [one for one in self.waiting(id) if one.call == call]
        if len(asked) != 1:
            found = "several calls of this id wait" if asked else "no call of this id waits"
            raise InputError(f"{found} for approval in conversation {id!r}: {call!r}")
        try:
            changed = _json(arguments := dict(arguments)) != _json(asked[0].arguments)
        except TypeError as why:
            raise InputError(f"the arguments cannot be written as JSON: {why}") from why
        if changed:
            self.approver.reject(asked[0].id, EDITED)
            self._edits[id, call] = (asked[0].id, (asked[0].tool, arguments))
            if len(self._edits) > MOST_EDITS:
                self._edits.popitem(last=False)

    def _edited(self, conversation: Conversation, approval: str | None, edited: tuple[str, Any]) -> Outcome:
        outcome = conversation.call(*edited)
        _EDITED.setdefault(conversation, set()).add(outcome.id)
        if isinstance(outcome, Confirm):
            self.approver.approve(outcome.approval, edited=approval)
            return conversation.resume(outcome.approval)
        return outcome

    def replace(self, asked: Confirm, call: str | None) -> None:
        """Rejects pending approvals of earlier forms of a call: ``asked`` replaces them.

        :param call: the id of the call in its framework.
        """
        for one in self.waiting(self.approver.get(asked.approval).conversation):
            if one.call in (call, asked.id) and one.id != asked.approval:
                self.reject(one.id, CHANGED)

    def refused(self, id: str | None, calls: set[str]) -> None:
        """Rejects pending approvals of calls with an answer in the framework, which does not report rejections to its tools.

        :param calls: the ids of the calls.
        """
        for one in self.waiting(id) if calls else ():
            if one.call in calls:
                self.reject(one.id)

    def reject(self, approval: str, reason: str | None = None) -> None:
        """Rejects an approval that is still pending."""
        with suppress(ApprovalError):  # It was decided in the meantime.
            self.approver.reject(approval, reason)

    def waiting(self, id: str | None) -> list[Approval]:
        """Returns the pending approvals of a conversation. Empty without an id, and without a policy."""
        return [one for one in self.approver.pending() if one.conversation == id] if id and self.may_ask else []


def judged(conversation: Conversation, call: Call) -> Outcome:
    """Checks a call, once for each time that its message contains it."""
    outcome = conversation.call(call.name, call.arguments, call.id, call.message)
    _log.judged(conversation, outcome)
    return outcome


def answer_approval(approver: Approver, asked: Confirm, approved: bool, reason: str | None = None) -> None:
    """Stores a person's decision. A decision that is already stored is preserved.

    :raises InputError: the store is not the engine's; the same id belongs to another call there.
    :raises ApprovalError: the store has no such approval.
    """
    found = approver.get(asked.approval)
    if found.state == "pending" and found.shown != asked.shown:
        raise InputError(f"{asked.approval} of this approver is another call, of {found.tool}: give the engine's own")
    try:
        approver.approve(asked.approval) if approved else approver.reject(asked.approval, reason)
    except ApprovalError:
        if approver.get(asked.approval).state == "pending":
            raise


def note_of(conversation: Conversation, call: Forward) -> str | None:
    """Returns the text that precedes the result of a call: the arguments if a person changed them, and its note."""
    if not _EDITED or call.id not in _EDITED.get(conversation, ()):
        return call.note
    changed = f"A person changed the arguments of this call before it ran: {call.arguments_json}"
    return f"{changed}\n{call.note}" if call.note else changed


def noted(conversation: Conversation, call: Forward, result: str) -> str:
    """Returns the result of a call for the model."""
    note = note_of(conversation, call)
    return result if note is None else f"{note}\n{result}"


def same_call(asked: Confirm, edited: tuple[str, Any]) -> bool:
    """Returns whether a person changed nothing. As JSON, ``1`` and ``True`` are different."""
    name, arguments = edited
    same = name in (asked.name, asked.target) and arguments == asked.arguments
    return same and _json(arguments) == _json(asked.arguments)


def _json(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True)
