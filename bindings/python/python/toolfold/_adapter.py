"""What the adapters share. It holds no truth of its own: its engines and conversations are memos of what a framework keeps.

An adapter makes one ``Folder``. On each request it names the tools of the agent (``bind``) and what the model can still see
(``conversation``): then a thread that was resumed, forked, trimmed or moved to another process is understood as it stands.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock
from typing import Any, TypeAlias

from . import ApprovalError, Approver, Confirm, Conversation, Engine, Forward, Refuse

#: One step of a history: ``(id, name, arguments)`` for a call, ``(id, ok)`` for its answer.
Step: TypeAlias = tuple[str, str, Any] | tuple[str, bool]
Source: TypeAlias = str | os.PathLike[str]

#: How many tool sets and how many conversations are remembered; the ones used longest ago are forgotten first.
MOST_ENGINES = 32
MOST_CONVERSATIONS = 256


class Folder:
    """Engines by tool set, conversations by id. Threads may share it.

    :param arm, profile, policy, skills: as of ``toolfold.Engine``.
    :param approvals: an ``Approver``, or the path of its file; None keeps approvals in memory. The framework is the
        person's surface here: what its user says goes through this handle.
    :param wire, model: as of ``Engine.conversation``.
    """

    def __init__(
        self,
        *,
        arm: str = "auto",
        profile: Source | bool | None = None,
        policy: Source | Sequence[Source] | None = None,
        skills: Source | Sequence[Source] | None = None,
        approvals: Approver | Source | None = None,
        wire: str = "openai-chat",
        model: str | None = None,
    ) -> None:
        self.approver = approvals if isinstance(approvals, Approver) else Approver(approvals)
        self.wire, self.model = wire, model
        self._settings: dict[str, Any] = {"profile": profile, "arm": arm, "policy": policy, "skills": skills}
        self._first: Engine | None = None
        self._engines: OrderedDict[Hashable, Engine] = OrderedDict()
        self._conversations: OrderedDict[tuple[int, str], tuple[Engine, Conversation]] = OrderedDict()
        self._lock = Lock()

    def bind(self, key: Hashable, tools: Callable[[], Sequence[Mapping[str, Any]]]) -> Engine:
        """The engine of a tool set. ``key`` identifies the set; ``tools`` is asked once for its definitions."""
        with self._lock:
            if (known := self._engines.get(key)) is not None:
                self._engines.move_to_end(key)
                return known
        # Built outside the lock: a second thread may build the same, and one of them is kept.
        definitions = [dict(tool) for tool in tools()]
        if self._first is None:
            made = Engine(definitions, approvals=self.approver, **self._settings)
        else:
            made = self._first.with_tools(definitions)
        with self._lock:
            self._first = self._first or made
            made = self._engines.setdefault(key, made)
            while len(self._engines) > MOST_ENGINES:
                self._engines.popitem(last=False)
        return made

    def conversation(self, engine: Engine, id: str | None, steps: Sequence[Step]) -> Conversation:
        """The conversation whose model made these calls and still sees their answers.

        Calls that wait for their answer are not among ``steps``: they are judged by ``Conversation.call``. Without an id
        each request makes a conversation anew, and a person's answer is good for one process only.
        """
        key = (hash(engine), id or "")
        known = self._conversations.get(key) if id else None
        if known is not None and known[0] is engine and known[1].follows(steps):
            return known[1]
        made = engine.conversation(self.wire, self.model, id, steps=steps)
        if id:
            with self._lock:
                self._conversations[key] = (engine, made)
                self._conversations.move_to_end(key)
                while len(self._conversations) > MOST_CONVERSATIONS:
                    self._conversations.popitem(last=False)
        return made

    def settle(
        self, conversation: Conversation, asked: Confirm, approved: bool, reason: str | None = None
    ) -> Forward | Confirm | Refuse:
        """A person's answer, given through the framework's own surface, and what it makes of the call.

        An answer that came another way meanwhile stands.
        """
        try:
            if approved:
                self.approver.approve(asked.approval)
            else:
                self.approver.reject(asked.approval, reason)
        except ApprovalError:
            pass  # Answered already, here or elsewhere: what holds is what `resume` says.
        return conversation.resume(asked.approval)


def unanswered(steps: Sequence[Step]) -> set[str]:
    """The ids of the calls of a history that have no answer in it."""
    answered = {step[0] for step in steps if len(step) == 2}
    return {step[0] for step in steps if len(step) == 3 and step[0] not in answered}


def answered_only(steps: Sequence[Step]) -> list[Step]:
    """The history without the calls that wait for their answer."""
    open_calls = unanswered(steps)
    return [step for step in steps if step[0] not in open_calls]
