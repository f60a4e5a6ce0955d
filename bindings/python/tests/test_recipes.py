"""Each recipe for a framework without a clean hook runs, where the framework is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[3] / "examples/python/recipes"
#: Not in the requirements: nobody has tried whether they go with the other packages. crewai 1.15.30, llama-index-core 0.14.25, smolagents 1.26.0.
NEEDS = {"crewai": "crewai", "llama_index": "llama_index", "smolagents": "smolagents"}


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_recipe_runs(name: str) -> None:
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed: pip install it beside toolfold to try its recipe")
    script = PLACE / f"{name}_recipe.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[0].startswith("Opened.") and "do not fit" in lines[1], done.stdout
    assert 'runs format_cells {"file_path": "a.xlsx", "cell_range": "A1"}' in done.stdout and "done" in lines
