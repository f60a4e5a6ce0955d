"""The contract of an adapter as tests, for every framework: the table in ``docs/python.md`` is their result.

An author of an adapter writes one subclass of ``Agent``, which builds an agent of the framework around a scripted model, and
runs every cell of the contract:

    for row in toolfold.testing.check(MyAgent, folder):
        print(row)                         # "approved: carried", "edited: not available: …", "rejected: BROKEN: …"

A cell that the framework cannot have is named in ``Agent.lacks`` with a sentence that names the missing hook. Deliveries that an
adapter refuses at construction (``StartError``) need no entry: the sentence is that of the error. A cell about a feature that the
framework does not have at all (``Cell.feature``) is named in ``Agent.absent``: it does not apply. A cell that requires an option
or a method that the subclass does not implement is not tested.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal

from . import InputError, StartError
from ._agent import DELETE, DONE, INJECTED, OPTIONS, OUTPUT, PARTS, POLICY, Agent, Call, Cell, NotTested, Script, tools_of
from ._contract_rules import CELLS

__all__ = [
    "CELLS",
    "DELETE",
    "DONE",
    "INJECTED",
    "OPTIONS",
    "OUTPUT",
    "PARTS",
    "POLICY",
    "Agent",
    "Call",
    "Cell",
    "NotTested",
    "Row",
    "Script",
    "check",
    "table",
    "tools_of",
]


@dataclass(frozen=True)
class Row:
    """The result of one cell.

    :param state: ``carried``, ``refused`` (the adapter or the framework does not have it), ``absent`` (it does not apply, because
        the framework does not have what it is about), ``untested`` or ``broken``.
    :param why: the missing hook, why it does not apply, what was not implemented, or what is broken; empty if it is carried.
    """

    cell: str
    state: Literal["carried", "refused", "absent", "untested", "broken"]
    why: str = ""

    def __str__(self) -> str:
        return f"{self.cell}: {_SHOWN[self.state]}{self.why}"


_SHOWN = {
    "carried": "carried",
    "refused": "not available: ",
    "absent": "does not apply: ",
    "untested": "NOT TESTED: ",
    "broken": "BROKEN: ",
}


def check(agent: type[Agent], folder: Path | None = None, *, cells: Iterable[Cell] | None = None) -> list[Row]:
    """Runs the cells of the contract against an adapter.

    :param folder: a folder for the state of the agents; None creates one.
    :param cells: the cells; None runs all of them.
    :raises InputError: ``lacks`` or ``absent`` has the name of an unknown cell, or ``absent`` a cell without a ``feature``.
    """
    features = {cell.name: cell.feature for cell in CELLS}
    for name in (*agent.lacks, *agent.absent):
        if name not in features:
            raise InputError(f"the contract has no cell {name!r}")
        if name in agent.absent and not features[name]:
            raise InputError(f"{name!r} applies to every framework: name it in `lacks`, with the missing hook")
    place = Path(mkdtemp(prefix="toolfold-contract-", dir=folder))
    return [_row(agent, cell, place) for cell in (CELLS if cells is None else cells)]


def _row(agent: type[Agent], cell: Cell, folder: Path) -> Row:
    if why := agent.absent.get(cell.name):
        return Row(cell.name, "absent", f"the framework does not have {cell.feature}: {why}")
    if why := agent.lacks.get(cell.name):
        return Row(cell.name, "refused", why)
    carried, refused = False, ""
    for arm in cell.arms:

        def make(*script: Call, arm: str = arm, **more: Any) -> Agent:
            return agent(script, arm, Path(mkdtemp(dir=folder)), **more)

        try:
            cell.holds(make)
        except StartError as why:
            refused = str(why)
        except NotTested as why:
            return Row(cell.name, "untested", str(why))
        except Exception as why:
            return Row(cell.name, "broken", f"arm {arm}: {type(why).__name__}: {why}")
        else:
            carried = True
    return Row(cell.name, "carried") if carried else Row(cell.name, "refused", refused)


def table(rows: dict[str, list[Row]]) -> str:
    """Returns the results as a table in Markdown, with the sentences below it: ``no`` if a requirement is not met, ``-`` if it does
    not apply, ``NOT TESTED`` if the agent does not implement what the test requires.

    :param rows: the rows of each adapter, by its name.
    """
    sentences: list[str] = []
    lines = [f"| requirement | {' | '.join(rows)} |", f"|---|{'---|' * len(rows)}"]
    found = {name: {row.cell: row for row in own} for name, own in rows.items()}
    for cell in CELLS:
        marks = []
        for own in found.values():
            row = own[cell.name]
            mark = {"carried": "yes", "refused": "no", "absent": "-", "untested": "NOT TESTED", "broken": "BROKEN"}[row.state]
            if mark in ("no", "-"):
                if row.why not in sentences:
                    sentences.append(row.why)
                mark += f" ({sentences.index(row.why) + 1})"
            marks.append(mark)
        lines.append(f"| {cell.says} | {' | '.join(marks)} |")
    return "\n".join([*lines, "", *(f"{at}. {why}" for at, why in enumerate(sentences, 1))])
