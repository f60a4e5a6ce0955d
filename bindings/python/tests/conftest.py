"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from dialogue import Dialogue
from workbook import Workbook


@pytest.fixture
def book(tmp_path: Path) -> Workbook:
    return Workbook(tmp_path / "books")


@pytest.fixture
def dialogue(book: Workbook) -> Dialogue:
    return Dialogue(book)
