"""LangGraph runs a step again: after a pause of the tool's own, after a failure, from an old checkpoint. An approval applies to
one run, and each question gets its own answer."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

import pytest

pytest.importorskip("langchain", reason="the registry does not offer langchain")
from hosts.langchain import GO, THREAD  # noqa: E402
from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage  # noqa: E402
from langchain_core.tools import StructuredTool  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.types import Command, interrupt  # noqa: E402
from workbook import FUNCTIONS, POLICY  # noqa: E402

from toolfold.langchain import Toolfold  # noqa: E402

DELETE = next(function for function in FUNCTIONS if function["name"] == "delete_sheet")
CALL = ("delete_sheet", {"file_path": "q.xlsx", "sheet_name": "S", "confirm": True})


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


class Host:
    """An agent with one configurable tool, and the list of its runs."""

    def __init__(self, body: Any = lambda: None) -> None:
        self.ran: list[Any] = []

        def run(**_: Any) -> str:
            self.ran.append(None)
            self.ran[-1] = body()
            return "deleted"

        tool = StructuredTool(name="delete_sheet", description="x", args_schema=DELETE["parameters"], func=run)
        self.fold = Toolfold(arm="full", policy=POLICY)
        said = [AIMessage("", tool_calls=[{"id": "c0", "name": CALL[0], "args": CALL[1]}])]
        model = Scripted(messages=chain(said, repeat(AIMessage("ok"))))
        self.agent = create_agent(model, tools=[tool], middleware=[self.fold], checkpointer=InMemorySaver())

    def go(self, what: Any, config: Any = THREAD) -> Any:
        return self.agent.invoke(what, config)

    def said(self) -> str:
        messages = self.agent.get_state(THREAD).values["messages"]
        return str([message.content for message in messages if message.type == "tool"])


def test_a_tool_that_asks_for_itself_gets_its_own_answer() -> None:
    host = Host(lambda: interrupt({"own": "which reason?"}))
    assert host.go(GO)["__interrupt__"][0].value["approval"] == "ap-1"
    assert host.go(Command(resume=True))["__interrupt__"][0].value == {"own": "which reason?"}
    host.go(Command(resume="it is empty"))
    assert host.ran[-1] == "it is empty" and "deleted" in host.said()
    assert host.fold.folder.approver.get("ap-1").state == "consumed" and host.fold.folder.approver.pending() == ()


def test_an_old_checkpoint_does_not_run_what_was_approved_once_more() -> None:
    host = Host()
    host.go(GO)
    before = next(state.config for state in host.agent.get_state_history(THREAD) if "tools" in state.next)
    host.go(Command(resume=True))
    assert len(host.ran) == 1
    for again in (None, Command(resume=True)):
        host.go(again, before)
        assert len(host.ran) == 1, "one approval, one run"


def test_a_run_that_failed_is_not_repeated_on_the_old_answer() -> None:
    def fails() -> None:
        raise RuntimeError("the disk is gone")

    host = Host(fails)
    host.go(GO)
    for _ in range(2):
        try:
            host.go(Command(resume=True))
        except RuntimeError:
            pass
    assert len(host.ran) == 1 and host.fold.folder.approver.pending() == ()
