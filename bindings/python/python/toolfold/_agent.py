"""The agent of the contract of adapters: a scripted model under a framework. Part of ``toolfold.testing``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from . import Approval, ApprovalError, Approver, Engine

#: A call of the scripted model: a name and its arguments.
Call: TypeAlias = tuple[str, dict[str, Any]]

#: All calls run except deletions, which require approval, and renaming a file, which is denied.
POLICY = """
[[rule]]
tool = "*"
decide = "allow"

[[rule]]
tool = "delete_*"
decide = "ask"

[[rule]]
tool = "rename_file"
decide = "deny"
"""

#: A call that requires approval.
DELETE: Call = ("delete_sheet", {"file_path": "q.xlsx", "sheet_name": "S", "confirm": True})

#: The last text of the scripted model.
DONE = "done"

#: The tools of toolfold itself.
OWN = ("expand_tools", "activate_skill")

#: The number of further tools under arm ``auto``: enough for ``index`` on the wires of OpenAI, which accept 128 tools.
MORE_TOOLS = 85


@cache
def _excel() -> str:
    tools = Engine("excel").conversation("openai-chat", arm="full").tools()
    return json.dumps([tool["function"] for tool in tools])


def tools_of(arm: str) -> list[dict[str, Any]]:
    """Returns the tools of every cell: dicts with name, description and parameters."""
    tools: list[dict[str, Any]] = json.loads(_excel())
    more = MORE_TOOLS if arm == "auto" else 0
    return [*tools, *({**tools[at % len(tools)], "name": f"other_{at}"} for at in range(more))]


class Agent:
    """An agent under one framework, with its scripted model and the person who is asked.

    The model writes one message for each entry of its script: a call, or a list of calls. It uses ``call_tool`` if the tool is
    not in the array. A subclass implements ``build``, ``start``, ``answer`` and ``change``.

    :param script: the messages of the model.
    :param arm: the arm of the adapter.
    :param folder: an empty folder, for the framework's state and the file of approvals.
    :param more: other settings of the adapter.
    """

    #: The sentence that names the missing hook, by the name of each cell that the framework cannot have.
    lacks: ClassVar[dict[str, str]] = {}
    #: The reason why a requirement does not apply, by the name of its cell. Only cells with a ``feature`` may be named: those
    #: about something that a framework may not have at all.
    absent: ClassVar[dict[str, str]] = {}
    #: The settings for the arms ``native`` and ``append``, which only some APIs have, such as ``wire`` and ``model``.
    native: ClassVar[dict[str, Any]] = {}
    #: The call by which a model finds a deferred tool, if the framework has its own search.
    finds: ClassVar[Call | None] = None
    #: Whether the person is asked within ``answer``, about the arguments at that time.
    asks_in_answer: ClassVar[bool] = False

    #: Gives every call of the model the same id, as some local models do.
    one_id = False
    #: Whether the framework's own approval applies to ``delete_sheet``, and to no other tool. ``build`` reads it.
    own_rule = False
    #: Raised by the next run of a tool.
    fails: BaseException | None = None
    #: The result of every run of a tool; None for a short text with its name.
    result: str | None = None

    def __init__(self, script: Sequence[Call | list[Call]], arm: str, folder: Path, **more: Any) -> None:
        self.script, self.arm, self.folder = list(script), arm, folder
        #: The calls that ran.
        self.ran: list[Call] = []
        #: The names of the tools of each request.
        self.shown: list[list[str]] = []
        #: The newest message of each request, as JSON text.
        self.read: list[str] = []
        #: What the framework stores, as another process would read it.
        self.state: Any = None
        self.store = folder / "approvals.db"
        self.own_rule = bool(more.pop("own_rule", False))
        #: The settings of the adapter.
        own = self.native if arm in ("native", "append") else {}
        self.settings: dict[str, Any] = {"arm": arm, "policy": POLICY, "approvals": self.store, **own, **more}
        self.build()

    def build(self) -> None:
        """Creates the agent's objects with ``tools_of(self.arm)`` and ``self.settings``; its tools call ``self.run``."""

    def start(self) -> bool:
        """Runs until the model has ended, or a call requires approval: then True."""
        raise NotImplementedError

    def answer(self, said: bool | dict[str, Any]) -> bool:
        """Approves, rejects or edits the call, and continues. True if another approval is required."""
        raise NotImplementedError

    def change(self, arguments: dict[str, Any]) -> None:
        """Changes the arguments of the waiting call where the framework stores it."""
        raise NotImplementedError

    def restarted(self) -> Agent:
        """Returns the same agent in another process: new objects, the stored state and the file of approvals."""
        other = type(self)(self.script, self.arm, self.folder)
        other.state, other.ran, other.read, other.shown = self.state, self.ran, self.read, self.shown
        return other

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        """Runs a tool."""
        self.ran.append((name, arguments))
        if self.fails is not None:
            why, self.fails = self.fails, None
            raise why
        return f"{name} ran" if self.result is None else self.result

    def says(self, names: list[str], newest: Any) -> list[tuple[str, str, dict[str, Any]]]:
        """Returns the calls of the model's next message: the id, name and arguments of each. Empty after the script: the model
        says ``DONE``.

        :param names: the names of the tools of the request.
        :param newest: the newest message of the request.
        """
        self.shown.append(names)
        self.read.append(newest if isinstance(newest, str) else json.dumps(newest, default=str, ensure_ascii=False))
        at = len(self.read) - 1
        message = self.script[at] if at < len(self.script) else []
        calls = message if isinstance(message, list) else [message]
        return [(self._id(at, place), *self._written(call, names)) for place, call in enumerate(calls)]

    def _id(self, at: int, place: int) -> str:
        return "c0" if self.one_id else f"c{at}-{place}"

    def _written(self, call: Call, names: list[str]) -> Call:
        """Returns a call as a model writes it that is shown these tools."""
        name, arguments = call
        wrapped = name not in names and name not in OWN and "call_tool" in names
        return ("call_tool", {"name": name, "arguments": arguments}) if wrapped else call

    def approvals(self) -> list[Approval]:
        """Returns every approval that was ever requested, in order."""
        approver, found = Approver(self.store), list[Approval]()
        while True:
            try:
                found.append(approver.get(f"ap-{len(found) + 1}"))
            except ApprovalError:
                return found

    def states(self) -> list[str]:
        """Returns the states of all approvals, in order."""
        return [one.state for one in self.approvals()]


@dataclass(frozen=True)
class Cell:
    """A requirement of the contract.

    :param name: a short name, the key in ``Agent.lacks``.
    :param says: the requirement, in one sentence.
    :param arms: the arms under which it is tested; an arm that the adapter refuses is left out.
    :param holds: raises AssertionError if an agent breaks it. It gets a function that creates the agent from a script.
    :param feature: what the requirement is about, if a framework may not have it at all; otherwise empty.
    """

    name: str
    says: str
    arms: tuple[str, ...]
    holds: Callable[[Callable[..., Agent]], None]
    feature: str = ""
