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

#: The last text in a stream, as it arrives.
PARTS = ["do", "ne"]

#: The result of a run with the option ``output``, as an object with one integer.
OUTPUT = {"sheets": 3}

#: What the framework passes to a tool with the option ``injected``.
INJECTED = "ann"

#: The options of ``build``. A cell that requests one is not tested with a subclass that does not read it.
OPTIONS = {
    "own_rule": "the framework's own approval applies to `delete_sheet`, and to no other tool",
    "hooks": "the framework's own hook of tool calls adds the name of each to `self.hooked`",
    "ends": "a rule of the framework ends the run at the result of `rename_sheet`",
    "injected": "`rename_sheet` has a parameter for which the framework passes `INJECTED`: it runs with this as argument `user`",
    "output": "the output of the run is an `OUTPUT`, which the model writes after its script: `self.output`",
    "nested": "another agent calls this one, once, and gets the decisions",
    "trims": "a rule of the framework removes the messages of earlier runs from each request",
    "changes": "the framework has `rename_sheet` only while `self.offered()`",
}

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


class NotTested(Exception):
    """A cell requires an option or a method that a subclass of ``Agent`` does not have."""


class Script:
    """A scripted model. It writes one message for each entry of its script: a call, or a list of calls. It uses ``call_tool`` if
    the tool is not in the array."""

    #: Gives every call of the model the same id, as some local models do.
    one_id = False

    def __init__(self, script: Sequence[Call | list[Call]]) -> None:
        self.script = list(script)
        #: The names of the tools of each request.
        self.shown: list[list[str]] = []
        #: The newest message of each request, as JSON text.
        self.read: list[str] = []

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


class Agent(Script):
    """An agent under one framework, with its scripted model and the person who is asked.

    A subclass implements ``build``, ``start``, ``answer`` and ``change``; ``stream``, ``again`` and the options of ``build`` are
    optional: without one, the cells that require it are not tested.

    :param script: the messages of the model.
    :param arm: the arm of the adapter.
    :param folder: an empty folder, for the framework's state and the file of approvals.
    :param more: other settings of the adapter, and ``True`` for each option of ``build``: one of ``OPTIONS``.
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

    #: Raised by the next run of a tool.
    fails: BaseException | None = None
    #: The result of every run of a tool; None for a short text with its name.
    result: str | None = None

    def __init__(self, script: Sequence[Call | list[Call]], arm: str, folder: Path, **more: Any) -> None:
        super().__init__(script)
        self.arm, self.folder = arm, folder
        #: The calls that ran.
        self.ran: list[Call] = []
        #: The text of ``stream``, as it arrived.
        self.heard: list[str] = []
        #: The names of the calls that the framework's own hook got, with the option ``hooks``.
        self.hooked: list[str] = []
        #: The output of the run, with the option ``output``.
        self.output: Any = None
        #: What the framework stores, as another process would read it.
        self.state: Any = None
        self.store = folder / "approvals.db"
        self._options = {option for option in OPTIONS if more.pop(option, False)}
        self._read = set[str]()
        #: The settings of the adapter.
        own = self.native if arm in ("native", "append") else {}
        self.settings: dict[str, Any] = {"arm": arm, "policy": POLICY, "approvals": self.store, **own, **more}
        self.build()
        if unread := sorted(self._options - self._read):
            raise NotTested(f"`build` does not have the option {', '.join(unread)}")

    def build(self) -> None:
        """Creates the agent's objects with ``tools_of(self.arm)`` and ``self.settings``; its tools call ``self.run``. Reads each
        option that it has with ``wants``."""

    def wants(self, option: str) -> bool:
        """Returns whether the cell requires an option of ``OPTIONS``."""
        self._read.add(option)
        return option in self._options

    def offered(self) -> bool:
        """Returns whether the framework has ``rename_sheet`` now: after ``get_file_info`` ran, until it has run itself."""
        return [name for name, _ in self.ran] == ["get_file_info"]

    def start(self) -> bool:
        """Runs until the model has ended, or a call requires approval: then True."""
        raise NotImplementedError

    def stream(self) -> bool:
        """Like ``start``, but the model streams: its last text arrives as ``PARTS``. Adds each text to ``self.heard``."""
        raise NotTested("there is no `stream`")

    def again(self) -> bool:
        """Like ``start``, but the run continues the conversation."""
        raise NotTested("there is no `again`")

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
