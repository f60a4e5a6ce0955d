"""Every quickstart of ``examples/python`` runs offline and prints the savings; the page of its framework in ``docs/frameworks``
contains it, what it printed, and what the adapter supports. ``TOOLFOLD_PACK=1 pytest tests/test_quickstarts.py`` writes the pages,
after ``tests/test_contract.py`` has written the table in ``docs/python.md``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from processes import Ran, Server

ROOT = Path(__file__).resolve().parents[3]
PLACE, PAGES = ROOT / "examples/python", ROOT / "docs/frameworks"
#: The name that the authors of each framework use.
TITLES = {
    "agent_framework": "Microsoft Agent Framework",
    "anthropic": "Anthropic SDK",
    "google_adk": "Google ADK",
    "langchain": "LangChain",
    "mcp": "MCP SDK",
    "openai": "OpenAI SDK",
    "openai_agents": "OpenAI Agents SDK",
    "pydantic_ai": "Pydantic AI",
}
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

NEWER = sys.version_info >= (3, 11)


def run(server: Server, script: Path) -> Ran:
    """On the newer Python in a new process, so that an adapter works with nothing imported but its framework: that does not
    depend on the version of Python, and takes 9 CPU seconds. On the older one in a fork of a process that has imported more."""
    if not NEWER:
        return server.run(script)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    return Ran(done.stdout, done.stderr, done.returncode)


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_quickstart_runs_and_saves(server: Server, name: str) -> None:
    try:
        found = importlib.util.find_spec(NEEDS[name])
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    script = PLACE / f"quickstart_{name}.py"
    done = run(server, script)
    assert done.returncode == 0, done.stderr
    assert "runs format_cells" in done.stdout
    sizes = re.search(r"carr\w+ ([\d,]+) bytes of tools instead of ([\d,]+)", done.stdout)
    assert sizes, done.stdout
    folded, whole = (int(size.replace(",", "")) for size in sizes.groups())
    assert folded * 2 < whole, done.stdout
    assert "3 requests, 1 tool array" in done.stdout or name == "mcp"
    made, file = page(name, script, done.stdout), PAGES / f"{name.replace('_', '-')}.md"
    if os.environ.get("TOOLFOLD_PACK") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(made, encoding="utf-8")
    # The sizes are those of the pins of the newer Python.
    sizes_too = NEWER
    said, found = (text if sizes_too else re.sub(r"[\d,]+ bytes", "", text) for text in (file.read_text(encoding="utf-8"), made))
    assert said == found, "TOOLFOLD_PACK=1 pytest tests/test_quickstarts.py writes the pages"


def page(name: str, script: Path, printed: str) -> str:
    """The page of a framework."""
    extra = name.replace("_", "-")
    _, about, code = script.read_text(encoding="utf-8").split('"""', 2)
    arms = get_args(getattr(importlib.import_module(f"toolfold.{name}"), "Arm", None))
    return f"""# {TITLES[name]}

<!-- Written by TOOLFOLD_PACK=1 pytest tests/test_quickstarts.py, in bindings/python: do not edit. -->

{about.splitlines()[0]}
The adapter is the module `toolfold.{name}`. Its docstring describes it; [python.md](../python.md) describes what all adapters
share: settings, approvals, names, ids.

```console
$ pip install './bindings/python[{extra}]'
```

## A first agent

This script is [{script.name}](../../examples/python/{script.name}).

```python
{code.strip()}
```

It prints:

```text
{printed.strip()}
```

## What the adapter supports

{supported(extra)}
{f"Arms: {', '.join(f'`{arm}`' for arm in arms)}." if arms else "All arms that the API supports."}
"""


def supported(column: str) -> str:
    """The requirements of the contract that an adapter does not meet, from the table of the manual."""
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8").partition("<!-- toolfold.testing: begin -->")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    reasons = dict(re.findall(r"(?m)^(\d+)\. (.*)$", text))
    if column not in rows[0]:
        return "The contract is for agents. `bindings/python/tests/test_mcp_session.py` compares a folded session with the SDK's.\n"
    place = rows[0].index(column)
    lacking = [(row[0], re.search(r"\d+", row[place])) for row in rows[2:] if row[place].startswith("no")]
    apply = sum(not row[place].startswith("-") for row in rows[2:])
    count = f"{apply} requirements of [the contract](../python.md#the-contract-of-an-adapter)"
    lines = "".join(f"| {cell} | {reasons[number[0]] if number else ''} |\n" for cell, number in lacking)
    if not lacking:
        return f"All {count} that apply.\n"
    return f"{apply - len(lacking)} of {count}. Not supported:\n\n| requirement | reason |\n|---|---|\n{lines}"
