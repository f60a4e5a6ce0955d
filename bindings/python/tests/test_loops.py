"""The loops of the two SDKs: results, streams, calls at the same time, pauses, objects of the SDK and content blocks."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from test_left_calls import TOOLS, USER, WIRES, called, words
from workbook import TOOLS as EXCEL

from toolfold import Approver, Engine, InputError, WireError
from toolfold._adapter import Folder
from toolfold._consent import Call
from toolfold._loop import Dialogue, talk, talk_async
from toolfold._result import Blocks, Said, Usage

POLICY = '[[rule]]\ntool = "look"\ndecide = "allow"\n\n[[rule]]\ntool = "drop"\ndecide = "ask"\n'


class Host:
    """A model that says a script over one wire, and the list of what ran."""

    def __init__(self, wire: str, *script: Any, approver: Approver | None = None) -> None:
        self.wire, self.left, self.sent, self.ran = wire, list(script), list[Any](), list[str]()
        self.approver = approver or Approver()
        self.engine = Engine(TOOLS, policy=POLICY, approvals=self.approver)
        self.conversation = self.engine.conversation(wire, id="c")
        self.history: list[Any] = [USER]

    def dialogue(self) -> Dialogue:
        def read(said: Any) -> Said:
            return said if isinstance(said, Said) else Said("ok", said, "stop")

        return Dialogue(self.conversation, self.history, WIRES[self.wire], {}, read)

    def send(self, **request: Any) -> Any:
        self.sent.append(json.loads(json.dumps(request[WIRES[self.wire]])))
        return self.left.pop(0)

    async def asend(self, **request: Any) -> Any:
        return self.send(**request)

    def run(self, name: str, arguments: dict[str, Any]) -> Any:
        self.ran.append(name)
        return f"{name} done"

    def talk(self, how: str = "talk", run: Any = None, **more: Any) -> Any:
        run, most = run or self.run, more.pop("most", 5)
        if how == "talk":
            return talk(self.dialogue(), self.send, run, None, None, most, **more)
        return asyncio.run(talk_async(self.dialogue(), self.asend, run, None, None, most, **more))


HOWS = pytest.mark.parametrize("how", ["talk", "talk_async"])
EVERY = pytest.mark.parametrize("wire", WIRES)


@HOWS
@EVERY
def test_a_result(wire: str, how: str) -> None:
    spent = [Said("", called(wire, "look"), "tools", Usage(1, 10, 4, 2)), Said("ok", words(wire), "end", Usage(1, 20, 8, 3))]
    host = Host(wire, *spent)
    result = host.talk(how)
    assert (result.text, str(result), result.stop, result.waiting) == ("ok", "ok", "end", ())
    assert result.usage == Usage(requests=2, input_tokens=30, cached_tokens=12, output_tokens=5)
    assert result.history is host.history and len(host.history) > 3


@HOWS
@EVERY
def test_the_limit_of_requests_is_a_stop_reason(wire: str, how: str) -> None:
    host = Host(wire, called(wire, "look"), called(wire, "look"))
    result = host.talk(how, most=2)
    assert result.stop == "requests" and len(host.sent) == 2 and host.ran == ["look", "look"]


@EVERY
def test_a_response_that_the_provider_paused_is_continued(wire: str) -> None:
    host = Host(wire, Said("thinking", words(wire), "pause_turn"), words(wire))
    assert host.talk().text == "ok" and len(host.sent) == 2


@HOWS
@EVERY
@pytest.mark.parametrize("decided", ["yes", "no"])
@pytest.mark.parametrize("restored", [True, False])
def test_a_loop_that_returns_while_a_call_waits(wire: str, how: str, decided: str, restored: bool) -> None:
    host = Host(wire, called(wire, "look", "drop"), words(wire))
    result = host.talk(how, pause=True)
    assert (result.stop, [one.target for one in result.waiting]) == ("waiting", ["drop"])
    assert host.ran == ["look"] and len(host.sent) == 1
    again = host.talk(how, pause=True)
    assert again.stop == "waiting" and host.ran == ["look"], "nothing was decided, and nothing runs again"
    if restored:
        host.history = json.loads(json.dumps(host.history))
        host.conversation = host.engine.restore(host.conversation.snapshot())
    (asked,) = result.waiting
    host.approver.approve(asked.approval) if decided == "yes" else host.approver.reject(asked.approval, "keep it")
    result = host.talk(how, pause=True)
    assert (result.text, result.stop, result.waiting) == ("ok", "stop", ())
    assert host.ran == (["look", "drop"] if decided == "yes" else ["look"])
    assert ("drop done" in str(host.sent[-1])) == (decided == "yes")
    assert ("keep it" in str(host.sent[-1])) == (decided == "no") and "look done" in str(host.sent[-1])


@EVERY
def test_without_a_pause_the_model_is_told_and_the_call_stays_in_the_result(wire: str) -> None:
    host = Host(wire, called(wire, "drop"), words(wire))
    result = host.talk()
    assert result.stop == "stop" and [one.target for one in result.waiting] == ["drop"]
    assert "requires approval" in str(host.sent[-1]) and host.ran == []


@pytest.mark.parametrize(("concurrent", "most"), [(1, 1), (2, 2), (3, 3), (9, 4)])
@HOWS
def test_calls_at_the_same_time(how: str, concurrent: int, most: int) -> None:
    """Four calls: as many as allowed have begun before the first may end. The answers are in the model's order."""
    host = Host("openai-chat", called("openai-chat", *["look"] * 4), words("openai-chat"))
    begun, at_once, together = list[int](), list[int](), threading.Condition()
    request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="")
    request_id.set("r-1")

    def enter() -> int:
        begun.append(len(begun))
        at_once.append(0)
        return begun[-1]

    def run(name: str, arguments: dict[str, Any]) -> str:
        with together:
            number = enter()
            together.notify_all()
            # The first ones wait for each other: with fewer threads than `most` this would not end.
            assert together.wait_for(lambda: len(begun) >= min(most, 4), 60)
        return f"{request_id.get()} ended {number}"

    async def arun(name: str, arguments: dict[str, Any]) -> str:
        number = enter()
        while len(begun) < min(most, 4):
            await asyncio.sleep(0)
        return f"{request_id.get()} ended {number}"

    host.talk(how, run if how == "talk" else arun, concurrent=concurrent)
    answers = [message for message in host.sent[-1] if message["role"] == "tool"]
    assert [answer["tool_call_id"] for answer in answers] == ["c0", "c1", "c2", "c3"]
    assert all("r-1 ended" in answer["content"] for answer in answers), "the context of the caller is there"
    assert len(begun) == 4


@HOWS
def test_no_more_calls_at_the_same_time_than_allowed(how: str) -> None:
    host = Host("openai-chat", called("openai-chat", *["look"] * 6), words("openai-chat"))
    lock, now, peak = threading.Lock(), [0], [0]

    def count(by: int) -> None:
        with lock:
            now[0] += by
            peak[0] = max(peak[0], now[0])

    def run(name: str, arguments: dict[str, Any]) -> str:
        count(1)
        count(-1)
        return "done"

    async def arun(name: str, arguments: dict[str, Any]) -> str:
        count(1)
        for _ in range(20):
            await asyncio.sleep(0)
        count(-1)
        return "done"

    host.talk(how, run if how == "talk" else arun, concurrent=2)
    assert peak[0] <= 2 and (how == "talk" or peak[0] == 2)


@pytest.mark.parametrize("why", [KeyboardInterrupt, asyncio.CancelledError])
def test_an_interruption_of_calls_at_the_same_time_loses_no_result(why: type[BaseException]) -> None:
    host = Host("openai-chat", called("openai-chat", *["look"] * 3), words("openai-chat"))
    ran, other, stop = list[int](), threading.Event(), [True]

    def run(name: str, arguments: dict[str, Any]) -> str:
        ran.append(len(ran))
        if ran[-1] == 0 and stop:
            stop.clear()
            other.wait(60)  # Another call has begun: it ends, and its result is kept.
            raise why
        other.set()
        return f"done {len(ran)}"

    with pytest.raises(why):
        host.talk("talk", run, concurrent=2)
    assert host.talk("talk", run, concurrent=2).text == "ok"
    assert len(host.sent) == 2 and str(host.sent[-1]).count("done ") == 3
    assert len(ran) == 4, "only the interrupted call runs twice"


def test_calls_that_have_not_begun_do_not_begin_after_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host("openai-chat", called("openai-chat", *["look"] * 6), words("openai-chat"))
    ran, cancelled, all_cancelled, cancel = list[int](), list[Future[Any]](), threading.Event(), Future.cancel

    def counted(own: Future[Any]) -> bool:
        done = cancel(own)
        cancelled.append(own)
        if len(cancelled) == 6:
            all_cancelled.set()
        return done

    def run(name: str, arguments: dict[str, Any]) -> str:
        ran.append(len(ran))
        if len(ran) == 1:
            raise KeyboardInterrupt
        all_cancelled.wait(5)
        return "done"

    monkeypatch.setattr(Future, "cancel", counted)
    with pytest.raises(KeyboardInterrupt):
        host.talk("talk", run, concurrent=2)
    # Each of the two threads may have taken one more call before the loop heard of the interruption.
    assert len(cancelled) == 6 and len(ran) <= 3


def test_a_task_that_is_cancelled_leaves_no_calls_behind() -> None:
    host = Host("openai-chat", called("openai-chat", *["look"] * 3), words("openai-chat"))
    begun, ended = list[str](), list[str]()

    async def run(name: str, arguments: dict[str, Any]) -> str:
        begun.append(name)
        if len(begun) == 1:
            ended.append(name)
            return "done"
        await asyncio.Event().wait()
        return "never"

    async def cancelled() -> None:
        task = asyncio.ensure_future(talk_async(host.dialogue(), host.asend, run, None, None, 5, concurrent=3))
        while len(begun) < 3:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancelled())
    assert host.talk().text == "ok" and host.ran == ["look", "look"], "the first one has its result"


@EVERY
def test_content_blocks(wire: str) -> None:
    """Blocks are sent unchanged, also by a loop that was interrupted before it sent them."""
    kind = "input_text" if wire == "openai-responses" else "text"
    blocks = [{"type": kind, "text": "a"}, {"type": kind, "text": "b"}]
    host = Host(wire, called(wire, "look", "look"), words(wire))
    results: list[Any] = [Blocks(blocks), KeyboardInterrupt(), "text"]

    def run(name: str, arguments: dict[str, Any]) -> Any:
        host.ran.append(name)
        result = results.pop(0)
        if isinstance(result, BaseException):
            raise result
        return result

    with pytest.raises(KeyboardInterrupt):
        host.talk("talk", run)
    host.talk("talk", run)
    assert host.ran == ["look", "look", "look"]
    answers = host.sent[-1][-2:] if wire != "anthropic" else host.sent[-1][-1]["content"]
    given = [answer["output" if wire == "openai-responses" else "content"] for answer in answers]
    assert given == [blocks, "text"]


class Object:
    """An object as the SDKs return them."""

    def __init__(self, **members: Any) -> None:
        self.members = members

    def model_dump(self, *, mode: str, exclude_none: bool) -> dict[str, Any]:
        assert mode == "json" and exclude_none
        return {key: value for key, value in self.members.items() if value is not None}


@HOWS
@EVERY
def test_objects_of_the_sdk_in_a_history(wire: str, how: str) -> None:
    """What the model said, as its SDK returned it, is continued and sent as the API takes it."""
    said = called(wire, "look")
    host = Host(wire, words(wire))
    host.history = [USER, *(Object(**item, refusal=None) for item in said)]
    if wire == "anthropic":
        host.history = [USER, {"role": "assistant", "content": [Object(**block) for block in said[0]["content"]]}]
    assert host.talk(how).text == "ok" and host.ran == ["look"]
    assert host.sent[0][1 : 1 + len(said)] == [{k: v for k, v in one.items() if v is not None} for one in said]


@EVERY
def test_objects_of_the_sdk_in_a_conversation(wire: str) -> None:
    conversation = Engine(TOOLS).conversation(wire)
    said = [Object(**item) for item in called(wire, "look")]
    turn = conversation.turn(said if wire == "openai-responses" else said[0])
    assert [call.target for call in turn.runnable] == ["look"]
    conversation.seen([USER, *said])
    with pytest.raises(InputError, match="the message cannot be written as JSON: Object of type object is not"):
        conversation.turn({"role": object()})
    with pytest.raises(InputError, match="Object of type type is not"):
        conversation.turn({"role": Object})


def test_a_conversation_of_another_wire_is_refused_before_anything_is_sent() -> None:
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    from toolfold import anthropic, openai

    def never(*_: Any) -> Any:
        raise AssertionError("it was sent")

    engine, client = Engine(TOOLS), type("Client", (), {"messages": None, "responses": None, "chat": never})
    wires = [(openai.chat, "anthropic"), (openai.respond, "openai-chat"), (anthropic.chat, "openai-responses")]
    for loop, wire in wires:
        with pytest.raises(WireError, match=f"the conversation has wire {wire}: create it with engine.conversation"):
            loop(client, engine.conversation(wire), [], never)  # type: ignore[operator]
    for loop, wire in ((openai.achat, "anthropic"), (openai.arespond, "anthropic"), (anthropic.achat, "openai-chat")):
        with pytest.raises(WireError, match=f"the conversation has wire {wire}"):
            asyncio.run(loop(client, engine.conversation(wire), [], never))  # type: ignore[operator]


@HOWS
@pytest.mark.parametrize(("more", "said"), [({"most": 0}, "most"), ({"concurrent": 0}, "concurrent"), ({"concurrent": 1.5}, "concurrent")])
def test_wrong_limits(how: str, more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"`{said}` must be an integer of at least 1"):
        Host("openai-chat").talk(how, **more)


def test_ask_and_approver_belong_together(tmp_path: Path) -> None:
    host = Host("openai-chat")
    for ask, approver in ((lambda asked: True, None), (None, Approver())):
        with pytest.raises(InputError, match="give `ask` and `approver` together"):
            talk(host.dialogue(), host.send, host.run, ask, approver, 5)


def test_what_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "toolfold")
    deny = Engine(TOOLS, policy='[[rule]]\ntool = "drop"\ndecide = "deny"\n[[rule]]\ntool = "look"\ndecide = "ask"\n')
    host = Host("openai-chat", called("openai-chat", "drop", "look", "lok"), words("openai-chat"))
    host.conversation = deny.conversation(id="c")
    host.talk()
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("conversation 'c': arm ") for line in lines), lines
    assert any("drop was answered here: unknown_tool" in line for line in lines), lines
    assert any("look waits for ap-" in line for line in lines), lines
    caplog.clear()
    caplog.set_level("WARNING", "toolfold")
    folder = Folder(policy='[[rule]]\ntool = "rename_file"\nargs = { source = "secret" }\ndecide = "deny"\n')
    conversation = folder.conversation(folder.bind(EXCEL), "c", [])
    folder.judge(conversation, Call("rename_file", {"source": "secret", "destination": "b"}, "c0"))
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("conversation 'c': rename_file was refused: ") and "destination" not in line
