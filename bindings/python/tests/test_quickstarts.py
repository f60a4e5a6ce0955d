"""Every quickstart of ``examples/python`` runs offline and prints the savings."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[3] / "examples/python"
#: What each needs beside toolfold.
NEEDS = {
    "agent_framework": "agent_framework",
    "anthropic": "anthropic",
    "google_adk": "google.adk",
    "langchain": "langchain",
    "mcp": "mcp",
    "openai": "openai",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
}


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_quickstart_runs_and_saves(name: str) -> None:
    try:
        found = importlib.util.find_spec(NEEDS[name])
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    script = PLACE / f"quickstart_{name}.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "runs format_cells" in done.stdout
    sizes = re.search(r"carr\w+ ([\d,]+) bytes of tools instead of ([\d,]+)", done.stdout)
    assert sizes, done.stdout
    folded, whole = (int(size.replace(",", "")) for size in sizes.groups())
    assert folded * 2 < whole, done.stdout
    assert "3 requests, 1 tool array" in done.stdout or name == "mcp"
