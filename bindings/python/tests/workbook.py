"""The built-in Excel tools bound to openpyxl: what an agent calls changes a real file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openpyxl import Workbook as Book
from openpyxl import load_workbook
from openpyxl.chart import BarChart, LineChart, Reference
from openpyxl.styles import Font, PatternFill

#: The 49 tools in Chat Completions' shape.
TOOLS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "profiles/excel/tools.json").read_text(encoding="utf-8")
)
FUNCTIONS: list[dict[str, Any]] = [tool["function"] for tool in TOOLS]

#: All calls run except deletions, which require approval.
POLICY = """
[[rule]]
tool = "*"
decide = "allow"

[[rule]]
tool = "delete_*"
decide = "ask"
"""


def append_line(path: Path, value: Any) -> None:
    """Appends one line of JSON, in one write."""
    with open(path, "ab", buffering=0) as file:
        file.write(json.dumps(value).encode() + b"\n")


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Workbook:
    """A folder of workbooks.

    Every call that arrives is first written to a file that is only appended to: what was begun is known, whoever began
    it, and whether or not its process lived to end it.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._log = folder, folder / "calls.jsonl"
        #: Called with a tool's name when it has begun, and when it has done its work.
        self.begun: Callable[[str], None] = lambda tool: None
        self.done: Callable[[str], None] = lambda tool: None

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Every call that arrived, in order, in any process."""
        return [(call["tool"], call["arguments"]) for call in read_lines(self._log)]

    def run(self, tool: str, arguments: dict[str, Any]) -> str:
        append_line(self._log, {"tool": tool, "arguments": arguments})
        self.begun(tool)
        method = getattr(self, f"_{tool}", None)
        if method is None:
            raise NotImplementedError(f"{tool} is not bound here")
        result = json.dumps(method(**arguments), default=str)
        self.done(tool)
        return result

    def _open(self, file_path: str) -> tuple[Path, Book]:
        path = self.folder / file_path
        return path, load_workbook(path) if path.exists() else Book()

    def _write_excel(self, file_path: str, data: list[dict[str, Any]], sheet_name: str = "Sheet1") -> Any:
        path, book = self._open(file_path)
        if sheet_name in book.sheetnames:
            del book[sheet_name]
        sheet = book.create_sheet(sheet_name)
        header = list(data[0])
        for row in [header, *([record.get(key) for key in header] for record in data)]:
            sheet.append(row)
        book.save(path)
        return {"rows": len(data)}

    def _format_cells(
        self, file_path: str, cell_range: str, sheet_name: str | None = None, **form: Any
    ) -> Any:
        path, book = self._open(file_path)
        sheet = book[sheet_name] if sheet_name else book.active
        for row in sheet[cell_range]:
            for cell in row:
                if font := form.get("font"):
                    cell.font = Font(bold=font.get("bold"), italic=font.get("italic"))
                if fill := form.get("fill"):
                    cell.fill = PatternFill("solid", start_color=fill["color"])
                if number_format := form.get("number_format"):
                    cell.number_format = number_format
        book.save(path)
        return {"formatted": cell_range}

    def _create_excel_chart(
        self, file_path: str, chart_type: str, data_range: str, sheet_name: str | None = None, **more: Any
    ) -> Any:
        path, book = self._open(file_path)
        sheet = book[sheet_name] if sheet_name else book.active
        chart = {"bar": BarChart, "line": LineChart}[chart_type]()
        chart.title = more.get("title")
        chart.add_data(Reference(sheet, range_string=f"'{sheet.title}'!{data_range}"), titles_from_data=True)
        sheet.add_chart(chart, more.get("target_cell", "E2"))
        book.save(path)
        return {"charts": len(sheet._charts)}

    def _list_sheets(self, file_path: str, **_: Any) -> Any:
        return {"sheets": self._open(file_path)[1].sheetnames}

    def _delete_sheet(self, file_path: str, sheet_name: str, confirm: bool = False) -> Any:
        path, book = self._open(file_path)
        if confirm:
            del book[sheet_name]
            book.save(path)
        return {"deleted": confirm}

    def _read_excel(self, file_path: str, sheet_name: str | None = None, **_: Any) -> Any:
        book = self._open(file_path)[1]
        sheet = book[sheet_name] if sheet_name else book.active
        return [list(row) for row in sheet.iter_rows(values_only=True)]
