"""The raw Anthropic SDK and its tool runner, the real client over a transport of the test's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anthropic", reason="the registry does not offer anthropic")
from dialogue import ARMS, DONE, Dialogue  # noqa: E402
from hosts.anthropic import Server  # noqa: E402
from hosts.raw import started  # noqa: E402

import toolfold  # noqa: E402
from toolfold.anthropic import chat, runner_tools  # noqa: E402

GO: dict[str, Any] = {"role": "user", "content": "go"}


@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook(dialogue: Dialogue, arm: str) -> None:
    approver, conversation = started("anthropic", arm)

    def ask(waiting: toolfold.Confirm) -> bool:
        dialogue.verify_unanswered()
        return True

    asking: dict[str, Any] = {"ask": ask, "approver": approver}
    client = Server(dialogue).client()
    assert chat(client, conversation, [GO], dialogue.book.run, max_tokens=100, **asking).text == DONE
    dialogue.verify()
    assert approver.verify() == ()


# The runner itself answers names that it was not given.
@pytest.mark.filterwarnings("ignore:Tool 'read_exel' not found")
@pytest.mark.parametrize("arm", ARMS)
def test_a_workbook_under_the_tool_runner(dialogue: Dialogue, arm: str) -> None:
    approver, conversation = started("anthropic", arm)
    tools = runner_tools(conversation, dialogue.book.run, ask=lambda _: True, approver=approver)
    make = Server(dialogue).client().beta.messages.tool_runner
    runner = make(model="claude-opus-5-5", max_tokens=100, messages=[GO], tools=tools, thread=False)
    assert runner.until_done().content[0].text == DONE
    dialogue.verify()


def test_native_references(dialogue: Dialogue) -> None:
    dialogue.script = [("expand_tools", {"tools": ["rename_sheet"]}, "")]
    server, run = Server(dialogue), dialogue.book.run
    conversation = toolfold.Engine("excel", arm="native").conversation("anthropic", "claude-sonnet-4-6")
    chat(server.client(), conversation, [GO], run, max_tokens=100)
    assert any(tool.get("defer_loading") for tool in server.bodies[0]["tools"])
    result = server.bodies[1]["messages"][-1]["content"][0]
    assert {"type": "tool_reference", "tool_name": "rename_sheet"} in result["content"]

    runner = next(tool for tool in runner_tools(conversation, run) if tool.to_dict().get("name") == "expand_tools")
    assert {"type": "tool_reference", "tool_name": "copy_sheet"} in runner.call({"tools": ["copy_sheet"]})


def test_a_runner_that_begins_again_asks_anew(tmp_path: Path) -> None:
    """The runner does not pass the call id: a decision in another process does not apply to this call."""
    tool = {"name": "drop", "description": "x", "input_schema": {"type": "object", "properties": {"of": {"type": "string"}}}}
    asked: list[str] = []

    def began(of: str) -> Any:
        approver = toolfold.Approver(tmp_path / "a.db")
        policy = '[[rule]]\ntool = "*"\ndecide = "ask"\n'
        conversation = toolfold.Engine([tool], policy=policy, approvals=approver).conversation("anthropic", id="c")

        def ask(confirm: toolfold.Confirm) -> bool:
            asked.append(confirm.arguments["of"])
            return True

        (drop,) = runner_tools(conversation, lambda name, given: f"dropped {given['of']}", ask=ask, approver=approver)
        return drop.call({"of": of})

    assert ["dropped a" in str(began("a")), "dropped b" in str(began("b"))] == [True, True]
    assert asked == ["a", "b"]
