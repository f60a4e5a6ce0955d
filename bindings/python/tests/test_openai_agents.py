"""The adapter of the OpenAI Agents SDK, on a model class of the SDK's."""

from __future__ import annotations

import pytest

pytest.importorskip("agents", reason="the registry does not offer openai-agents")
from agents.testing import ScriptedModel, assistant_message, function_call  # noqa: E402
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


def test_a_later_run_knows_what_an_earlier_one_opened(dialogue: Dialogue) -> None:
    own = agent(dialogue)
    expand = [function_call("expand_tools", {"categories": ["format"]}, call_id=f"e{at}") for at in range(2)]
    ok = assistant_message("ok")
    own.model = ScriptedModel([[expand[0]], [ok], [expand[1]], [ok]])
    first = run(own, "go")
    second = run(own, [*first.to_input_list(), {"role": "user", "content": "And again."}])
    answers = [item["output"] for item in second.to_input_list() if item.get("type") == "function_call_output"]
    assert answers[0].startswith("Opened.") and answers[1].startswith("Already open")
