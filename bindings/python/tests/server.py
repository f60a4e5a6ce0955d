"""A Python that makes processes by ``fork``, so that they share only what is imported: ``python server.py SOCKET``.

Each connection is one process. Its first line is JSON: ``modules``, which the parent imports before it forks, and either
``script``, which runs as ``python SCRIPT`` in ``folder`` with its output in the files ``out`` and ``errors``, and answers its
exit status, or ``host``: it reads one more line of JSON, works, and answers its result in one line.

That line has ``command`` (``ask``, ``yes``, ``no``), ``folder``, ``approval`` and ``when``: when the process kills itself
as ``kill -9`` does, so that nothing is flushed, closed or unwound. That is ``asking`` (the question is in the file of
approvals, and the framework has not noted it yet), ``asked``, ``begun`` (``delete_sheet``). With ``hold`` it answers ``held``
when ``delete_sheet`` has begun, and waits for a line.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
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


def run_host(host: str, inward: TextIO, outward: TextIO) -> None:
    def answer(text: str) -> None:
        outward.write(text + "\n")
        outward.flush()

    def hold() -> None:
        answer("held")
        inward.readline()

    module = importlib.import_module(f"hosts.{host}")
    task: dict[str, Any] = json.loads(inward.readline())
    folder, when = Path(task["folder"]), task["when"]
    dialogue = Dialogue(Workbook(folder / "books"))
    agent = module.Host(dialogue, folder / "state", folder / "approvals.db")
    act = {"begun": die, "hold": hold}.get(when)
    dialogue.book.begun = lambda tool: act() if act and tool == "delete_sheet" else None
    if when == "asking":
        agent.on_question(die)
    try:
        if task["command"] == "ask":
            agent.ask()
            result = {"text": "asked"}
        else:
            result = {"text": agent.answer(task["approval"], task["command"] == "yes")}
    except Exception as why:
        traceback.print_exc()
        result = {"error": f"{type(why).__name__}: {why}"}
    if when == "asked":
        die()
    answer(json.dumps(result))


def run_script(script: str, folder: str, out: str, errors: str) -> int:
    os.chdir(folder)
    for number, file in ((1, out), (2, errors)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    sys.argv, sys.path[0] = [script], str(Path(script).parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def serve(path: str) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    running: list[int] = []
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        inward, outward = connection.makefile("r"), connection.makefile("w")
        connection.close()
        task = json.loads(inward.readline())
        for module in task["modules"]:
            # The process imports it, too, and there an error counts.
            with contextlib.suppress(ImportError):
                importlib.import_module(module)
        gc.freeze()
        child = os.fork()
        if child == 0:
            if "host" in task:
                run_host(task["host"], inward, outward)
            else:
                status = run_script(task["script"], task["folder"], task["out"], task["errors"])
                sys.stdout.flush()
                sys.stderr.flush()
                outward.write(str(status))
                outward.flush()
            os._exit(0)
        inward.close()
        outward.close()
        # Their CPU time becomes the parent's when it has waited for them.
        running = [each for each in [*running, child] if os.waitpid(each, os.WNOHANG)[0] == 0]
    for each in running:
        os.waitpid(each, 0)


serve(sys.argv[1])
