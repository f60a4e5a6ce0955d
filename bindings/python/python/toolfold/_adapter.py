"""Code shared by the adapters. Its engines and conversations are only caches of state that the framework stores.

An adapter creates one ``Folder``. On each request it passes the agent's tools (``tool_set`` or ``bind``) and the messages that the
model can still see (``conversation``), so resumed, forked, trimmed or moved threads work without changes.
"""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeAlias, TypeVar

from . import Approver, Conversation, Engine, Forward, StartError, _log
from ._consent import Consent
from ._settings import Arm, Fields, Settings, Unpack
from ._steps import Step, answered

_Key = TypeVar("_Key", bound=Hashable)
_Tool = TypeVar("_Tool")
_Value = TypeVar("_Value")

#: The maximum numbers of cached engines and conversations; the least recently used ones are dropped first.
MOST_ENGINES = 32
MOST_CONVERSATIONS = 256
#: The maximum number of conversations without an id that wait for the calls of their message.
MOST_FRESH = 8
#: The maximum number of stored tool sets: a request is compared with each of them.
MOST_SETS = 8


#: The tools of a request, and the ids of the messages that it did not have.
_Shown: TypeAlias = tuple[Engine | None, frozenset[str | None]]
_UNKNOWN: _Shown = (None, frozenset())


class ToolSet(Generic[_Tool]):
    """The tools of an agent with their engine, and the members of each when it was created. Some frameworks create their tools
    again for every request, and programs change tools in place: their identity alone does not show a change.

    :param tools: objects of the framework.
    :param members: returns the members of a tool that its definition and its calls depend on.
    :param besides: a member that may differ, such as a function that the framework creates for every request.
    :param engine: returns the engine of these tools.
    """

    def __init__(
        self, tools: Sequence[_Tool], members: Callable[[_Tool], Any], besides: str | None, engine: Callable[[], Engine]
    ) -> None:
        self._of, self._besides = members, besides
        # Copies: `vars` returns the members themselves. The tools stay alive, as their ids may be among them.
        self._tools, self._members = tools, [copy(members(tool)) for tool in tools]
        # After the members: if a tool changes while its definition is read, the next request finds that.
        self.engine = engine()

    def matches(self, tools: Sequence[_Tool]) -> bool:
        """Returns whether these tools have the same members. A change inside of a schema that remains the same object is not
        found: comparing whole schemas takes longer than the rest of a request's work."""
        try:
            now = list(map(self._of, tools))
            if now == self._members:
                return True
            if self._besides is None or self._rest(now) != self._rest(self._members):
                return False
        except Exception:  # Members can be of any class, which decides how they are compared.
            return False
        self._members = list(map(copy, now))
        return True

    def _rest(self, members: list[Any]) -> list[Any]:
        return [{**one, self._besides: None} for one in members]


@dataclass
class _Known:
    """A cached conversation, with the calls whose answers the model saw last, or saw only once."""

    engine: Engine
    conversation: Conversation
    seen: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)

    def follows(self, steps: Sequence[Step]) -> bool:
        seen = answered(steps)
        # A tool whose answer went out of sight is open again when the answer is back: only a new conversation detects this.
        if self.gone & seen or not self.conversation.follows(steps):
            return False
        self.gone |= self.seen - seen
        self.seen = seen
        return True


class Folder(Consent):
    """Caches engines by tool set and conversations by id. Threads may share it.

    :param settings: the settings of the adapter; None makes them from ``fields``.
    """

    def __init__(self, settings: Settings | None = None, **fields: Unpack[Fields[Arm]]) -> None:
        own = Settings.of(settings, fields)
        given = own.approvals
        super().__init__(given if isinstance(given, Approver) else Approver(given), own.policy is not None)
        self.settings, self.wire, self.model = own, own.wire, own.model
        self.without = own.without()
        #: The arm of every conversation, if it is not the engine's.
        self._arm: str | None = None
        self._settings: dict[str, Any] = {
            "profile": own.profile,
            "arm": own.arm,
            "policy": own.policy,
            "skills": own.skills,
            "usual_skills": own.usual_skills,
        }
        self._first: Engine | None = None
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._sets: deque[ToolSet[Any]] = deque(maxlen=MOST_SETS)
        self._conversations: OrderedDict[tuple[int, str], _Known] = OrderedDict()
        self._shown: OrderedDict[str, _Shown] = OrderedDict()
        self._fresh: deque[tuple[Engine, Sequence[Step], Conversation]] = deque(maxlen=MOST_FRESH)
        self._marked: OrderedDict[str, _Shown] = OrderedDict()
        self._lock = Lock()

    def __deepcopy__(self, memo: object) -> Folder:
        """Itself: frameworks copy their agents, and copies share the approvals and the caches."""
        return self

    def bind(self, tools: Iterable[Mapping[str, Any]]) -> Engine:
        """Returns the engine of a tool list.

        :param tools: the definitions, in any provider's format.
        """
        definitions = [dict(tool) for tool in tools]
        text = json.dumps(definitions)
        with self._lock:
            made = self._engines.get(text)
            if made is None and self._first is None:
                made = self._first = Engine(definitions, approvals=self.approver, **self._settings)
            elif made is None and self._first is not None:
                made = self._first.with_tools(text)
            assert made is not None
            remember(self._engines, text, made, MOST_ENGINES)
        return made

    def unfold(self, why: str) -> None:
        """Shows every tool in full from now on, because the framework supports nothing else for an agent.

        :param why: the reason, as a sentence without its full stop.
        :raises StartError: the settings name an arm that folds.
        """
        arm = self.settings.arm
        if arm == "full" or self._arm is not None:
            return
        if arm != "auto":
            raise StartError(f"arm {arm} is not available here: {why}; use arm auto or full")
        with self._lock:
            self._arm = "full"
            self._conversations.clear()
            self._fresh.clear()
        _log.LOG.warning("nothing is folded: %s", why)

    def tool_set(
        self,
        tools: Sequence[_Tool],
        definition: Callable[[_Tool], Mapping[str, Any]],
        members: Callable[[_Tool], Any] = vars,
        besides: str | None = None,
    ) -> ToolSet[_Tool]:
        """Returns the tool set of a request: the same object as before if no tool has changed.

        :param tools, members, besides: as in ``ToolSet``.
        :param definition: returns the definition of a tool, in any provider's format; called only if a tool has changed.
        """
        with self._lock:
            known = list(self._sets)
        for one in known:
            if one.matches(tools):
                return one
        made = ToolSet(tools, members, besides, lambda: self.bind(map(definition, tools)))
        with self._lock:
            self._sets.appendleft(made)
        return made

    def conversation(
        self,
        engine: Engine,
        id: str | None,
        steps: Sequence[Step],
        *,
        untouched: bool = False,
        without: Iterable[str] | None = None,
    ) -> Conversation:
        """Returns the conversation whose model made these calls and still sees their answers.

        Calls without an answer are not in ``steps``: ``Conversation.call`` checks them. Without an id, each request
        creates a new conversation, and an approval is valid in one process only.

        :param untouched: the caller does not change the conversation, so the next request with the same steps may use it.
        :param without: the deliveries that this agent does not support, if they differ from the framework's.
        """

        def create() -> Conversation:
            less = list(self.without if without is None else without)
            made = engine.conversation(self.wire, self.model, id, arm=self._arm, steps=steps, without=less)
            _log.started(made)
            return made

        if not id:
            made = self._taken(engine, steps) or create()
            if untouched:
                self._fresh.append((engine, steps, made))
            return made
        known = self._conversations.get((hash(engine), id))
        if known is not None and known.engine is engine and known.follows(steps):
            return known.conversation
        made = create()
        self.keep(engine, made, answered(steps))
        return made

    def show(
        self, engine: Engine, id: str | None, steps: Sequence[Step], mark: str | None, hidden: Iterable[str | None]
    ) -> Conversation:
        """Returns the conversation of a request that shows these tools. The caller does not change it.

        :param mark: the id of the newest message of the request, which no other run has.
        :param hidden: the ids of the messages that the framework has, and the request does not.
        """
        shown = (engine, frozenset(hidden))
        with self._lock:
            if id:
                remember(self._shown, id, shown, MOST_CONVERSATIONS)
            elif mark:
                remember(self._marked, mark, shown, MOST_CONVERSATIONS)
        return self.conversation(engine, id, steps, untouched=True)

    def last_shown(self, id: str | None, marks: Iterable[str | None]) -> _Shown:
        """The tools in the last request of a conversation, which may be fewer than the agent has, and the ids of the messages
        that it did not have.

        :param marks: the ids of the messages of the run, newest first.
        """
        if id:
            return self._shown.get(id, _UNKNOWN)
        with self._lock:
            return next((self._marked[mark] for mark in marks if mark and mark in self._marked), _UNKNOWN)

    def remembered(self, engine: Engine, id: str | None) -> Conversation | None:
        """Returns the cached conversation of this id in its last state, if any."""
        known = self._conversations.get((hash(engine), id or ""))
        return known.conversation if known is not None and known.engine is engine else None

    def keep(self, engine: Engine, conversation: Conversation, seen: set[str] | None = None) -> None:
        """Caches a conversation under its id, with the calls whose answers its model has seen."""
        known = _Known(engine, conversation, seen or set())
        with self._lock:
            remember(self._conversations, (hash(engine), conversation.id), known, MOST_CONVERSATIONS)

    def _taken(self, engine: Engine, steps: Sequence[Step]) -> Conversation | None:
        """Takes an unchanged conversation with exactly these steps from the cache. Each one is taken only once."""
        with self._lock:
            for at, (own, past, conversation) in enumerate(self._fresh):
                if own is engine and past == steps:
                    del self._fresh[at]
                    return conversation
        return None

    def forget(self, conversation: Conversation) -> None:
        with self._lock:
            for key in [key for key, known in self._conversations.items() if known.conversation is conversation]:
                del self._conversations[key]

    @contextmanager
    def running(
        self,
        conversation: Conversation,
        call: Forward,
        paused: type[BaseException] | tuple[type[BaseException], ...] = (),
        engine: Engine | None = None,
    ) -> Iterator[None]:
        """Context manager around the run of a call. Reports exceptions, including cancellations, to the conversation and
        raises them again.

        :param paused: the exceptions that mean that the tool was suspended: it has not ended, and its step will run it again
            in this conversation of this engine.
        """
        try:
            yield
        except paused:
            conversation.pause(call.id)
            if conversation.id and engine is not None:
                self.keep(engine, conversation)
            raise
        except BaseException:
            conversation.report_result(call.id, False)
            raise


class Added:
    """What follows an answer under arm ``append``: the tools that its call opened. They depend only on the call, so a request of
    another process has the same bytes."""

    def __init__(self, engine: Engine, conversation: Conversation) -> None:
        self.engine, self._wire, self._model, self._arm = engine, conversation.wire, conversation.model, conversation.arm
        self._known: dict[tuple[str, str], tuple[tuple[str, ...], list[dict[str, Any]]]] = {}

    def names(self, name: str, arguments: Any) -> tuple[str, ...]:
        """Returns the host's names of the tools that an answered call opened.

        :param name, arguments: the call as the model wrote it.
        """
        return self._after(name, arguments)[0]

    def tools(self, name: str, arguments: Any) -> list[dict[str, Any]]:
        """Returns their definitions, in the format of Responses."""
        return self._after(name, arguments)[1]

    def _after(self, name: str, arguments: Any) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
        key = (name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        if key not in self._known:
            steps: list[Step] = [("c", name, arguments), ("c", True)]
            alone = self.engine.conversation(self._wire, self._model, arm=self._arm, steps=steps)
            tools = [tool for message in alone.redeliver_messages() for tool in message.get("tools", ())]
            self._known[key] = (alone.opened, tools)
        return self._known[key]


def remember(memo: OrderedDict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Adds an entry to a cache, and drops the least recently used one."""
    memo[key] = value
    memo.move_to_end(key)
    while len(memo) > most:
        memo.popitem(last=False)
