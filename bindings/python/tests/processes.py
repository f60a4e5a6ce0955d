"""Processes that work on one conversation, in sequence or at once, and scripts. ``server.py`` contains what each does."""

from __future__ import annotations

import ast
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from dialogue import Dialogue
from workbook import Workbook

HERE = Path(__file__).parent
#: Absolute, as scripts run in other folders.
PATH = os.pathsep.join(map(os.path.abspath, filter(None, [str(HERE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])))


@dataclass
class Ran:
    """The result of a script."""

    stdout: str
    stderr: str
    returncode: int


class Server:
    """A Python that makes processes by ``fork``. It imports a framework when the first process needs it, and only once: that
    takes more CPU time than all that the processes do."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="toolfold-"))
        self.errors, self._socket = self.folder / "errors", self.folder / "socket"
        command = [sys.executable, str(HERE / "server.py"), str(self._socket)]
        with open(self.errors, "ab") as errors:
            self._parent = subprocess.Popen(
                command, env={**os.environ, "PYTHONPATH": PATH}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        assert self._parent.stdout and self._parent.stdout.readline() == b"ready\n", self.errors.read_text()

    def _fork(self, **task: object) -> Process:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(300)
        connection.connect(str(self._socket))
        process = Process(connection.makefile("r"), connection.makefile("w"), self.errors)
        connection.close()
        process.say(json.dumps(task))
        return process

    def host(self, name: str) -> Process:
        """A process of a host, which waits for its task."""
        return self._fork(modules=[f"hosts.{name}"], host=name)

    def run(self, script: Path, folder: Path | None = None) -> Ran:
        """Runs a script to its end."""
        out, errors = (Path(tempfile.mkstemp(dir=self.folder)[1]) for _ in range(2))
        where = str(folder or Path.cwd())
        process = self._fork(modules=imports(script), script=str(script), folder=where, out=str(out), errors=str(errors))
        status = process.hear()
        process.close()
        assert status, f"the process has ended\n{errors.read_text()}\n{self.errors.read_text()}"
        return Ran(out.read_text(), errors.read_text(), int(status))

    def close(self) -> None:
        self._parent.communicate(timeout=60)  # It ends when its input does.
        shutil.rmtree(self.folder)


def imports(script: Path) -> list[str]:
    """The modules that a script imports anywhere."""
    found: list[str] = []
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


class Process:
    """One process."""

    def __init__(self, inward: TextIO, outward: TextIO, errors: Path) -> None:
        self._in, self._out, self._errors = inward, outward, errors

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

    def close(self) -> None:
        """What it reads and writes ends."""
        self._in.close()
        self._out.close()


class Nursery:
    """Makes processes of one host, by two Pythons that have only imported it."""

    def __init__(self, host: str, first: Server, second: Server) -> None:
        self.host, self._first, self._second = host, first, second
        self._created: list[Process] = []

    def _create(self, server: Server) -> Process:
        process = server.host(self.host)
        self._created.append(process)
        return process

    def fork(self) -> Process:
        return self._create(self._first)

    def other(self) -> Process:
        """A process of the other Python: another seed of hashes, and nothing in common but the files."""
        return self._create(self._second)

    def close(self) -> None:
        for process in self._created:
            process.close()


class Place:
    """A folder with a workbook, the file of approvals and what a framework stores."""

    def __init__(self, folder: Path, host: str) -> None:
        self.folder, self.host = folder, host
        self.store, self._state, self._kept = folder / "approvals.db", folder / "state", folder / "kept"
        self._state.mkdir(exist_ok=True)
        self.dialogue = Dialogue(Workbook(folder / "books"))

    def tell(self, process: Process, command: str, approval: str = "", when: str = "") -> Process:
        """Lets a process begin."""
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
