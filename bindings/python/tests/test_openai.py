"""The raw OpenAI SDK, its real client over a transport of the test's own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("openai", reason="the registry does not offer openai")
from dialogue import ARMS, ASKED, DONE, SCRIPT, Dialogue  # noqa: E402
from hosts.openai import Server, clients  # noqa: E402
from hosts.raw import started  # noqa: E402

import toolfold  # noqa: E402
from toolfold.openai import achat, arespond, chat, respond  # noqa: E402

GO: dict[str, Any] = {"role": "user", "content": "go"}


@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook_over_chat(dialogue: Dialogue, arm: str) -> None:
    client, messages, asked = clients(Server(dialogue))[0], [GO], []
    approver, conversation = started("openai-chat", arm)

    def ask(waiting: toolfold.Confirm) -> bool:
        dialogue.verify_unanswered()
        asked.append(waiting.target)
        return True

    assert chat(client, conversation, messages, dialogue.book.run, ask=ask, approver=approver).text == DONE
    dialogue.verify()
    assert asked == ["delete_sheet"] and approver.verify() == ()
    assert [m["role"] for m in messages] == ["user", *["assistant", "tool"] * len(SCRIPT), "assistant"]


@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook_over_responses(dialogue: Dialogue, arm: str) -> None:
    server, items = Server(dialogue), [GO]
    approver, conversation = started("openai-responses", arm)
    asking: dict[str, Any] = {"ask": lambda _: True, "approver": approver}
    assert respond(clients(server)[0], conversation, items, dialogue.book.run, **asking).text == DONE
    dialogue.verify()
    assert all(body["store"] is False for body in server.bodies)


@pytest.mark.parametrize(("wire", "loop"), [("openai-chat", achat), ("openai-responses", arespond)])
def test_the_asynchronous_client(dialogue: Dialogue, wire: str, loop: Any) -> None:
    approver, conversation = started(wire, "lean")

    async def run(tool: str, arguments: dict[str, Any]) -> str:
        return dialogue.book.run(tool, arguments)

    client = clients(Server(dialogue))[1]
    done = loop(client, conversation, [GO], run, ask=lambda _: True, approver=approver)
    assert asyncio.run(done).text == DONE
    dialogue.verify()


@pytest.mark.parametrize(("answer", "said"), [(False, "a person rejected it"), (None, "it requires approval")])
def test_a_no_and_no_answer_at_all(dialogue: Dialogue, answer: bool | None, said: str) -> None:
    approver, conversation = started("openai-chat", "lean")
    messages = [GO]
    asking: dict[str, Any] = {"ask": lambda _: answer, "approver": approver}
    chat(clients(Server(dialogue))[0], conversation, messages, dialogue.book.run, **asking)
    assert said in next(m["content"] for m in messages if m.get("tool_call_id") == f"c{ASKED}")
    dialogue.verify(deleted=False)


def test_native_search_of_responses() -> None:
    conversation = toolfold.Engine("excel", arm="native").conversation("openai-responses", "gpt-5.4")
    before, tools = conversation.digest, conversation.tools()
    assert any(tool["type"] == "tool_search" for tool in tools), [tool["type"] for tool in tools]
    call = {"type": "tool_search_call", "call_id": "s1", "execution": "client", "status": "completed"}
    turn = conversation.turn([{**call, "arguments": {"categories": ["sheet"]}}])
    found = turn.messages()[0]
    assert found["type"] == "tool_search_output" and found["call_id"] == "s1"
    assert "rename_sheet" in json.dumps(found["tools"]) and conversation.digest == before
