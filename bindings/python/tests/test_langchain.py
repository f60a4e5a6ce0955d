"""LangChain's create_agent under a model class of LangChain's, with interrupts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, get_args

import pytest

pytest.importorskip("langchain", reason="the registry does not offer langchain")
from dialogue import ARMS, ASKED, DONE, Dialogue, settings  # noqa: E402
from hosts.asking import asking  # noqa: E402
from hosts.asking import tools_of as tools  # noqa: E402
from hosts.langchain import GO, THREAD, Scripted, agent, tools_of  # noqa: E402
from langchain.agents import create_agent  # noqa: E402
from langchain_core.messages import AIMessage  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer  # noqa: E402
from langgraph.types import Command  # noqa: E402

from toolfold import Engine  # noqa: E402
from toolfold._langchain_messages import direct_message, restored, steps_of  # noqa: E402
from toolfold._settings import Wire  # noqa: E402
from toolfold.langchain import Toolfold  # noqa: E402


@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook(dialogue: Dialogue, arm: str) -> None:
    own = agent(dialogue, InMemorySaver(), arm=arm)
    asked = own.invoke(GO, THREAD)["__interrupt__"][0].value
    assert (asked["tool"], asked["arguments"]["sheet_name"]) == ("delete_sheet", "Sheet")
    dialogue.verify_unanswered()
    assert own.invoke(Command(resume=True), THREAD)["messages"][-1].content == DONE
    dialogue.verify()


def test_the_decisions_of_langchains_own_middleware(dialogue: Dialogue) -> None:
    own = agent(dialogue, InMemorySaver())
    own.invoke(GO, THREAD)
    done = own.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert done["messages"][-1].content == DONE
    dialogue.verify()


NO = {"type": "reject", "message": "not today"}


@pytest.mark.parametrize("answer", [False, "reject", None, NO, {"decisions": []}])
def test_whatever_is_not_a_yes_is_a_no(dialogue: Dialogue, answer: Any) -> None:
    own = agent(dialogue, InMemorySaver())
    own.invoke(GO, THREAD)
    # None alone does not resume a graph.
    messages = own.invoke(Command(resume={"type": "no"} if answer is None else answer), THREAD)["messages"]
    said = next(m for m in messages if getattr(m, "tool_call_id", None) == f"c{ASKED}")
    assert "a person rejected it" in said.content and said.status == "error"
    dialogue.verify(deleted=False)


@pytest.mark.parametrize("arm", ARMS)
def test_the_asynchronous_graph_without_checkpoints(book: Any, arm: str) -> None:
    """No one can approve."""
    dialogue = Dialogue(book, without="delete_sheet")
    fold = Toolfold(**settings(arm))
    model = Scripted(dialogue=dialogue)
    own = create_agent(model, tools=tools_of(book), middleware=[fold])
    assert asyncio.run(own.ainvoke(GO))["messages"][-1].content == DONE
    dialogue.verify(deleted=False)


HUGE = 10**30 + 7
ASK = '[[rule]]\ntool = "*"\ndecide = "ask"\n'


@pytest.mark.parametrize("arm", ["full", "index"])
def test_integers_of_more_than_64_bits_survive_an_approval_in_another_process(arm: str, tmp_path: Path) -> None:
    call = ("list_sheets", {"file_path": "q.xlsx", "limit": HUGE})

    def agent() -> Any:
        return asking("langchain")([call, call], arm, tmp_path, policy=ASK)

    first, second = agent(), agent()
    assert first.start()
    second.read = first.read
    second.answer(True)
    assert second.ran == [call]


@pytest.mark.parametrize("arm", ["full", "index"])
def test_a_message_with_large_integers_is_the_models_in_the_next_request(arm: str) -> None:
    conversation = Engine([{"type": "function", "function": one} for one in tools(arm)], arm=arm).conversation()
    arguments: Any = {"file_path": "q.xlsx", "limit": HUGE, "nested": [{"n": -HUGE, "small": 1 << 63}]}
    name = "list_sheets"
    if arm == "index":
        name, arguments = "call_tool", {"name": name, "arguments": arguments}
    blocks: Any = [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c0", "name": name, "input": arguments}]
    calls: Any = [{"name": name, "args": arguments, "id": "c0", "type": "tool_call"}]
    written = AIMessage(blocks, tool_calls=calls, response_metadata={"model": "m"})
    serializer = JsonPlusSerializer()
    stored = serializer.loads_typed(serializer.dumps_typed(direct_message(conversation, written)))
    assert (stored.tool_calls[0]["name"], stored.tool_calls[0]["args"]["limit"]) == ("list_sheets", str(HUGE))
    ((_, _, exact),) = steps_of([stored])
    assert exact["limit"] == HUGE and exact["nested"] == [{"n": -HUGE, "small": 1 << 63}]
    assert restored([stored]) == [written]


def test_answers_refer_to_deferred_tools_on_anthropic(tmp_path: Path) -> None:
    own: Any = {"wire": "anthropic", "model": "claude-sonnet-4-6"}
    agent = asking("langchain")([("expand_tools", {"tools": ["list_sheets"]})], "native", tmp_path, **own)
    agent.start()
    assert json.loads(agent.read[1])["content"] == [{"type": "tool_reference", "tool_name": "list_sheets"}]


@pytest.mark.parametrize("wire", get_args(Wire))
def test_an_answer_is_a_text_on_every_wire(wire: str, tmp_path: Path) -> None:
    agent = asking("langchain")([("expand_tools", {"tools": ["list_sheets"]})], "lean", tmp_path, wire=wire)
    agent.start()
    assert json.loads(agent.read[1])["content"].startswith("Opened.")
