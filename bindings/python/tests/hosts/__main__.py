"""Processes of a host.

``python -m hosts HOST`` is one of them: it reads one line of JSON, works, and says as one line what came of it.
``python -m hosts HOST SOCKET`` makes one by ``fork`` for each connection, so that only what is imported is shared.

The line has ``command`` (``ask``, ``yes``, ``no``), ``folder``, ``approval`` and ``when``: when the process kills itself
as ``kill -9`` does, so that nothing is flushed, closed or unwound. That is ``asking`` (the question is in the file of
approvals, and the framework has not noted it yet), ``asked``, ``begun`` (``delete_sheet``). With ``hold`` it says ``held``
when ``delete_sheet`` has begun, and waits for a line.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

from dialogue import Dialogue
from workbook import Workbook


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def work(host: str, inward: TextIO, outward: TextIO) -> None:
    def say(text: str) -> None:
        outward.write(text + "\n")
        outward.flush()

    def hold() -> None:
        say("held")
        inward.readline()

    module = importlib.import_module(f"hosts.{host}")
    say("ready")
    task: dict[str, Any] = json.loads(inward.readline())
    folder, when = Path(task["folder"]), task["when"]
    dialogue = Dialogue(Workbook(folder / "books"))
    own = module.Host(dialogue, folder / "state", folder / "approvals.db")
    act = {"begun": die, "hold": hold}.get(when)
    dialogue.book.begun = lambda tool: act() if act and tool == "delete_sheet" else None
    if when == "asking":
        own.on_question(die)
    try:
        if task["command"] == "ask":
            own.ask()
            said = {"text": "asked"}
        else:
            said = {"text": own.answer(task["approval"], task["command"] == "yes")}
    except Exception as why:
        traceback.print_exc()
        said = {"error": f"{type(why).__name__}: {why}"}
    if when == "asked":
        die()
    say(json.dumps(said))


def serve(host: str, path: str) -> None:
    importlib.import_module(f"hosts.{host}")
    # The children are not awaited: the connected process sees how they end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        if os.fork() == 0:
            work(host, connection.makefile("r"), connection.makefile("w"))
            os._exit(0)
        connection.close()


if len(sys.argv) > 2:
    serve(*sys.argv[1:])
else:
    work(sys.argv[1], sys.stdin, sys.stdout)
