"""The stub as its users see it; ``stubs.py --check`` compares it with the Rust source."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
STUB = HERE.parent / "python/toolfold/_toolfold.pyi"


def test_mypy_accepts_what_is_right_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(HERE / "typed_use.py")]
    environment = {**os.environ, "MYPYPATH": str(HERE.parent / "python")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_type_is_left_open() -> None:
    """pyo3 writes these for Rust types without a `Hint`."""
    left = r"_typeshed|Incomplete|(?:->|:) (?:Any|dict|list|tuple)(?: \| None)?(?=[,:)\s]|$)"
    lines = STUB.read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if re.match(r"from |import | *(?:def |__?\w+__: |\w+: )", line)]
    assert len(code) > 150 and [line for line in code if re.search(left, line)] == []
