"""Each recipe for a framework without a clean hook runs under the framework's own agent.

Their packages are in ``requirements-recipes.txt``, apart from the others: together they have more than 900 MB.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[3] / "examples/python/recipes"
#: What each needs, and the least that it saves of a request's tools.
NEEDS = {"crewai": 15, "llama_index": 55, "smolagents": 20}


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_recipe_runs(name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: it is in requirements-recipes.txt")
    script = PLACE / f"{name}_recipe.py"
    # No telemetry is sent, and nothing is written to the user's home folder.
    apart = {"CREWAI_DISABLE_TELEMETRY": "true", "HOME": str(tmp_path)}
    own = {**os.environ, **apart}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False, env=own)
    assert done.returncode == 0, done.stderr
    # In this order, anywhere: CrewAI draws boxes around them from its own thread.
    said = [
        "Opened. Call them directly by name:",
        "format_cells was not run: invalid arguments.",
        'runs format_cells {"file_path": "a.xlsx", "cell_range": "A1"}',
        "done",
        "A1 is formatted.",
    ]
    sizes = r"each request carried ([\d,]+) bytes of tools instead of ([\d,]+)"
    last = "4 requests, 1 tool array: the prompt cache is kept"
    found = re.search(".*?".join([*map(re.escape, said), sizes, last]), done.stdout, re.DOTALL)
    assert found and done.stdout.count("runs ") == 1, done.stdout
    folded, whole = (int(size.replace(",", "")) for size in found.groups())
    assert folded < whole * (100 - NEEDS[name]) / 100, found.group()
