"""LangChain's create_agent under LangChain's own scripted model, with interrupts and a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain", reason="the registry does not offer langchain")
from dialogue import ASKED, DONE, HUGE, SCRIPT, identity, verify  # noqa: E402
from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage  # noqa: E402
from langchain_core.tools import StructuredTool  # noqa: E402
from langchain_core.utils.function_calling import convert_to_openai_tool  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.types import Command  # noqa: E402
from workbook import FUNCTIONS, POLICY, Workbook  # noqa: E402

from toolfold import ApprovalError, Approver  # noqa: E402
from toolfold.langchain import Toolfold  # noqa: E402

#: LangGraph's checkpoints hold integers of 64 bits at most.
MOST = 2**63 - 1
THREAD: Any = {"configurable": {"thread_id": "t-1"}}
GO: Any = {"messages": [("user", "go")]}


class Scripted(GenericFakeChatModel):
    """LangChain's fake model, which also notes the arrays that it is given."""

    digests: list[str] = []

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.digests.append(identity([convert_to_openai_tool(tool) for tool in tools]))
        return self


def scripted(script: list[tuple[str, Any]], first: int = 0) -> Scripted:
    def message(turn: int, name: str, arguments: dict[str, Any]) -> AIMessage:
        fitting = {key: MOST if value == HUGE else value for key, value in arguments.items()}
        return AIMessage("", tool_calls=[{"id": f"c{turn}", "name": name, "args": fitting}])

    turns = [message(turn, *call) for turn, call in enumerate(script, first)]
    return Scripted(messages=iter([*turns, AIMessage(DONE)]), digests=[])


def tools_of(book: Workbook) -> list[Any]:
    def bound(function: dict[str, Any]) -> StructuredTool:
        name = function["name"]
        schema, description = function["parameters"], function["description"]
        return StructuredTool(name=name, description=description, args_schema=schema, func=lambda **k: book.run(name, k))

    return [bound(function) for function in FUNCTIONS]


@pytest.mark.parametrize("arm", ["lean", "stable"])
def test_a_workbook(book: Workbook, arm: str) -> None:
    model, fold = scripted(SCRIPT), Toolfold(arm=arm, profile="excel", policy=POLICY)
    agent = create_agent(model, tools=tools_of(book), middleware=[fold], checkpointer=InMemorySaver())
    asked = agent.invoke(GO, THREAD)["__interrupt__"][0].value
    assert (asked["tool"], asked["arguments"]["sheet_name"]) == ("delete_sheet", "Sheet")
    assert agent.invoke(Command(resume=True), THREAD)["messages"][-1].content == DONE
    verify(book, model.digests, MOST)
    assert fold.folder.approver.verify() == ()


def test_one_approval_and_one_run_across_a_restart(book: Workbook, tmp_path: Path) -> None:
    """Everything but the files is made anew: graph, middleware, engine, store handle."""
    saver, store = InMemorySaver(), tmp_path / "approvals.db"

    def agent(script: list[tuple[str, Any]], first: int) -> Any:
        fold = Toolfold(arm="lean", profile="excel", policy=POLICY, approvals=store)
        return create_agent(scripted(script, first), tools=tools_of(book), middleware=[fold], checkpointer=saver)

    first = agent(SCRIPT, 0).invoke(GO, THREAD)["__interrupt__"][0].value
    done = agent(SCRIPT[ASKED + 1 :], ASKED + 1).invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert done["messages"][-1].content == DONE
    assert [name for name, _ in book.calls].count("delete_sheet") == 1
    person = Approver(store)
    assert (first["approval"], person.get("ap-1").state, person.pending()) == ("ap-1", "consumed", ())
    with pytest.raises(ApprovalError):
        person.get("ap-2")


@pytest.mark.parametrize("answer", [False, "reject", None, {"type": "reject", "message": "not today"}, {"decisions": []}])
def test_whatever_is_not_a_yes_is_a_no(book: Workbook, answer: Any) -> None:
    fold = Toolfold(arm="lean", profile="excel", policy=POLICY)
    agent = create_agent(scripted(SCRIPT), tools=tools_of(book), middleware=[fold], checkpointer=InMemorySaver())
    agent.invoke(GO, THREAD)
    # None alone does not resume a graph.
    messages = agent.invoke(Command(resume={"type": "no"} if answer is None else answer), THREAD)["messages"]
    said = next(m for m in messages if getattr(m, "tool_call_id", None) == f"c{ASKED}")
    assert "a person said no" in said.content and said.status == "error"
    assert "delete_sheet" not in [name for name, _ in book.calls]


def test_integers_are_exact_where_nothing_is_checkpointed(book: Workbook) -> None:
    call = {"id": "c0", "name": "list_sheets", "args": {"file_path": "q.xlsx", "limit": HUGE}}
    model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage(DONE)]), digests=[])
    create_agent(model, tools=tools_of(book), middleware=[Toolfold(arm="lean", profile="excel")]).invoke(GO)
    assert book.calls == [("list_sheets", {"file_path": "q.xlsx", "limit": HUGE})]


def test_the_asynchronous_graph(book: Workbook) -> None:
    import asyncio

    script = [call for call in SCRIPT if call[0] != "delete_sheet"]
    agent = create_agent(scripted(script), tools=tools_of(book), middleware=[Toolfold(arm="lean", profile="excel")])
    assert asyncio.run(agent.ainvoke(GO))["messages"][-1].content == DONE
    assert [name for name, _ in book.calls][-1] == "read_excel"
