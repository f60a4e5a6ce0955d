"""The scripts of ``corpora/cases/python`` that showed a call run without its approval, or run twice, with what each prints."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

CASES = Path(__file__).resolve().parents[4] / "shared/corpora/cases/python"

# Script, the framework it needs, and what its lines must match, in order.
SCRIPTS: dict[str, tuple[str, list[str]]] = {}


@pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not here")
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_prints_what_it_expects(script: str, tmp_path: Path) -> None:
    framework, expected = SCRIPTS[script]
    if find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    (found,) = CASES.glob(f"{script}_*.py")
    ran = subprocess.run([sys.executable, str(found)], cwd=CASES, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) == len(expected), ran.stdout
    for line, pattern in zip(lines, expected, strict=True):
        assert re.fullmatch(pattern, line), f"{script}: {line!r} is not {pattern!r}"
