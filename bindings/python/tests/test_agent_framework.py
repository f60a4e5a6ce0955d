"""The adapter of agent-framework, on a scripted chat client of the framework."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agent_framework", reason="the registry does not offer agent-framework-core")
from agent_framework import Agent, Message  # noqa: E402
from dialogue import ARMS, DONE, Dialogue, settings  # noqa: E402
from hosts import asking_agent_framework  # noqa: E402
from hosts.agent_framework import Scripted, agent, tools_of  # noqa: E402
from hosts.asking import DELETE, asking  # noqa: E402
from hosts.rules import framework_agent  # noqa: E402

from toolfold.agent_framework import fold  # noqa: E402
from toolfold.testing import Script  # noqa: E402


async def talk(dialogue: Dialogue, yes: bool, arm: str = "lean") -> str:
    own = agent(dialogue, arm=arm)
    session = own.create_session()
    first = await own.run("go", session=session)
    dialogue.verify_unanswered()
    (asked,) = first.user_input_requests
    said = Message(role="user", contents=[asked.to_function_approval_response(approved=yes)])
    return (await own.run([said], session=session)).text


@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook(dialogue: Dialogue, arm: str) -> None:
    assert asyncio.run(talk(dialogue, True, arm)) == DONE
    dialogue.verify()


def test_a_no_never_runs(dialogue: Dialogue) -> None:
    assert asyncio.run(talk(dialogue, False)) == DONE
    dialogue.verify(deleted=False)


def test_an_opened_tool_is_in_the_next_request_of_the_run() -> None:
    own = framework_agent("seed", ("expand_tools", {"tools": ["rename_sheet"]}))
    own.run("go")
    first, second = (array["rename_sheet"] for array in own.arrays)
    assert "old_name" not in str(first) and "old_name" in str(second)


def test_tools_without_the_middleware_do_not_run(dialogue: Dialogue) -> None:
    folded = fold(tools_of(dialogue.book), **settings())
    own: Agent[Any] = Agent(client=Scripted(dialogue), tools=folded.tools)
    asyncio.run(own.run("go"))
    assert dialogue.book.calls == []


def test_without_a_session_a_call_that_asks_is_refused(dialogue: Dialogue) -> None:
    """The framework takes an answer only for the session that asked."""
    made = asyncio.run(agent(dialogue).run("go"))
    assert not made.user_input_requests
    dialogue.verify(deleted=False)


@pytest.mark.parametrize("arm", ["lean", "index"])
def test_an_agent_in_a_tool_runs_nothing_that_requires_approval(arm: str, tmp_path: Path) -> None:
    """The framework does not pass on its request: the call of the tool fails."""
    own: Any = asking("agent_framework")([DELETE], arm, tmp_path)
    client = asking_agent_framework.Scripted()
    client.own = Script([("inner", {"task": "x"})])
    own.agent = Agent(client=client, tools=[own.agent.as_tool(name="inner")])
    assert not own.start() and own.ran == [] and own.states() == ["pending"]
    assert "inner" in client.own.read[1] or "failed" in client.own.read[1]
