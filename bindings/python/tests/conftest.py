"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbook import Workbook


@pytest.fixture
def book(tmp_path: Path) -> Workbook:
    folder = tmp_path / "books"
    folder.mkdir()
    return Workbook(folder)
