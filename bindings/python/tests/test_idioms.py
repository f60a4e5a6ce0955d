"""The idioms of the SDKs' own documentation pass both type checkers, and wrong settings fail in both (``typed_idioms.py``)."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from hosts import NEEDS, missing

from toolfold._settings import DELIVERIES, Arm

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "python"
IDIOMS = HERE / "typed_idioms.py"
LACKING = [name for host in NEEDS for name in missing(host)]

#: The types do not depend on the version of Python, and a run takes 40 CPU seconds.
pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 11), reason="the types are checked on the newer Python"),
    pytest.mark.skipif(bool(LACKING), reason=f"{', '.join(LACKING)} is not installed"),
]


def test_mypy_accepts_the_idioms_and_finds_wrong_settings(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", str(IDIOMS)]
    environment = {"MYPY_CACHE_DIR": str(tmp_path), **os.environ, "MYPYPATH": str(PACKAGE)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_accepts_the_idioms_and_finds_wrong_settings(tmp_path: Path) -> None:
    pyright = shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not on PATH: see tests/requirements-pyright.txt")
    settings = {
        "include": [os.path.relpath(IDIOMS, tmp_path.resolve())],
        "extraPaths": [str(PACKAGE)],
        # A comment of mypy is none of pyright's, and each of its own must be needed.
        "enableTypeIgnoreComments": False,
        "reportUnnecessaryTypeIgnoreComment": "error",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [pyright, "--pythonpath", sys.executable, "--project", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "0 errors" in done.stdout, done.stdout + done.stderr


def test_the_numbers_of_idioms_and_wrong_settings() -> None:
    text = IDIOMS.read_text(encoding="utf-8")
    assert len(re.findall(r"(?m)^# \d+\. ", text)) >= 12
    _, _, wrong = text.partition('"""WRONG"""')
    lines = [line for line in wrong.splitlines() if line.strip()]
    assert len(lines) >= 6 and all("type: ignore[" in line and "pyright: ignore[" in line for line in lines)


@pytest.mark.parametrize("name", [name for name in [*NEEDS, "mcp"] if name not in ("anthropic", "openai")])
def test_the_type_of_an_arm_has_the_arms_that_the_adapter_supports(name: str) -> None:
    module = importlib.import_module(f"toolfold.{name}")
    carried = {arm for arm in get_args(Arm) if DELIVERIES.get(arm) not in module.Settings.WITHOUT}
    assert set(get_args(module.Arm)) == carried
