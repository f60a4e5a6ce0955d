"""What the hosts of the two raw SDKs share: a loop whose host stores the history while a person thinks, and ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dialogue import Dialogue, settings
from workbook import TOOLS

import toolfold


def started(wire: str, arm: str, store: Path | None = None, **history: Any) -> tuple[Any, toolfold.Conversation]:
    """A person's handle, and a conversation."""
    approver, model = toolfold.Approver(store), "claude-sonnet-4-6" if wire == "anthropic" else "gpt-5.4"
    engine = toolfold.Engine(TOOLS, **settings(arm), approvals=approver)
    return approver, engine.conversation(wire, model, "c-1", **history)


class RawHost:
    wire: str

    def __init__(self, dialogue: Dialogue, folder: Path, store: Path) -> None:
        self.dialogue, self.book, self._store, self._history = dialogue, dialogue.book, store, folder / "history.json"

    def chat(self, conversation: toolfold.Conversation, messages: list[Any], **asking: Any) -> str:
        """The loop of the SDK's adapter."""
        raise NotImplementedError

    def ask(self) -> None:
        approver, conversation = started(self.wire, "lean", self._store)
        messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]

        class Asked(Exception):
            pass

        def ask(waiting: toolfold.Confirm) -> bool:
            self._history.write_text(json.dumps(messages))
            raise Asked

        try:
            self.chat(conversation, messages, ask=ask, approver=approver)
        except Asked:
            return
        raise LookupError("nobody was asked")

    def answer(self, approval: str, yes: bool) -> str:
        messages = json.loads(self._history.read_text())
        approver, conversation = started(self.wire, "lean", self._store, history=messages)
        # What the person was shown is what is answered.
        approver.approve(approval) if yes else approver.reject(approval)
        turn = conversation.turn(messages[-1])
        for call in turn.runnable:
            turn.finish(call.id, self.book.run(call.target, call.arguments))
        messages += turn.messages()
        text = self.chat(conversation, messages)
        self._history.write_text(json.dumps(messages))
        return text
