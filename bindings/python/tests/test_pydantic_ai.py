"""pydantic-ai under its own FunctionModel, with deferred approvals."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="the registry does not offer pydantic-ai")
from dialogue import ARMS, ASKED, DONE, FILE, Dialogue  # noqa: E402
from hosts.asking import RENAME, Sheets, asking  # noqa: E402
from hosts.pydantic_ai import agent  # noqa: E402
from pydantic_ai import DeferredToolResults, ToolApproved  # noqa: E402
from pydantic_ai.messages import ModelRequest, ModelResponse, RetryPromptPart, ToolCallPart, ToolReturnPart  # noqa: E402
from pydantic_ai.models.function import FunctionModel  # noqa: E402

from toolfold._pydantic_ai_messages import History  # noqa: E402
from toolfold.testing import OUTPUT  # noqa: E402

CALL = f"c{ASKED}"


@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook(dialogue: Dialogue, arm: str) -> None:
    own = agent(dialogue, None, arm)
    first = own.run_sync("go")
    dialogue.verify_unanswered()
    asked = first.output.approvals[0].tool_call_id
    assert (asked, first.output.metadata[asked]["tool"]) == (CALL, "delete_sheet")
    answer = DeferredToolResults(approvals={asked: True})
    assert own.run_sync(message_history=first.all_messages(), deferred_tool_results=answer).output == DONE
    dialogue.verify()


def test_a_no_runs_nothing(dialogue: Dialogue, tmp_path: Path) -> None:
    own = agent(dialogue, tmp_path / "approvals.db")
    first = own.run_sync("go")
    answer = DeferredToolResults(approvals={CALL: False})
    assert own.run_sync(message_history=first.all_messages(), deferred_tool_results=answer).output == DONE
    dialogue.verify(deleted=False)


def test_a_person_changes_the_arguments(dialogue: Dialogue, tmp_path: Path) -> None:
    own = agent(dialogue, tmp_path / "approvals.db")
    first = own.run_sync("go")
    changed = ToolApproved(override_args={**FILE, "sheet_name": "Sheet", "confirm": False})
    answer = DeferredToolResults(approvals={CALL: changed})
    assert own.run_sync(message_history=first.all_messages(), deferred_tool_results=answer).output == DONE
    calls = dialogue.book.calls
    assert [arguments["confirm"] for name, arguments in calls if name == "delete_sheet"] == [False]


@pytest.mark.parametrize(("strategy", "runs"), [("early", False), ("exhaustive", True)])
@pytest.mark.parametrize("arm", ["full", "index"])
def test_the_end_strategy_applies_to_a_call_beside_the_output(arm: str, strategy: Any, runs: bool, tmp_path: Path) -> None:
    call = (RENAME, {"file_path": "q.xlsx", "old_name": "a", "new_name": "b"})
    own: Any = asking("pydantic_ai")([call], arm, tmp_path, output=True)

    def respond(messages: Any, info: Any) -> ModelResponse:
        ((id, name, arguments),) = own.says([tool.name for tool in info.function_tools], messages[-1])
        return ModelResponse(parts=[ToolCallPart("final_result", OUTPUT), ToolCallPart(name, arguments, id)])

    own.agent.end_strategy = strategy
    assert own.agent.run_sync("go", model=FunctionModel(respond)).output == Sheets(**OUTPUT)
    assert own.ran == ([call] if runs else [])


def test_a_history_that_grows_or_changes_is_read_as_a_new_one() -> None:
    """Other capabilities trim, replace and reorder messages between requests, and local models repeat ids."""
    dice = random.Random(7)

    def part() -> Any:
        id = dice.choice("abc")
        kinds = (ToolCallPart("f", "{}", id), ToolReturnPart("f", "x", id), RetryPromptPart("no", tool_name="f", tool_call_id=id))
        return dice.choice(kinds)

    def change(messages: list[Any]) -> None:
        where = dice.randrange(len(messages))
        match dice.randrange(8):
            case 0:
                del messages[where]
            case 1:
                messages[where].parts = [*messages[where].parts[:-1], part()]
            case 2:
                messages[where].parts.append(part())
            case 3:
                messages.reverse()
            case _:
                messages.append(dice.choice((ModelRequest, ModelResponse))([part() for _ in range(dice.randrange(4))]))

    for _ in range(300):
        history, messages = History(), [ModelResponse([part()])]
        for _ in range(12):
            assert history.read(messages) == (new := History()).read(messages)
            assert history.steps == new.steps
            change(messages)
            messages = messages or [ModelRequest([part()])]
