"""The first example of docs/python.md runs as it stands, and prints what the page says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/python.md"


def test_the_first_ten_minutes() -> None:
    text = PAGE.read_text(encoding="utf-8")
    example = text.split("```python\n")[1].split("```")[0]
    printed = text.split("```text\n")[1].split("```")[0]
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (printed, "")
