"""Processes that work on one conversation, in sequence or at once. ``hosts/__main__.py`` contains what each does."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, TextIO

from dialogue import Dialogue
from workbook import Workbook

HERE = Path(__file__).parent
PATH = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))


def python(*arguments: str, errors: Path) -> subprocess.Popen[str]:
    """A new Python that runs ``hosts``."""
    whole = [sys.executable, "-m", "hosts", *arguments]
    with open(errors, "ab") as file:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": file}
        return subprocess.Popen(whole, text=True, env={**os.environ, "PYTHONPATH": PATH}, **pipes)


class Nursery:
    """Makes processes of one host: three new Pythons, and forks of one that has only imported the host.

    The Pythons begin to import at once, beside each other: that takes longer than all that they do.
    """

    def __init__(self, host: str) -> None:
        self.host, self.folder = host, Path(tempfile.mkdtemp(prefix="toolfold-"))
        self.errors, self._socket = self.folder / "errors", self.folder / "socket"
        self._fresh = [Process.new(host, self.errors) for _ in range(3)]
        self._made = [*self._fresh]
        self._parent = python(host, str(self._socket), errors=self.errors)
        self._forks = False

    def fresh(self) -> Process:
        return self._fresh.pop()

    def fork(self) -> Process:
        if not self._forks:
            assert self._parent.stdout and self._parent.stdout.readline() == "ready\n", self.errors.read_text()
            self._forks = True
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(60)
        connection.connect(str(self._socket))
        made = Process(connection.makefile("r"), connection.makefile("w"), self.errors)
        connection.close()
        self._made.append(made)
        return made

    def close(self) -> None:
        for process in self._made:
            process.close()
        self._parent.communicate()  # It ends when its input does.
        shutil.rmtree(self.folder)


class Process:
    """One process. It imports immediately, and starts its work on request."""

    def __init__(
        self, inward: TextIO, outward: TextIO, errors: Path, child: subprocess.Popen[str] | None = None
    ) -> None:
        self._in, self._out, self._errors, self._child = inward, outward, errors, child

    @classmethod
    def new(cls, host: str, errors: Path) -> Process:
        child = python(host, errors=errors)
        assert child.stdin and child.stdout
        return cls(child.stdout, child.stdin, errors, child)

    def say(self, line: str = "") -> None:
        self._out.write(line + "\n")
        self._out.flush()

    def hear(self) -> str:
        return self._in.readline().strip()

    def end(self) -> dict[str, str]:
        """Its result."""
        said = self.hear()
        assert said.startswith("{"), f"{said!r}\n{self._errors.read_text()}"
        return json.loads(said)

    def killed(self) -> None:
        """It has ended without output."""
        assert self._in.read() == ""
        assert self._child is None or self._child.wait(60) == -9

    def close(self) -> None:
        """Ends it, if it has not ended."""
        if self._child:
            self._child.kill()
            self._child.wait(60)
        self._in.close()
        self._out.close()


class Place:
    """A folder with a workbook, the file of approvals and what a framework stores."""

    def __init__(self, folder: Path, host: str) -> None:
        self.folder, self.host = folder, host
        self.store, self._state, self._kept = folder / "approvals.db", folder / "state", folder / "kept"
        self._state.mkdir(exist_ok=True)
        self.dialogue = Dialogue(Workbook(folder / "books"))

    def tell(self, process: Process, command: str, approval: str = "", when: str = "") -> Process:
        """Lets a process begin."""
        assert process.hear() == "ready"
        task = {"command": command, "folder": str(self.folder), "approval": approval, "when": when}
        process.say(json.dumps(task))
        return process

    def deleted(self) -> int:
        """How often the deletion was started."""
        return [name for name, _ in self.dialogue.book.calls].count("delete_sheet")

    def keep(self) -> None:
        """Makes a copy of what the framework has stored."""
        shutil.copytree(self._state, self._kept)

    def restore(self) -> None:
        """Restores that copy, as a stale copy, a backup or a request sent twice would."""
        shutil.rmtree(self._state)
        shutil.copytree(self._kept, self._state)
