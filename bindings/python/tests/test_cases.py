"""Scripts of ``corpora/cases/python``, which once showed a defect of an adapter: each prints the expected lines."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from processes import Ran, Server

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT.parent / "shared/corpora/cases/python"
SHOWN = "interruptions ['delete_deal'], ran []"
PENDING = 'store: Approval(id="ap-1", tool="delete_deal", state="pending")'

# Script: the framework that it needs, and the lines that it prints.
SCRIPTS: dict[str, tuple[str, list[str]]] = {
    "01": (
        "agents",
        [
            f"alone: {SHOWN}",
            PENDING,
            f"as a tool: {SHOWN}",
            PENDING,
            f"the tool's own needs_approval, Agent as a tool: {SHOWN}",
            f"the tool's own needs_approval, FoldedAgent as a tool: {SHOWN}",
        ],
    ),
    "02": (
        "pydantic_ai",
        [
            "lean: 21 tools shown, output DeferredToolRequests, ran []",
            "index: 2 tools shown, output DeferredToolRequests, ran []",
            "auto: 2 tools shown, output DeferredToolRequests, ran []",
        ],
    ),
    "03": (
        "langchain",
        [
            f"{arm}, {order} first: asked, ran []"
            for arm in ("lean", "index", "auto")
            for order in ("HITL", "toolfold")
        ],
    ),
    # The script makes three attempts with a model of two messages, so that it ends with an error.
    "04": (
        "openai",
        [
            "attempt 0 -> KeyboardInterrupt",
            "ran so far: ['1', '2']",
            "attempt 1 -> done",
            "ran so far: ['1', '2', '2']",
        ],
    ),
    "05": ("pydantic_ai", [f"{how} -> done" for how in ("bare", "toolfold full", "toolfold lean")]),
    "06": (
        "pydantic_ai",
        [
            "the person is shown: [{'deal_id': '1'}]",
            "ran: [] | still pending: [('ap-2', {'deal_id': '999'})]",
        ],
    ),
    # A middleware that adds tools belongs before toolfold: else policy and profile do not know what it adds.
    "07": (
        "langchain",
        [
            "(a) two Toolfolds -> ['sub done', 'get_ticket: ok']",
            "(a) one Toolfold -> ['sub done', 'get_ticket: ok']",
            "(b) bare -> ['extra ran']",
            "(b) [Dynamic, Toolfold] -> ['extra ran']",
            "(b) [Toolfold, Dynamic] -> ['Unknown tool `extra`. expand_tools lists more.']",
            "(c) ran, of 30: without thread ids [30, 30, 30, 30, 30] with [30, 30]",
        ],
    ),
    "09": (
        "agents",
        [
            "(a) lean ran ['delete_deal'] asked again: ['merge_contacts']",
            "(b) lean get_deal: ok",
            "(a) index ran ['delete_deal'] asked again: ['merge_contacts']",
            "(b) index get_deal: ok",
            "(d) hook: get_deal",
            "(e) final output: x",
            "(e) final output: x",
        ],
    ),
}


def lines_of(server: Server, script: str) -> tuple[list[str], Ran]:
    (found,) = CASES.glob(f"{script}_*.py")
    ran = server.run(found, CASES)
    return [line.strip() for line in ran.stdout.splitlines()], ran


@pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not here")
def test_every_adapter_folds_whatever_it_is_told_of_the_model(server: Server) -> None:
    """Before, a model with deferred tools made three adapters take an arm that they could not carry: all was sent whole."""
    if [name for name in ("agents", "agent_framework", "langchain") if find_spec(name) is None]:
        pytest.skip("a framework of the script is not installed")
    lines, ran = lines_of(server, "11")
    shown = [re.search(r"(\d+) of (\d+) bytes$", line) for line in lines]
    assert ran.returncode == 0 and len(shown) == 7, ran.stderr
    for line in shown:
        assert line and int(line[1]) < 0.7 * int(line[2]), lines


@pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not here")
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_prints_what_it_expects(server: Server, script: str) -> None:
    framework, expected = SCRIPTS[script]
    if find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    lines, ran = lines_of(server, script)
    assert lines == expected, ran.stderr
    assert (ran.returncode == 0) == (script != "04"), ran.stderr
