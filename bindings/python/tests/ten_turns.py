"""Ten turns of an agent on a real workbook, for frameworks: what the model says, and what must have come of it.

The tools are the built-in ones; six of them are bound to openpyxl, and the others are never called.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font

ROOT = Path(__file__).resolve().parents[3]
PROFILE = str(ROOT / "profiles/excel/profile.toml")
POLICY = """
[policy]
description = "everything is allowed, deleting is asked about"

[[rule]]
decide = "allow"
tool = "*"
why = "a workbook of this test"

[[rule]]
decide = "ask"
tool = "delete_*"
why = "deleting is asked about"
"""
#: An integer that no 64 bits hold: it must arrive as it is.
HUGE = 12345678901234567890123
ARMS = ["lean", "stable"]


def specs() -> list[dict[str, Any]]:
    """The built-in tools: name, description, parameters."""
    return [tool["function"] for tool in json.loads((ROOT / "profiles/excel/tools.json").read_text())]


def settings(arm: str) -> dict[str, Any]:
    return {"arm": arm, "profile": PROFILE, "policy": POLICY}


class Book:
    """The workbook, the calls that reached it, and the arrays that a model was sent."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "a.xlsx"
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.arrays: list[str] = []
        book = openpyxl.Workbook()
        book.active.title = "Old"
        book.save(self.path)

    def sent(self, array: Any) -> None:
        """Notes the tools of a request."""
        self.arrays.append(hashlib.sha256(json.dumps(array, sort_keys=True).encode()).hexdigest())

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        self.ran.append((name, arguments))
        tool: Callable[..., str] = getattr(self, name)
        return tool(**arguments)

    def write_excel(self, file_path: str, data: list[dict[str, Any]], sheet_name: str = "Sheet1") -> str:
        book = openpyxl.load_workbook(self.path)
        sheet = book.create_sheet(sheet_name)
        sheet.append(list(data[0]))
        for row in data:
            sheet.append(list(row.values()))
        book.save(self.path)
        return f"{len(data)} rows"

    def format_cells(self, file_path: str, cell_range: str, sheet_name: str, font: dict[str, Any], **_: Any) -> str:
        book = openpyxl.load_workbook(self.path)
        for row in book[sheet_name][cell_range]:
            for cell in row:
                cell.font = Font(bold=font["bold"])
        book.save(self.path)
        return "formatted"

    def create_excel_chart(self, file_path: str, chart_type: str, data_range: str, sheet_name: str, **_: Any) -> str:
        book = openpyxl.load_workbook(self.path)
        sheet, chart = book[sheet_name], BarChart()
        chart.add_data(Reference(sheet, range_string=f"{sheet_name}!{data_range}"), titles_from_data=True)
        sheet.add_chart(chart, "E2")
        book.save(self.path)
        return "charted"

    def list_sheets(self, file_path: str, **_: Any) -> str:
        return ", ".join(openpyxl.load_workbook(self.path).sheetnames)

    def read_excel(self, file_path: str, sheet_name: str, **_: Any) -> str:
        rows = openpyxl.load_workbook(self.path)[sheet_name].iter_rows(values_only=True)
        return json.dumps([list(row) for row in rows])

    def delete_sheet(self, file_path: str, sheet_name: str, confirm: bool = False) -> str:
        book = openpyxl.load_workbook(self.path)
        del book[sheet_name]
        book.save(self.path)
        return f"deleted {sheet_name}"


FILE = {"file_path": "a.xlsx"}
DATA = [{"month": "Jan", "sales": 3}, {"month": "Feb", "sales": 5}]
CHART = {**FILE, "chart_type": "bar", "data_range": "$B$1:$B$3", "sheet_name": "Data"}
BOLD = {**FILE, "cell_range": "A1:B1", "sheet_name": "Data", "font": {"bold": True}}
READ = {**FILE, "sheet_name": "Data", "max_rows": HUGE, "header_row": 0}
#: What the model calls, request by request. The last request is its answer in words.
SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("list_sheets", {**FILE, "offset": None}),  # null for an optional parameter: it is not given
    ("expand_tools", {"categories": ["format", "chart"]}),
    ("write_excel", {**FILE, "data": DATA, "sheet_name": "Data"}),  # blind, and whole: runs
    ("format_cells", {"cell_range": 5}),  # does not fit: answered
    ("format_cells", BOLD),
    ("create_excel_chart", CHART),
    ("read_excel", READ),
    ("expand_tools", {"categories": ["format"]}),  # open already: a short answer
    ("rename_everything", {}),  # no such tool
    ("delete_sheet", {**FILE, "sheet_name": "Old", "confirm": True}),  # a person is asked
]
RAN_BEFORE = ["list_sheets", "write_excel", "format_cells", "create_excel_chart", "read_excel"]


def check_before_the_answer(book: Book) -> None:
    """The sheet is there until a person said yes, and everything else was done."""
    assert [name for name, _ in book.ran] == RAN_BEFORE
    assert "Old" in openpyxl.load_workbook(book.path).sheetnames


def check_after(book: Book, requests: int = len(SCRIPT) + 1) -> None:
    """What must hold under every adapter."""
    assert [name for name, _ in book.ran] == [*RAN_BEFORE, "delete_sheet"], "one approval, one execution"
    assert len(book.arrays) == requests, "no extra model request"
    assert len(set(book.arrays)) == 1, "one array for the whole conversation"
    ran = dict(book.ran)
    assert "offset" not in ran["list_sheets"]
    assert ran["read_excel"]["max_rows"] == HUGE and ran["format_cells"] == BOLD
    made = openpyxl.load_workbook(book.path)
    assert made.sheetnames == ["Data"]
    sheet = made["Data"]
    assert sheet["A1"].font.bold and sheet["B3"].value == 5 and len(sheet._charts) == 1
