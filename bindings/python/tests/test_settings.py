"""The settings of the adapters, and what can be done with the handles of an application."""

from __future__ import annotations

import copy
import importlib
import weakref
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any, get_args

import pytest
from hosts import NEEDS, missing
from workbook import TOOLS

from toolfold import Approver, Engine, InputError, LoadError, StartError
from toolfold._adapter import Folder
from toolfold._settings import DELIVERIES, Arm, Settings, Wire

ADAPTERS = [name for name in [*NEEDS, "mcp"] if name not in ("anthropic", "openai")]


def adapter(name: str) -> Any:
    if name != "mcp" and (lacking := missing(name)):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    if name == "mcp":
        pytest.importorskip("mcp")
    return importlib.import_module(f"toolfold.{name}")


def test_the_names_are_those_of_the_engine() -> None:
    with pytest.raises(InputError) as arms:
        Engine(TOOLS, arm="nope")
    assert set(str(arms.value).partition("use one of ")[2].split(", ")) == set(get_args(Arm))
    with pytest.raises(InputError) as wires:
        Engine(TOOLS).conversation("nope")
    assert set(str(wires.value).partition("use ")[2].replace(" or ", ", ").split(", ")) == set(get_args(Wire))


@pytest.mark.parametrize("name", ADAPTERS)
def test_each_adapter_has_its_own_settings(name: str) -> None:
    module = adapter(name)
    own = module.Settings(arm="lean", policy="excel")
    assert own == module.Settings("lean", None, "excel") and own != module.Settings() and issubclass(module.Settings, Settings)
    with pytest.raises(FrozenInstanceError):
        own.arm = "full"
    create = {
        "agent_framework": lambda *given, **more: module.fold([], *given, **more).folder,
        "google_adk": lambda *given, **more: module.FoldedToolset([], *given, **more).folder,
        "mcp": lambda *given, **more: module.FoldedSession(None, *given, **more).folder,
        "openai_agents": lambda *given, **more: module.folding(*given, **more),
    }.get(name, lambda *given, **more: module.Toolfold(*given, **more).folder)
    assert create(own).settings is own and create(arm="lean", policy="excel").settings == own
    for given, more in (((own,), {"arm": "lean"}), ((Settings(),), {}), (({"arm": "lean"},), {})):
        with pytest.raises(InputError, match=rf"give either toolfold\.{name}\.Settings\(…\) or its members as keywords"):
            create(*given, **more)
    with pytest.raises(TypeError, match="arme"):
        create(arme="lean")
    for arm, delivery in DELIVERIES.items():
        if delivery in module.Settings.WITHOUT:
            with pytest.raises(StartError, match=f"arm {arm} is not available here"):
                create(arm=arm)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"arm": "leen"}, InputError, "unknown arm `leen`: use one of"),
        ({"wire": "openai"}, InputError, "unknown wire `openai`: use"),
        ({"policy": "no-such.toml"}, InputError, "no-such.toml: cannot be read"),
        ({"policy": ["excel", "no-such.toml"]}, InputError, "no-such.toml: cannot be read"),
        ({"policy": "[[rule]]\nalow = 1\n"}, LoadError, "alow"),
        ({"profile": "no-such.toml"}, InputError, "no-such.toml: cannot be read"),
        ({"profile": "[x\n"}, LoadError, "bad-toml"),
        ({"skills": "no-such"}, InputError, "no-such: is no folder"),
        ({"arm": "native"}, StartError, "arm native cannot be used on openai-chat"),
        ({"policy": 5}, InputError, "policy must be"),
    ],
)
def test_wrong_settings_are_found_when_they_are_created(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        Settings(**given)
    with pytest.raises(error, match=said):
        Folder(**given)


def test_a_delivery_may_depend_on_the_wire() -> None:
    """The SDK has deferred tools, and passes on what a message defines, on Responses only."""
    if missing("openai_agents"):
        pytest.skip("openai-agents is not installed")
    from toolfold.openai_agents import Settings as Own

    for arm in ("native", "append"):
        assert Own(arm=arm, model="gpt-5.4").arm == arm
        with pytest.raises(StartError, match=f"arm {arm} is not available here: the framework supports it on wire openai-responses only"):
            Own(arm=arm, wire="anthropic", model="claude-opus-5-5")


def test_right_settings_are_not_refused(tmp_path: Path) -> None:
    """Also those of tools that are known only in a run: a profile and a policy name tools."""
    (tmp_path / "profile.toml").write_text('core = ["read_excel"]\n', encoding="utf-8")
    for given in ({"profile": "excel"}, {"profile": False}, {"profile": tmp_path / "profile.toml"}, {"policy": "excel"}):
        Settings(**given)  # type: ignore[arg-type]
    Settings(arm="native", wire="openai-responses", model="gpt-5.4", approvals=tmp_path / "a.db")
    assert not (tmp_path / "a.db").exists(), "settings open no store"


def test_copies_of_handles_are_the_handles(tmp_path: Path) -> None:
    engine, approver = Engine(TOOLS), Approver()
    folder = Folder()
    for one in (engine, approver, folder):
        assert copy.copy(one) is one or one is folder
        assert copy.deepcopy({"a": [one]})["a"][0] is one
    settings = Settings(approvals=approver)
    assert copy.deepcopy(settings) == settings and copy.deepcopy(settings).approvals is approver


def test_weak_references() -> None:
    engine = Engine(TOOLS)
    conversation = engine.conversation()
    turn = conversation.turn({"role": "assistant", "content": "x"})
    for one in (engine, conversation, Approver(), turn):
        held = [one]
        assert weakref.ref(held[0])() is one
    kept = weakref.ref(engine.conversation())
    assert kept() is None, "it is gone with its last reference"
