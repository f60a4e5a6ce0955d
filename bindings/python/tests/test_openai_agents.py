"""The adapter of the OpenAI Agents SDK, on a model class of the SDK's."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("agents", reason="the registry does not offer openai-agents")
from agents import RunState  # noqa: E402
from dialogue import ARMS, DONE, Dialogue  # noqa: E402
from hosts.openai_agents import agent, run  # noqa: E402


@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook(dialogue: Dialogue, arm: str) -> None:
    own = agent(dialogue, arm=arm)
    first = run(own, "go")
    assert [item.raw_item.name for item in first.interruptions] == ["delete_sheet"]
    dialogue.verify_unanswered()
    state = first.to_state()
    state.approve(state.get_interruptions()[0])
    assert run(own, state).final_output == DONE
    dialogue.verify()


def test_a_no_never_runs(dialogue: Dialogue) -> None:
    own = agent(dialogue)
    state = run(own, "go").to_state()
    state.reject(state.get_interruptions()[0])
    assert run(own, state).final_output == DONE
    dialogue.verify(deleted=False)


def test_without_a_thread_an_approval_is_good_for_one_process(dialogue: Dialogue) -> None:
    """The SDK's record alone, from a stored state, does not name the approval that was shown: the call is refused."""
    made = []
    for _ in range(2):
        own = agent(dialogue)
        own.thread = lambda context: None
        made.append(own)
    first = run(made[0], "go")
    stored = json.loads(json.dumps(first.to_state().to_json()))
    other = asyncio.run(RunState.from_json(made[1], stored))
    other.approve(other.get_interruptions()[0])
    run(made[1], other)
    assert "delete_sheet" not in [name for name, _ in dialogue.book.calls]
    assert "no one could be asked" in dialogue.requests[-2]["newest"] + dialogue.requests[-1]["newest"]
    state = first.to_state()
    state.approve(state.get_interruptions()[0])
    run(made[0], state)
    assert [name for name, _ in dialogue.book.calls].count("delete_sheet") == 1, "in the process that asked it runs"
