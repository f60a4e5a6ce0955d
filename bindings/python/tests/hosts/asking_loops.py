"""The agent of ``asking`` over the loops of the two SDKs."""

from __future__ import annotations

import json
from typing import Any

from hosts.asking import Asking, Sheets, tools_of
from hosts.streams import delta

from toolfold import Approver, Confirm, Engine

#: What every SDK lacks.
NONE = "an SDK runs no tools"


class Loop(Asking):
    """The person is a callback, which ends the process here."""

    absent = dict.fromkeys(("own rule", "hooks", "stop rule", "changing tools", "injected"), NONE) | dict.fromkeys(
        ("nested", "nested rejected"), "an SDK has no agents"
    )
    asks_in_answer = True
    wire = ""
    #: The member of a request that requires an ``OUTPUT``.
    typed: dict[str, Any] = {}

    class Asked(Exception):
        pass

    def loop(self, conversation: Any, messages: list[Any], **asking: Any) -> Any:
        raise NotImplementedError

    def build(self) -> None:
        self.approver, self.conversation = Approver(self.store), None
        self.request, self.forgets = self.typed if self.wants("output") else {}, self.wants("trims")
        tools = [{"type": "function", "function": each} for each in tools_of(self.arm)]
        self.engine = Engine(tools, **{**self.settings, "approvals": self.approver})

    def _went(self, messages: list[Any], said: bool | dict[str, Any] | None, **more: Any) -> bool:
        # The newest models have every delivery of their API.
        model = "claude-opus-5-5" if self.wire == "anthropic" else "gpt-5.4"
        self.conversation = self.conversation or self.engine.conversation(self.wire, model, "c-1", history=messages)
        answers = [] if said is None else [said]

        def ask(waiting: Confirm) -> bool | dict[str, Any]:
            if not answers:
                raise self.Asked
            return answers.pop()

        try:
            result = self.loop(self.conversation, messages, ask=ask, approver=self.approver, **self.request, **more)
        except self.Asked:
            return True
        finally:
            self.state = json.dumps(messages)
        self.output = Sheets.model_validate_json(result.text).model_dump() if self.request else None
        return False

    def start(self) -> bool:
        return self._went([{"role": "user", "content": "go"}], None)

    def stream(self) -> bool:
        events: list[Any] = []
        try:
            return self._went([{"role": "user", "content": "go"}], None, on_event=events.append)
        finally:
            self.heard = [text for text in map(delta, events) if text]

    def again(self) -> bool:
        history = [] if self.forgets else json.loads(self.state)
        return self._went([*history, {"role": "user", "content": "go on"}], None)

    def answer(self, said: bool | dict[str, Any]) -> bool:
        self.conversation = None
        return self._went(json.loads(self.state), said)
