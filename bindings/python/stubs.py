#!/usr/bin/env python3
"""Generates `_toolfold.pyi` from the Rust source, or with ``--check`` prints where the committed file differs.

    python bindings/python/stubs.py [--check]

maturin, beside this Python or on PATH, reads the types from a build with the feature ``inspect``. The build uses the profile of
the module of ``dev.sh`` (``dev``, or ``release``), so only pyo3 and this crate are compiled again. That module is unchanged.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
COMMITTED = PACKAGE / "python/toolfold/_toolfold.pyi"
MODULE = PACKAGE / "python/toolfold/_toolfold.abi3.so"
HEADER = "# Generated from the Rust source by `python bindings/python/stubs.py`: do not edit.\n"
MAX_COLUMNS = 120


def generated(place: Path) -> str:
    """Returns the stub as maturin writes it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or PACKAGE.parents[1] / "target").resolve()
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    maturin = shutil.which("maturin", path=places)
    if maturin is None:
        sys.exit("maturin is neither beside this Python nor on PATH: see bindings/python/tests/requirements.txt")
    profile = "release" if MODULE.resolve().parent.name == "release" else "dev"
    command = [maturin, "generate-stubs", "--quiet", "--locked", "--profile", profile, "--features", "inspect"]
    # Without the wheel's flags of the compiler, so that cargo reuses its build.
    command += ["--config", "build.rustflags=[]"]
    command += ["--target-dir", str(target), "--interpreter", sys.executable, "--out", str(place)]
    if subprocess.run(command, cwd=PACKAGE, check=False).returncode:
        sys.exit("no stub was generated: see above what cargo or maturin says")
    return (place / "toolfold/_toolfold.pyi").read_text(encoding="utf-8")


def mended(stub: str) -> str:
    """Adds types that pyo3 does not generate yet, by rules for any class and function, and wraps long lines."""
    # Python removes `__hash__` from a class that defines `__eq__` without it.
    classes = re.split(r"(?m)^(?=class |def )", stub)
    unhashed = "    __hash__: None  # type: ignore[assignment]\n    def __eq__("
    stub = "".join(one if "def __hash__(" in one else one.replace("    def __eq__(", unhashed) for one in classes)
    # `self` is positional whatever its name is.
    stub = re.sub(r"\((self|cls), /(, )?", r"(\1\2", stub)
    return HEADER + "".join(wrapped(line) for line in stub.splitlines(keepends=True))


def wrapped(line: str) -> str:
    """Wraps a long line, with one item of its outer brackets per line; a docstring is unchanged."""
    outer = re.match(r"(?P<indent> *)(?P<head>def \w+\(|__all__ = \[)(?P<items>.*)(?P<tail>\) -> .*\n|\]\n)", line)
    if len(line.rstrip("\n")) <= MAX_COLUMNS or outer is None:
        return line
    items, depth = [""], 0
    for letter in outer["items"]:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    inner = "".join(f"{outer['indent']}    {item.strip()},\n" for item in items)
    return f"{outer['indent']}{outer['head']}\n{inner}{outer['indent']}{outer['tail']}"


def main() -> int:
    reader = argparse.ArgumentParser(description="Generates _toolfold.pyi from the Rust source.")
    reader.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the file differs")
    check = reader.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        # cargo builds both modules under one name: the earlier one is restored.
        built, kept = MODULE.resolve(), Path(folder) / "kept"
        if built.exists():
            shutil.copy2(built, kept)
        try:
            stub = mended(generated(Path(folder)))
        finally:
            if kept.exists():
                built.unlink(missing_ok=True)
                shutil.move(kept, built)
    if not check:
        COMMITTED.write_text(stub, encoding="utf-8")
        return 0
    before = COMMITTED.read_text(encoding="utf-8")
    difference = difflib.unified_diff(before.splitlines(True), stub.splitlines(True), "committed", "from the source")
    sys.stdout.writelines(difference)
    if before != stub:
        print(f"{COMMITTED.name} is not what the Rust source says: run `python bindings/python/stubs.py`, commit it")
    return int(before != stub)


if __name__ == "__main__":
    sys.exit(main())
