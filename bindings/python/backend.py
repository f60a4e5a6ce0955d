"""The build backend: maturin's, with the strongest compression, for which ``[tool.maturin]`` has no key."""

import os

from maturin import *  # noqa: F403

_given = os.environ.get("MATURIN_PEP517_ARGS", "")
if "--compression-level" not in _given:
    os.environ["MATURIN_PEP517_ARGS"] = f"--compression-level 9 {_given}"
