"""Skills: the same as ``toolfold skills list`` prints, and started by a person."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import toolfold
from toolfold import Approver, CallError, Confirm, Conversation, Engine, Forward, InputError, Reply

TOOLS = [{"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {}}}}]
OFFERS = """
import sys
from toolfold import Engine
tools = [{"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {}}}}]
engine = Engine(tools, arm="full", usual_skills=True, skills=sys.argv[1:])
own = [tool["function"] for tool in engine.conversation().tools() if tool["function"]["name"] == "activate_skill"]
print(own[0]["description"].split("Skills:\\n")[1])
"""


def put(folder: Path, name: str, keys: str = "", body: str = "Body.") -> None:
    """Writes a skill."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}. Use it.\n{keys}---\n{body}\n")


def test_the_usual_places_give_what_the_list_prints(tmp_path: Path) -> None:
    work, home = tmp_path / "p", tmp_path / "home"
    (work / ".git").mkdir(parents=True)
    put(work / ".claude/skills", "project")
    put(home / ".agents/skills", "user")
    put(home / ".agents/skills", "hidden", "disable-model-invocation: true\n")
    put(tmp_path / "pack", "packed")
    package = str(Path(toolfold.__file__).parent.parent.resolve())
    env = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "PYTHONPATH": package}
    config = home / "config/toolfold/toolfold.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[skills]\nroots = [{json.dumps(str(tmp_path / 'pack'))}]\n")

    def python(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=True).stdout

    listed = [row for row in json.loads(python("-m", "toolfold", "skills", "list", "--json")) if row["model"]]
    expected = sorted(f"- {row['name']}: {row['description']}" for row in listed)
    assert python("-c", OFFERS, str(tmp_path / "pack")).splitlines() == expected
    assert [row["name"] for row in listed] == ["project", "user", "packed"]


def conversation(folder: Path, policy: str | None = None) -> Conversation:
    return Engine(TOOLS, arm="full", skills=folder, policy=policy).conversation(id="c")


def test_a_person_starts_a_skill(tmp_path: Path) -> None:
    put(tmp_path, "own", "disable-model-invocation: true\n", "Do $ARGUMENTS.")
    own = conversation(tmp_path)
    assert "Do it." in own.activate("own", "it")
    assert '"caller":"user"' in own.take_log()
    with pytest.raises(CallError, match="unknown skill `nope`"):
        own.activate("nope")


def test_policy_decides_and_changes_are_read(tmp_path: Path) -> None:
    put(tmp_path, "deploy", body="Old.")
    own = conversation(tmp_path, 'ask = ["Skill(deploy)"]\n')
    assert isinstance(own.call("activate_skill", {"name": "deploy"}), Confirm)
    free = conversation(tmp_path)
    put(tmp_path, "late")
    assert free.reload_skills()
    assert not free.reload_skills()
    outcome = free.call("activate_skill", {"name": "late"})
    assert isinstance(outcome, Reply)
    assert "Body." in outcome.content


@pytest.mark.parametrize("honours", [False, True])
def test_a_trusted_skill_approves_calls_in_advance(tmp_path: Path, honours: bool) -> None:
    put(tmp_path, "own", "allowed-tools: t Bash\n")
    engine = Engine(
        TOOLS, arm="full", skills=tmp_path, policy='[tool.t]\ntier = "a"\n', honour_allowed_tools=honours
    )
    refused = [own["message"] for own in engine.diagnostics if own["code"] == "not-approved"]
    assert [message.startswith("`Bash` of `allowed-tools` approves nothing") for message in refused] == [True] * honours
    own = engine.conversation(id="c")
    own.call("activate_skill", {"name": "own"})
    called = own.call("t", {})
    assert isinstance(called, Forward if honours else Confirm)


SCRIPT = "entry: run.sh\ninput: {type: object, required: [month], properties: {month: {type: string}}}\n"


def script(folder: Path, policy: str, store: Path) -> Engine:
    """An engine whose skill has a script."""
    put(folder, "report", SCRIPT)
    (folder / "report/run.sh").write_text('echo "got $INPUT_JSON"\necho x > "$SKILL_PATH/written"\nexit 0\n')
    return Engine(TOOLS, arm="full", skills=folder, policy=policy, approvals=store, skill_scripts=True)


@pytest.mark.skipif(sys.platform != "linux", reason="scripts are isolated on Linux only")
def test_a_script_is_a_tool_that_asks_and_runs_confined(tmp_path: Path) -> None:
    engine = script(tmp_path / "skills", "", tmp_path / "store.sqlite")
    if not engine.scripts:
        pytest.skip(f"scripts are not isolated here: {engine.diagnostics}")
    assert engine.scripts == ("skill:report",)
    conversation = engine.conversation(id="c")
    waits = conversation.call("skill_report", {"month": "May"}, "c1")
    assert isinstance(waits, Confirm)
    assert any("isolation: Landlock" in line for line in waits.shown["effects"])
    allowed = script(tmp_path / "skills", 'allow = ["SkillRun"]\n', tmp_path / "other.sqlite")
    conversation = allowed.conversation(id="c")
    call = conversation.call("skill_report", {"month": "May"}, "c1")
    assert isinstance(call, Forward)
    text, failed = allowed.run_script(call)
    assert (json.loads(text)["output"], failed) == ('got {"month":"May"}\n', False)
    assert not (tmp_path / "skills/report/written").exists()
    conversation.answer(call.id, text, failed)
    script_free = Engine(TOOLS, arm="full").conversation().call("t", {}, "c1")
    assert isinstance(script_free, Forward)
    with pytest.raises(CallError):
        allowed.run_script(script_free)


def test_scripts_need_a_policy_and_a_file_for_approvals(tmp_path: Path) -> None:
    put(tmp_path, "report", SCRIPT)
    for given in ({}, {"policy": ""}, {"approvals": tmp_path / "store.sqlite"}):
        with pytest.raises(InputError, match="skill_scripts needs"):
            Engine(TOOLS, skills=tmp_path, skill_scripts=True, **given)  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform != "linux", reason="scripts are isolated on Linux only")
def test_the_command_of_the_package_runs_a_script(tmp_path: Path) -> None:
    if not script(tmp_path / "skills", "", tmp_path / "store.sqlite").scripts:
        pytest.skip("scripts are not isolated here")
    config = tmp_path / "config/toolfold"
    config.mkdir(parents=True)
    (config / "toolfold.toml").write_text('[skill_scripts]\nenabled = true\n[policy]\nfile = "policy.toml"\n')
    (config / "policy.toml").write_text('allow = ["SkillRun"]\n')
    package = str(Path(toolfold.__file__).parent.parent.resolve())
    env = {**os.environ, "XDG_CONFIG_HOME": str(config.parent), "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": package}
    arguments = ["skills", "run", "report", "--root", "skills", "--input", json.dumps({"month": "May"})]
    command = [sys.executable, "-m", "toolfold", *arguments]
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, 'got {"month":"May"}\n'), ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="scripts are isolated on Linux only")
def test_python_offers_and_answers_what_the_other_entry_points_do(tmp_path: Path) -> None:
    own = Path(__file__).parent / "skill_tools"
    expected = json.loads((own / "expected.json").read_text())
    approver = Approver(tmp_path / "store.sqlite")
    engine = Engine(
        TOOLS,
        arm="full",
        skills=own / "skills",
        policy=own / "policy.toml",
        approvals=approver,
        skill_scripts=True,
    )
    if not engine.scripts:
        pytest.skip(f"scripts are not isolated here: {engine.diagnostics}")
    conversation = engine.conversation(id="c")
    tools = [tool["function"] for tool in conversation.tools() if tool["function"]["name"].startswith("skill_")]
    assert [[tool["name"], tool["description"], tool["parameters"]] for tool in tools] == expected["tools"]
    for number, step in enumerate(expected["steps"]):
        outcome = conversation.call(step["call"], step["arguments"], f"c{number}")
        assert isinstance(outcome, Confirm) == ("asks" in step), (step, outcome)
        if isinstance(outcome, Confirm):
            assert any(step["asks"] in line for line in outcome.shown["effects"]), outcome.shown
            approver.approve(outcome.approval)
            outcome = conversation.resume(outcome.approval)
        if isinstance(outcome, Forward):
            text, failed = engine.run_script(outcome)
            conversation.answer(outcome.id, text, failed)
            result = json.loads(text)
            for key, value in step["result"].items():
                # True: the text depends on the shell.
                assert isinstance(result[key], str) if value is True else result[key] == value, (step, result)
            assert failed == (result["status"] != "success")
        else:
            assert step["answer"] in outcome.content, (step, outcome.content)
