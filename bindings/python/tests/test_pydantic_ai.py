"""pydantic-ai under its own FunctionModel, with deferred approvals and a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="the registry does not offer pydantic-ai")
from dialogue import ASKED, DONE, SCRIPT, identity, verify  # noqa: E402
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool, ToolApproved  # noqa: E402
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart  # noqa: E402
from pydantic_ai.models.function import FunctionModel  # noqa: E402
from workbook import FUNCTIONS, POLICY, Workbook  # noqa: E402

from toolfold import ApprovalError, Approver  # noqa: E402
from toolfold.pydantic_ai import Toolfold  # noqa: E402


def tools_of(book: Workbook) -> list[Any]:
    def bound(function: dict[str, Any]) -> Any:
        name = function["name"]
        schema, description = function["parameters"], function["description"]
        return Tool.from_schema(lambda **k: book.run(name, k), name=name, description=description, json_schema=schema)

    return [bound(function) for function in FUNCTIONS]


class Scripted:
    """The model of the script, which also notes the arrays that it is given."""

    def __init__(self) -> None:
        self.digests: list[str] = []

    def __call__(self, messages: list[Any], info: Any) -> ModelResponse:
        tools = [(tool.name, tool.description, tool.parameters_json_schema, tool.strict) for tool in info.function_tools]
        self.digests.append(identity(tools))
        turn = sum(1 for message in messages if message.kind == "response")
        if turn >= len(SCRIPT):
            return ModelResponse(parts=[TextPart(DONE)])
        name, arguments = SCRIPT[turn]
        return ModelResponse(parts=[ToolCallPart(name, json.dumps(arguments), f"c{turn}")])


def agent(book: Workbook, model: Scripted, store: Path, arm: str = "lean") -> Agent[None, Any]:
    fold = Toolfold(arm=arm, profile="excel", policy=POLICY, approvals=store)
    output: Any = [str, DeferredToolRequests]
    return Agent(FunctionModel(model), tools=tools_of(book), capabilities=[fold], output_type=output)


@pytest.mark.parametrize("arm", ["lean", "stable"])
def test_a_workbook_with_one_approval_across_a_restart(book: Workbook, tmp_path: Path, arm: str) -> None:
    """Between question and answer everything but the files is made anew."""
    store, model = tmp_path / "approvals.db", Scripted()
    first = agent(book, model, store, arm).run_sync("go")
    waiting = first.output.approvals[0].tool_call_id
    assert (waiting, first.output.metadata[waiting]["tool"]) == (f"c{ASKED}", "delete_sheet")
    history = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
    answer = DeferredToolResults(approvals={waiting: True})
    again = agent(book, model, store, arm).run_sync(message_history=history, deferred_tool_results=answer)
    assert again.output == DONE
    verify(book, model.digests)
    person, asked = Approver(store), first.output.metadata[waiting]["approval"]
    assert (asked, person.get("ap-1").state, person.pending()) == ("ap-1", "consumed", ())
    with pytest.raises(ApprovalError):
        person.get("ap-2")


def test_a_no_runs_nothing(book: Workbook, tmp_path: Path) -> None:
    own = agent(book, Scripted(), tmp_path / "approvals.db")
    first = own.run_sync("go")
    answer = DeferredToolResults(approvals={f"c{ASKED}": False})
    assert own.run_sync(message_history=first.all_messages(), deferred_tool_results=answer).output == DONE
    assert "delete_sheet" not in [name for name, _ in book.calls]


def test_a_person_changes_the_arguments(book: Workbook, tmp_path: Path) -> None:
    own = agent(book, Scripted(), tmp_path / "approvals.db")
    first = own.run_sync("go")
    changed = ToolApproved(override_args={"file_path": "q.xlsx", "sheet_name": "Sheet", "confirm": False})
    answer = DeferredToolResults(approvals={f"c{ASKED}": changed})
    assert own.run_sync(message_history=first.all_messages(), deferred_tool_results=answer).output == DONE
    assert [arguments["confirm"] for name, arguments in book.calls if name == "delete_sheet"] == [False]
