"""One conversation, the same under every framework, and what must be true after it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from openpyxl import load_workbook
from workbook import POLICY, Workbook, append_line, read_lines

ARMS = ["lean", "stable"]
#: An integer that no 64 bits hold.
HUGE = 10**30 + 7
FILE = {"file_path": "q.xlsx"}
ROWS = [{"region": "north", "sold": 3}, {"region": "south", "sold": 5}]
BOLD = {**FILE, "sheet_name": "Sales", "cell_range": "A1:B1", "font": {"bold": True}}
CHART = {**FILE, "chart_type": "bar", "data_range": "B1:B3", "sheet_name": "Sales"}

#: What the scripted model calls, one call per request, and a part of the answer that it must then read.
SCRIPT: list[tuple[str, dict[str, Any], str]] = [
    ("expand_tools", {"categories": ["format"]}, "Opened."),
    ("write_excel", {**FILE, "data": ROWS, "sheet_name": "Sales"}, "rows"),  # hidden parameters, all of them given
    ("format_cells", {"cell_range": 5}, "invalid arguments"),
    ("format_cells", BOLD, "formatted"),
    ("read_exel", FILE, "read_exel"),  # there is no such tool
    ("create_excel_chart", CHART, "was not run"),  # hidden parameters are shown first
    ("create_excel_chart", CHART, "charts"),
    ("list_sheets", {**FILE, "offset": None, "limit": HUGE}, "sheets"),  # null where a parameter is optional: not given
    ("expand_tools", {"categories": ["format"]}, "Already open"),
    ("delete_sheet", {**FILE, "sheet_name": "Sheet", "confirm": True}, "deleted"),  # a person is asked
    ("read_excel", {**FILE, "sheet_name": "Sales"}, "north"),
]
DONE = "All written."

#: The calls that must run: the valid ones, and no others.
BEFORE = ["write_excel", "format_cells", "create_excel_chart", "list_sheets"]
RAN = [*BEFORE, "delete_sheet", "read_excel"]
#: The request whose call requires approval.
ASKED = 9


def settings(arm: str = "lean") -> dict[str, Any]:
    """The settings of every adapter."""
    return {"arm": arm, "profile": "excel", "policy": POLICY}


def identity(tools: Any) -> str:
    """The text of a tool array as a provider caches it."""
    return hashlib.sha256(json.dumps(tools, default=str).encode()).hexdigest()


class Dialogue:
    """The scripted model: it plays the script, and records its requests beside the workbook, also for other processes.

    :param without: a name of the script that a framework cannot be asked with.
    """

    def __init__(self, book: Workbook, *, without: str | None = None) -> None:
        self.book, self._log = book, book.folder / "requests.jsonl"
        self.script = [step for step in SCRIPT if step[0] != without]

    @property
    def requests(self) -> list[dict[str, str]]:
        return read_lines(self._log)

    def turn(self, tools: Any, newest: Any) -> tuple[str, str, dict[str, Any]] | None:
        """Reads one request and returns the id, name and arguments of the call to make; None at the end of the script.

        :param tools: the array as it is sent.
        :param newest: the message that the model reads last.
        """
        at = len(self.requests)
        append_line(self._log, {"array": identity(tools), "newest": json.dumps(newest, default=str)})
        return (f"c{at}", *self.script[at][:2]) if at < len(self.script) else None

    def verify_unanswered(self) -> None:
        """Before a person answers, everything else has run and nothing was deleted."""
        assert [name for name, _ in self.book.calls] == BEFORE
        assert load_workbook(self.book.folder / "q.xlsx").sheetnames == ["Sheet", "Sales"]

    def verify(self, *, deleted: bool = True) -> None:
        """Checks what every adapter guarantees.

        :param deleted: whether the person said yes. A no changes nothing else.
        """
        calls = self.book.calls
        ran = [name for name in RAN if deleted or name != "delete_sheet"]
        assert [name for name, _ in calls] == ran, "only valid calls reach the function, each once"
        given = dict(calls)
        assert given["list_sheets"] == {**FILE, "limit": HUGE}, "exact, and without what is not given"
        assert given["format_cells"] == BOLD and given["write_excel"]["data"] == ROWS
        requests = self.requests
        assert len({request["array"] for request in requests}) == 1, "one array for the whole conversation"
        assert len(requests) == len(self.script) + 1, "no request more than the calls need"
        for (name, _, said), request in zip(self.script, requests[1:]):
            if deleted or name != "delete_sheet":
                assert said in request["newest"], f"the answer to {name}: {request['newest']}"
        saved = load_workbook(self.book.folder / "q.xlsx")
        assert saved.sheetnames == (["Sales"] if deleted else ["Sheet", "Sales"])
        sheet = saved["Sales"]
        assert [row for row in sheet.iter_rows(values_only=True)] == [("region", "sold"), ("north", 3), ("south", 5)]
        assert sheet["A1"].font.bold and len(sheet._charts) == 1
