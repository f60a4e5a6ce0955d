"""One conversation of ten turns, the same under every framework, and what must be true after it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from openpyxl import load_workbook
from workbook import Workbook

HUGE = 10**30 + 7
ROWS = [{"region": "north", "sold": 3}, {"region": "south", "sold": 5}]

#: What the scripted model calls, one call a turn: an expansion, blind calls, mistakes, a call that a person is asked about.
SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("expand_tools", {"categories": ["format"]}),
    ("write_excel", {"file_path": "q.xlsx", "data": ROWS, "sheet_name": "Sales"}),
    ("format_cells", {}),
    ("format_cells", {"file_path": "q.xlsx", "sheet_name": "Sales", "cell_range": "A1:B1", "font": {"bold": True}}),
    ("read_exel", {"file_path": "q.xlsx"}),
    # Blind, so that what was hidden is shown; the same call then runs.
    ("create_excel_chart", {"file_path": "q.xlsx", "chart_type": "bar", "data_range": "B1:B3", "sheet_name": "Sales"}),
    ("create_excel_chart", {"file_path": "q.xlsx", "chart_type": "bar", "data_range": "B1:B3", "sheet_name": "Sales"}),
    ("list_sheets", {"file_path": "q.xlsx", "limit": HUGE}),
    ("delete_sheet", {"file_path": "q.xlsx", "sheet_name": "Sheet", "confirm": True}),
    ("read_excel", {"file_path": "q.xlsx", "sheet_name": "Sales"}),
]
DONE = "All written."

#: What must arrive: the valid calls, and only they.
RAN = ["write_excel", "format_cells", "create_excel_chart", "list_sheets", "delete_sheet", "read_excel"]
#: The turn whose call a person is asked about.
ASKED = 8


def identity(tools: Any) -> str:
    """What a provider's cache sees of a tool array."""
    return hashlib.sha256(json.dumps(tools).encode()).hexdigest()


def verify(book: Workbook, digests: list[str], huge: int = HUGE) -> None:
    """Everything that every adapter promises."""
    assert [name for name, _ in book.calls] == RAN, "only valid calls reach the function, each once"
    assert dict(book.calls)["list_sheets"]["limit"] == huge, "exact"
    assert len(set(digests)) == 1, "one array for the whole conversation"
    assert len(digests) == len(SCRIPT) + 1, "no request more than the calls need"
    saved = load_workbook(book.folder / "q.xlsx")
    assert saved.sheetnames == ["Sales"]
    sheet = saved["Sales"]
    assert [row for row in sheet.iter_rows(values_only=True)] == [("region", "sold"), ("north", 3), ("south", 5)]
    assert sheet["A1"].font.bold and len(sheet._charts) == 1
