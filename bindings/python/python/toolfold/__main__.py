"""``python -m toolfold`` and the console script ``toolfold``: the complete command line."""

from __future__ import annotations

import signal
import sys

from ._toolfold import run_command


def main() -> int:
    """Runs the command with this process's arguments and returns its exit code."""
    # The command runs outside the interpreter, so Ctrl-C ends it as it ends the binary.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return run_command(["toolfold", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
