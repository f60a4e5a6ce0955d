"""What the adapters share. It holds no truth of its own: its engines and conversations are memos of what a framework keeps.

An adapter makes one ``Folder``. On each request it names the tools of the agent (``bind``) and what the model can still see
(``conversation``): then a thread that was resumed, forked, trimmed or moved to another process is understood as it stands.
"""

from __future__ import annotations

import inspect
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock
from typing import Any, TypeAlias

from . import ApprovalError, Approver, Confirm, Conversation, Engine, Forward, Refuse, Turn

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
        self._engines: OrderedDict[Hashable, tuple[Engine, object]] = OrderedDict()
        self._by_text: OrderedDict[str, Engine] = OrderedDict()
        self._conversations: OrderedDict[tuple[int, str], tuple[Engine, Conversation]] = OrderedDict()
        self._lock = Lock()

    def bind(
        self, key: Hashable, tools: Callable[[], Sequence[Mapping[str, Any]]], *, keep: object = None
    ) -> Engine:
        """The engine of a tool set.

        :param key: what identifies the set at little cost, such as the ``id`` of each tool.
        :param tools: the definitions, in any provider's form; asked only where the key is new.
        :param keep: the objects whose ``id`` is in the key: they must not die while the key is remembered.
        """
        with self._lock:
            if (known := self._engines.get(key)) is not None:
                self._engines.move_to_end(key)
                return known[0]
            # Frameworks that make their tools anew for every request still mean the same ones.
            definitions = [dict(tool) for tool in tools()]
            text = json.dumps(definitions)
            made = self._by_text.get(text)
            if made is None and self._first is None:
                made = self._first = Engine(definitions, approvals=self.approver, **self._settings)
            elif made is None and self._first is not None:
                made = self._first.with_tools(text)
            assert made is not None
            self._engines[key], self._by_text[text] = (made, keep), made
            for memo in (self._engines, self._by_text):
                while len(memo) > MOST_ENGINES:
                    memo.popitem(last=False)
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


#: Runs a tool by its host's name. What is no text is sent as JSON; an exception is a failed call.
Run: TypeAlias = Callable[[str, dict[str, Any]], Any]
#: Puts a call before a person: True runs it, False refuses it for good, None leaves it waiting.
Ask: TypeAlias = Callable[[Confirm], bool | None]


def answer(turn: Turn, run: Run, ask: Ask | None, approver: Approver | None) -> list[dict[str, Any]]:
    """Runs what may run of a message's calls, asks about what waits, and gives the messages to append."""
    _ask(turn, ask, approver)
    for call in turn.runnable:
        try:
            result = as_text(run(call.target, call.arguments))
        except Exception as why:  # The model is told, as it is of every failure of a tool.
            turn.finish(call.id, f"{type(why).__name__}: {why}", is_error=True)
        else:
            turn.finish(call.id, result)
    return turn.messages()


async def answer_async(turn: Turn, run: Run, ask: Ask | None, approver: Approver | None) -> list[dict[str, Any]]:
    """The same where ``run`` may give something to await."""
    _ask(turn, ask, approver)
    for call in turn.runnable:
        try:
            made = run(call.target, call.arguments)
            result = as_text(await made if inspect.isawaitable(made) else made)
        except Exception as why:
            turn.finish(call.id, f"{type(why).__name__}: {why}", is_error=True)
        else:
            turn.finish(call.id, result)
    return turn.messages()


def _ask(turn: Turn, ask: Ask | None, approver: Approver | None) -> None:
    for waiting in turn.waiting if ask and approver else ():
        assert ask and approver
        said = ask(waiting)
        if said is not None:
            approver.approve(waiting.approval) if said else approver.reject(waiting.approval)
            turn.resume(waiting.approval)


def as_text(result: Any) -> str:
    """A tool's result as the model reads it."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)


def unanswered(steps: Sequence[Step]) -> set[str]:
    """The ids of the calls of a history that have no answer in it."""
    answered = {step[0] for step in steps if len(step) == 2}
    return {step[0] for step in steps if len(step) == 3 and step[0] not in answered}


def answered_only(steps: Sequence[Step]) -> list[Step]:
    """The history without the calls that wait for their answer."""
    open_calls = unanswered(steps)
    return [step for step in steps if step[0] not in open_calls]
