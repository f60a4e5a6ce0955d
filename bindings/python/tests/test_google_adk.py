"""The adapter of Google's ADK, on a scripted model class of the framework."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="the registry does not offer google-adk")
from dialogue import ARMS, Dialogue  # noqa: E402
from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.runners import Runner  # noqa: E402
from google.adk.sessions.in_memory_session_service import InMemorySessionService  # noqa: E402
from google.adk.tools.agent_tool import AgentTool  # noqa: E402
from google.genai import types  # noqa: E402
from hosts.asking import DELETE, asking  # noqa: E402
from hosts.asking_google_adk import Model  # noqa: E402
from hosts.google_adk import SESSION, asked_in, reply, runner, say  # noqa: E402
from hosts.rules import adk_agent  # noqa: E402

from toolfold.google_adk import FoldedToolset  # noqa: E402
from toolfold.testing import POLICY, Script  # noqa: E402


async def talk(dialogue: Dialogue, yes: bool, arm: str = "lean") -> None:
    """One session; a person decides the approvals."""
    own = runner(dialogue, InMemorySessionService(), arm=arm)
    await own.session_service.create_session(**SESSION)
    (asked,) = asked_in(await say(own, types.Part(text="go")))
    dialogue.verify_unanswered()
    assert asked_in(await reply(own, asked, yes)) == []


@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook(dialogue: Dialogue, arm: str) -> None:
    asyncio.run(talk(dialogue, True, arm))
    dialogue.verify()


def test_a_no_never_runs(dialogue: Dialogue) -> None:
    asyncio.run(talk(dialogue, False))
    dialogue.verify(deleted=False)


def test_functions_and_toolsets_fold_too() -> None:
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    inner: Any = FoldedToolset([add], arm="full")
    names = [tool.name for tool in asyncio.run(FoldedToolset([inner], arm="full").get_tools())]
    assert names == ["add"]


def test_an_opened_tool_is_in_the_next_request_of_the_run() -> None:
    """ADK requests the tools of a run only once."""
    own = adk_agent("seed", [("expand_tools", {"tools": ["rename_sheet"]})])
    own.run()
    first, second = [[one for one in tools if one.name == "rename_sheet"] for tools, _ in own.requests]
    assert "old_name" not in str(first) and "old_name" in str(second)


@pytest.mark.parametrize("arm", ["lean", "index"])
def test_an_agent_in_a_tool_runs_nothing_that_requires_approval(arm: str, tmp_path: Path) -> None:
    """It has its own session, which no one can answer."""
    own: Any = asking("google_adk")([DELETE], arm, tmp_path)
    model = Model(model="scripted", own=Script([("a", {"request": "x"})]))
    outer = LlmAgent(name="outer", model=model, tools=[AgentTool(own.runner.agent)])
    own.runner = Runner(app_name="app", agent=outer, session_service=InMemorySessionService())
    assert not own.start() and own.ran == [] and own.states() == ["pending"]


@pytest.mark.parametrize("policy", [POLICY, None], ids=["toolfold", "tool"])
def test_a_payload_that_is_not_an_edit_runs_the_call_unchanged(tmp_path: Path, policy: Any) -> None:
    """A client returns the arguments that it got, or the payload is for the tool's own confirmation."""
    agent = asking("google_adk")([DELETE], "lean", tmp_path, policy=policy, own_rule=policy is None)
    assert agent.start() and not agent.answer(dict(DELETE[1]) if policy else {"days": 1})
    assert agent.ran == [DELETE] and agent.states() == (["consumed"] if policy else [])
    assert "A person changed" not in agent.read[-1]


def test_callbacks_get_the_names_of_tools_and_the_toolset_adds_itself_once() -> None:
    script = [("expand_tools", {"tools": ["list_sheets"]}), DELETE]
    own, seen = adk_agent("index", script), list[str]()

    def after_model(callback_context: Any, llm_response: Any) -> None:
        seen.extend(part.function_call.name for part in llm_response.content.parts if part.function_call)

    def before_tool(tool: Any, args: dict[str, Any], tool_context: Any) -> None:
        agent = tool_context.get_invocation_context().agent
        counted.append((len(agent.canonical_before_model_callbacks), len(agent.canonical_after_model_callbacks)))

    counted: list[tuple[int, int]] = []
    own.agent.after_model_callback, own.agent.before_tool_callback = after_model, before_tool
    own.run()
    assert seen == ["expand_tools", "delete_sheet"] and own.ran == [DELETE[1]] and counted == [(1, 2)] * 2
