"""The first example of docs/python.md runs unchanged, and prints the output on the page."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from processes import Server

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/python.md"
#: The frameworks of the table, in the versions that it names.
PEERS = {"pydantic-ai-slim": "2.68.0", "langchain": "1.4.7", "openai-agents": "0.24.0"}


def test_the_first_ten_minutes() -> None:
    text = PAGE.read_text(encoding="utf-8")
    example = text.split("```python\n")[1].split("```")[0]
    printed = text.split("```text\n")[1].split("```")[0]
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (printed, "")


def test_the_table_against_peers_is_what_its_command_prints(server: Server) -> None:
    for package, pinned in PEERS.items():
        try:
            found = version(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed")
        if found != pinned:
            pytest.skip(f"the table names {package} {pinned}, here is {found}")
    done = server.run(ROOT / "benches/peers.py")
    table = done.stdout.split("\n\n")[0]
    assert done.returncode == 0 and table.count("\n") == 9 and table in (ROOT / "docs/measuring.md").read_text(encoding="utf-8"), done
