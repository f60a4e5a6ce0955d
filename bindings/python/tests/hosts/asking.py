"""One agent under each framework with a call that requires approval, for test tables: approvals, runs and answers.

A scripted model makes each call of its script in one request of its own, through ``call_tool`` where the tool is not in the
array. The state that a framework stores is in ``state``, as what another process would read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbook import FUNCTIONS, POLICY

from toolfold import Approval, Approver

SEVEN = ["agent_framework", "anthropic", "google_adk", "langchain", "openai", "openai_agents", "pydantic_ai"]
ARMS = ["full", "lean", "stable", "index", "auto"]
DELETE = ("delete_sheet", {"file_path": "q.xlsx", "sheet_name": "S", "confirm": True})
OTHER = ("delete_file", {"file_path": "q.xlsx", "confirm": True})
DONE = "done"
#: Enough other tools for arm ``auto`` to take ``index`` on the wires of OpenAI.
COPIES = 85


def tools_of(arm: str) -> list[dict[str, Any]]:
    """The tools of the tests; for arm ``auto`` with as many others as make it fold all it can."""
    more = [{**FUNCTIONS[at % len(FUNCTIONS)], "name": f"other_{at}"} for at in range(COPIES if arm == "auto" else 0)]
    return [*FUNCTIONS, *more]


class Asking:
    """An agent, its model and its person."""

    #: Where the person's interface of the framework has no way to change arguments.
    no_edit = ""
    #: Whether the approval is requested within ``answer``, for the arguments at that time.
    asks_in_answer = False
    #: Gives every call of the model the same id, as some local models do.
    one_id = False
    #: The arms that the framework cannot carry.
    refused: tuple[str, ...] = ()

    def __init__(self, script: list[tuple[str, dict[str, Any]]], arm: str, folder: Path, **more: Any) -> None:
        self.script, self.arm, self.folder = script, arm, folder
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.shown: list[list[str]] = []
        self.read: list[str] = []
        self.state: Any = None
        self.store = folder / "approvals.db"
        self.settings = {"arm": arm, "policy": POLICY, "approvals": self.store, **more}
        self.build()

    def build(self) -> None:
        """Makes the agent's objects."""

    def restarted(self) -> Asking:
        """The same agent in another process: new objects, the stored state and the file of approvals."""
        other = type(self)(self.script, self.arm, self.folder)
        other.state, other.ran, other.read, other.shown = self.state, self.ran, self.read, self.shown
        return other

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        self.ran.append((name, arguments))
        return f"{name} ran"

    def says(self, names: list[str], newest: Any) -> tuple[str, str, dict[str, Any]] | None:
        """The model's next call: its id, name and arguments."""
        self.shown.append(names)
        self.read.append(json.dumps(newest, default=str))
        at = len(self.read) - 1
        if at >= len(self.script):
            return None
        id, (name, arguments) = "c0" if self.one_id else f"c{at}", self.script[at]
        own = name in names or name == "expand_tools"
        return (id, name, arguments) if own else (id, "call_tool", {"name": name, "arguments": arguments})

    def approvals(self) -> list[Approval]:
        """Every approval that was ever asked for, in order."""
        approver, found = Approver(self.store), []
        while True:
            try:
                found.append(approver.get(f"ap-{len(found) + 1}"))
            except Exception:
                return found

    def states(self) -> list[str]:
        return [one.state for one in self.approvals()]

    def start(self) -> bool:
        """Runs until the model has ended, or a call requires approval: then True."""
        raise NotImplementedError

    def answer(self, said: bool | dict[str, Any]) -> bool:
        """Approves, rejects or edits the call, and continues. True if another approval is required."""
        raise NotImplementedError

    def change(self, arguments: dict[str, Any]) -> None:
        """Changes the arguments of the waiting call where the framework stores it."""
        raise NotImplementedError


def asking(framework: str) -> type[Asking]:
    """The agent of a framework."""
    from hosts import asking_frameworks, asking_loops

    place = asking_loops if framework in ("anthropic", "openai") else asking_frameworks
    made: type[Asking] = getattr(place, framework)()
    return made
