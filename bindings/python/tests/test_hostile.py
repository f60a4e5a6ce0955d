"""Hostile input: a plain answer or error, never a crash."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from workbook import TOOLS

import toolfold
from toolfold import Forward, Reply


@pytest.fixture(scope="module")
def engine() -> toolfold.Engine:
    return toolfold.Engine(TOOLS, "excel", "lean")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


#: Arguments that a model or a framework may pass, and the answer for the model.
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{", "invalid JSON"),
        ('{"file_path": NaN}', "`NaN` is not a JSON number"),
        ({"file_path": float("nan")}, "`NaN` is not a JSON number"),
        ({"file_path": "\ud800"}, "invalid JSON"),
        ("[1]", "must be a JSON object"),
        (json.dumps({"file_path": nested(200)}), "invalid JSON"),
    ],
)
def test_bad_arguments_are_answered(engine: toolfold.Engine, arguments: Any, said: str) -> None:
    outcome = engine.conversation().call("list_sheets", arguments)
    assert isinstance(outcome, Reply) and outcome.is_error and said in outcome.content


def test_names_of_any_kind(engine: toolfold.Engine) -> None:
    conversation = engine.conversation()
    for name in ("", "\x00", "x" * 100_000, "\u202e", "expand_tools\n", "🙂"):
        outcome = conversation.call(name, {})
        assert isinstance(outcome, Reply) and len(outcome.content) < 4_000


@pytest.mark.parametrize("given", [object(), {1, 2}, nested(100_000), {"a": object()}])
def test_what_is_no_json_is_an_error(engine: toolfold.Engine, given: Any) -> None:
    with pytest.raises(toolfold.InputError, match="the arguments cannot be written as JSON"):
        engine.conversation().call("list_sheets", given)


def test_an_integer_that_python_will_not_read(engine: toolfold.Engine) -> None:
    digits = "9" * 5_000
    outcome = engine.conversation().call("list_sheets", f'{{"file_path": "a", "limit": {digits}}}')
    assert isinstance(outcome, Forward) and digits in outcome.arguments_json
    with pytest.raises(toolfold.InputError, match="Python cannot hold this JSON as objects"):
        outcome.arguments


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: toolfold.Engine("missing.json"), "InputError", "missing.json: cannot be read: No such file"),
        (lambda: toolfold.Engine("/tmp"), "InputError", "is a folder"),
        (lambda: toolfold.Engine([{"x": 1}, {"name": 3}]), "LoadError", "a tool must have a `name`"),
        (lambda: toolfold.Engine("[1"), "LoadError", "error["),
        (lambda: toolfold.Engine(TOOLS, "tier = 3\n"), "LoadError", "error["),
        (lambda: toolfold.Engine(TOOLS, arm="leen"), "InputError", "lean"),
        (lambda: toolfold.Engine(TOOLS, policy="[[rule]]\nnope = 1\n"), "LoadError", "nope"),
        (lambda: toolfold.Engine(TOOLS, skills="nowhere"), "InputError", "no folder of skills"),
        (lambda: toolfold.Engine(TOOLS, 3), "InputError", "profile must be a name, a path or TOML text, not int"),
        (lambda: toolfold.Engine(TOOLS).conversation("openai"), "InputError", "openai-chat"),
        (lambda: toolfold.Engine(TOOLS, False, "lean").conversation(), "StartError", "requires layer 1"),
        (lambda: toolfold.Engine(TOOLS).restore(b"{}"), "RestoreError", "no snapshot"),
        (lambda: toolfold.Engine(TOOLS).replay("[]"), "RestoreError", "the log is empty"),
        (lambda: toolfold.Engine(TOOLS).conversation(history="{"), "WireError", "not JSON"),
        (lambda: toolfold.Engine(TOOLS).conversation().turn({"choices": []}), "WireError", "response"),
        (lambda: toolfold.Engine(TOOLS).conversation().resume("ap-9"), "CallError", "no call waits for approval `ap-9`"),
        (lambda: toolfold.Engine(TOOLS).conversation().child(["nope"]), "StartError", "unknown tools: `nope`"),
        (lambda: toolfold.Approver("/nowhere/x.db"), "ApprovalError", "/nowhere/x.db"),
        (lambda: toolfold.Approver().approve("ap-9"), "ApprovalError", "ap-9"),
        (lambda: toolfold.tokens("{"), "InputError", "no JSON array"),
    ],
)
def test_errors_say_what_and_where(make: Any, error: str, said: str) -> None:
    with pytest.raises(toolfold.ToolfoldError) as caught:
        make()
    assert type(caught.value).__name__ == error and said in str(caught.value)


def test_an_error_has_every_diagnostic() -> None:
    with pytest.raises(toolfold.LoadError) as caught:
        toolfold.Engine([{"x": 1}, {"y": 1}])
    found = caught.value.diagnostics
    assert [one["place"]["path"] for one in found] == ["/0", "/1"] and len(str(caught.value).splitlines()) == 2


def test_one_bad_tool_takes_no_other_down() -> None:
    engine = toolfold.Engine([{"name": "a"}, {"x": 1}])
    errors = [one for one in engine.diagnostics if one["severity"] == "error"]
    assert [(one["code"], one["place"]["path"]) for one in errors] == [("no-name", "/1")]
    with pytest.raises(toolfold.LoadError, match="registered already"):
        toolfold.Engine([{"name": "a"}, {"name": "a"}])


def command(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "toolfold", *arguments]
    return subprocess.run(whole, capture_output=True, text=True, timeout=60, **more)


def test_the_command_line(tmp_path: Path) -> None:
    assert command("--version").stdout.startswith("toolfold ")
    report = command("report", "--json", "--arms", "full,lean")
    assert report.returncode == 0 and json.loads(report.stdout)
    assert command("report", "--nope").returncode == 2
    bad = tmp_path / "bad.json"
    bad.write_text("[{}]", encoding="utf-8")
    refused = command("report", "--tools", str(bad))
    assert refused.returncode == 1 and "no-name" in refused.stderr
    assert "Usage" in command("--help").stdout


def test_a_reader_that_goes_away_is_no_error() -> None:
    whole = [sys.executable, "-m", "toolfold", "tools"]
    child = subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout and child.stderr
    child.stdout.close()
    assert child.wait(60) == 0
    said = child.stderr.read()
    assert b"panic" not in said and b"Traceback" not in said and b"roken pipe" not in said
    child.stderr.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT of a process")
def test_ctrl_c_ends_the_command() -> None:
    import signal

    whole = [sys.executable, "-m", "toolfold", "session"]
    child = subprocess.Popen(whole, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin and child.stdout
    child.stdin.write(b'{"tools":{}}\n')
    child.stdin.flush()
    assert child.stdout.readline(), "it runs"
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == -signal.SIGINT
    child.stdin.close()
    child.stdout.close()
