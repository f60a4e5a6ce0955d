"""What the tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dialogue import Dialogue
from processes import Server
from workbook import Workbook


@pytest.fixture
def book(tmp_path: Path) -> Workbook:
    return Workbook(tmp_path / "books")


@pytest.fixture
def dialogue(book: Workbook) -> Dialogue:
    return Dialogue(book)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The Python that most processes of the tests are forked from."""
    created = Server()
    yield created
    created.close()
