"""Skills: the same as ``toolfold skills list`` prints, and started by a person."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import toolfold
from toolfold import CallError, Confirm, Conversation, Engine, Reply

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
