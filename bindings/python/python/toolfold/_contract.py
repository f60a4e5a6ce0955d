"""The cells of the contract of adapters: each is one requirement, which any agent can be tested for."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from . import Approver, InputError, LoadError, StartError, ToolfoldError
from ._agent import DELETE, Agent, Call, Cell
from ._contract_expect import expect, expect_approved, expect_question, expect_rejected

#: The arms of cells that hold under every arm: whole tools, folded tools, and tools behind ``call_tool``.
ARMS = ("full", "lean", "index")
FOLDED = ("lean",)

CHANGED = {**DELETE[1], "sheet_name": "Other"}
FILE = {"file_path": "q.xlsx"}
#: A call with every parameter of its tool: it runs under every arm, also if the model has not seen the definition.
RENAME: Call = ("rename_sheet", {**FILE, "old_name": "a", "new_name": "b"})
INVALID: Call = ("rename_sheet", {**FILE, "old_name": 5})
OTHER: Call = ("rename_sheet", {**FILE, "old_name": "c", "new_name": "d"})
LIST: Call = ("list_sheets", FILE)
EXPAND: Call = ("expand_tools", {"tools": ["list_sheets"]})
#: Longer than what a host usually cuts.
LONG = "0123456789" * 5000
#: An integer that no 64 bits hold.
HUGE = 10**30 + 7

Make = Callable[..., Agent]

#: Every requirement, in the order of the table.
CELLS: list[Cell] = []


def cell(
    says: str, *arms: str, feature: str = ""
) -> Callable[[Callable[[Make], None]], Callable[[Make], None]]:
    """Adds a requirement; its name is that of the function."""

    def add(holds: Callable[[Make], None]) -> Callable[[Make], None]:
        CELLS.append(Cell(holds.__name__.strip("_").replace("_", " "), says, arms or ARMS, holds, feature))
        return holds

    return add


def ended(agent: Agent, said: bool | dict[str, Any]) -> bool | None:
    """Answers. None if the framework raises an error: it may refuse the answer itself."""
    with suppress(Exception, CancelledError):
        return agent.answer(said)
    return None


def changed_after(agent: Agent, said: bool) -> None:
    """Changes the arguments of the waiting call, and answers. Only a call that a person is asked about may wait then."""
    agent.start()
    agent.change(CHANGED)
    again = ended(agent, said)
    waiting = [one.arguments for one in agent.approvals() if one.state == "pending"]
    expect(again is None or waiting == ([CHANGED] if again else []), f"these calls wait: {waiting}")


# Approvals


@cell("a call that requires approval does not run before a decision")
def asked(make: Make) -> None:
    agent = make(DELETE)
    expect_question(agent, agent.start())
    shown = [(one.tool, one.arguments, one.state) for one in agent.approvals()]
    expect(shown == [(*DELETE, "pending")], f"the store has {shown}")


@cell("an approved call runs once, with the arguments that were shown", *ARMS, "stable", "auto")
def approved(make: Make) -> None:
    agent = make(DELETE)
    agent.start()
    expect_approved(agent)
    expect("delete_sheet ran" in agent.read[-1], "the model did not read the result")


@cell("a rejected call does not run, and the model gets the reason")
def rejected(make: Make) -> None:
    agent = make(DELETE)
    agent.start()
    expect_rejected(agent)
    expect(len(agent.read) == 2, "the model was not called with the rejection")


@cell("a person can change the arguments: they are checked again and run, and the store records this")
def edited(make: Make) -> None:
    agent = make(DELETE)
    agent.start()
    expect(not agent.answer(CHANGED), "another approval was requested")
    expect(agent.ran == [(DELETE[0], CHANGED)], f"ran {agent.ran}")
    first, second = agent.approvals()
    expect((first.state, second.state) == ("rejected", "consumed"), f"the approvals are {agent.states()}")
    expect((second.arguments, second.by) == (CHANGED, f"the host, who edited {first.id}"), f"the store has {second}")
    expect(not Approver(agent.store).verify(), "the log of the approvals is broken")
    expect("A person changed the arguments" in agent.read[-1], "the change was not reported to the model")


@cell("arguments that changed after they were shown do not run on the old approval")
def changed(make: Make) -> None:
    agent = make(DELETE)
    changed_after(agent, True)
    allowed = [(DELETE[0], CHANGED)] if agent.asks_in_answer else []
    expect(agent.ran == allowed, f"ran {agent.ran}")


@cell("a call that a person rejected does not run with other arguments either")
def changed_and_rejected(make: Make) -> None:
    agent = make(DELETE)
    changed_after(agent, False)
    expect(agent.ran == [], f"ran {agent.ran}")


@cell("another process can answer, and the call runs once there")
def other_process(make: Make) -> None:
    agent = make(DELETE)
    agent.start()
    expect(not agent.restarted().answer(True), "another approval was requested")
    expect(agent.ran == [DELETE], f"ran {agent.ran}")


@cell("an answer that arrives twice runs the call once")
def answered_twice(make: Make) -> None:
    agent = make(DELETE)
    agent.start()
    second, third = agent.restarted(), agent.restarted()
    second.answer(True)
    ended(third, True)
    expect(agent.ran == [DELETE], f"ran {agent.ran}")
    expect(agent.states() == ["consumed"], f"the approvals are {agent.states()}")


@cell("each of two calls requires its own approval, also with the same id")
def two_calls(make: Make) -> None:
    agent = make()
    agent.script, agent.one_id = [DELETE, (DELETE[0], CHANGED)], True
    agent.start()
    expect(agent.answer(True), "the second call was not asked about")
    expect(agent.ran == [DELETE], f"ran {agent.ran} after the first approval")
    expect(not agent.answer(False), "a third approval was requested")
    expect(agent.ran == [DELETE] and agent.states() == ["consumed", "rejected"], f"ran {agent.ran}, {agent.states()}")


@cell("a call that policy denies does not run, and no person is asked")
def denied(make: Make) -> None:
    agent = make(("rename_file", {"source": "a.xlsx", "destination": "b.xlsx"}))
    expect(not agent.start(), "a denied call was asked about")
    expect(agent.ran == [] and agent.approvals() == [], f"ran {agent.ran}")
    expect(len(agent.read) == 2, "the denial was not reported to the model")


@cell("a call that was approved and interrupted does not run again")
def interrupted(make: Make) -> None:
    agent = make(DELETE)
    agent.start()
    agent.fails = CancelledError()
    for _ in range(2):
        ended(agent, True)
    expect(agent.ran == [DELETE], f"ran {agent.ran}")


@cell("the framework's own approval of a tool applies, whatever name the model calls it by", feature="its own approvals")
def own_rule(make: Make) -> None:
    agent = make(DELETE, policy=None, own_rule=True)
    expect_question(agent, agent.start())


# Calls and answers


@cell("a valid call runs under the name of its tool, and the model reads the result")
def runs(make: Make) -> None:
    agent = make(RENAME)
    expect(not agent.start(), "an approval was requested")
    expect(agent.ran == [RENAME], f"ran {agent.ran}")
    expect("rename_sheet ran" in agent.read[-1], f"the model read {agent.read[-1]}")


@cell("invalid arguments do not reach the tool, and the model reads what is wrong")
def repaired(make: Make) -> None:
    agent = make(INVALID, RENAME)
    agent.start()
    expect(agent.ran == [RENAME], f"ran {agent.ran}")
    expect("invalid arguments" in agent.read[1], f"the model read {agent.read[1]}")


@cell("an unknown name runs nothing, and the run continues")
def unknown(make: Make) -> None:
    agent = make(("rename_shets", RENAME[1]), RENAME)
    agent.start()
    expect(agent.ran == [RENAME], f"ran {agent.ran}")


@cell("parameters that were not shown are shown before a call runs without them", *FOLDED)
def hidden(make: Make) -> None:
    call: Call = ("create_excel_chart", {**FILE, "chart_type": "bar", "data_range": "B1:B3"})
    agent = make(call, call)
    agent.start()
    expect("was not run" in agent.read[1], f"the model read {agent.read[1]}")
    expect(agent.ran == [call], f"ran {agent.ran}")


@cell("a definition is expanded in the answer, and the array of tools stays the same", *FOLDED)
def expanded(make: Make) -> None:
    agent = make(EXPAND, LIST)
    agent.start()
    expect("Opened." in agent.read[1], f"the model read {agent.read[1]}")
    expect(len({tuple(names) for names in agent.shown}) == 1, "the array changed")
    expect(agent.ran == [LIST], f"ran {agent.ran}")


@cell("integers keep every digit", "full")
def exact_numbers(make: Make) -> None:
    agent = make(("list_sheets", {**FILE, "limit": HUGE}))
    agent.start()
    expect(agent.ran == [("list_sheets", {**FILE, "limit": HUGE})], f"ran {agent.ran}")


@cell("null for an optional parameter counts as not given", "full")
def null(make: Make) -> None:
    agent = make(("list_sheets", {**FILE, "offset": None}))
    agent.start()
    expect(agent.ran == [LIST], f"ran {agent.ran}")


@cell("text in any script reaches the tool unchanged")
def unicode(make: Make) -> None:
    call: Call = ("rename_sheet", {**RENAME[1], "new_name": "Ünïcode – 東京 🗻"})
    agent = make(call)
    agent.start()
    expect(agent.ran == [call], f"ran {agent.ran}")


@cell("a tool that fails is not run again by the adapter")
def failing(make: Make) -> None:
    agent = make(RENAME)
    agent.fails = RuntimeError("the disk is gone")
    with suppress(Exception):
        agent.start()
    expect(agent.ran == [RENAME], f"ran {agent.ran}")


@cell("calls with a repeated id are separate calls")
def repeated_ids(make: Make) -> None:
    agent = make()
    agent.script, agent.one_id = [RENAME, OTHER, RENAME], True
    agent.start()
    expect(agent.ran == [RENAME, OTHER, RENAME], f"ran {agent.ran}")


@cell("calls with a repeated id in one message are separate calls")
def repeated_ids_at_once(make: Make) -> None:
    agent = make()
    agent.script, agent.one_id = [[RENAME, OTHER]], True
    agent.start()
    expect(sorted(agent.ran, key=repr) == [RENAME, OTHER], f"ran {agent.ran}")


@cell("the calls of one message all run, each once")
def parallel(make: Make) -> None:
    calls: list[Call] = [("rename_sheet", {**RENAME[1], "old_name": str(at)}) for at in range(5)]
    agent = make(calls)
    agent.start()
    expect(sorted(agent.ran, key=repr) == calls, f"ran {agent.ran}")
    expect(len(agent.read) == 2, f"{len(agent.read)} requests were sent")


@cell("of two calls of one message, only the one that requires approval waits for it")
def parallel_approval(make: Make) -> None:
    agent = make([DELETE, RENAME])
    expect(agent.start(), "the run ended before a decision")
    expect(DELETE not in agent.ran, f"ran before the decision: {agent.ran}")
    expect(not agent.answer(True), "another approval was requested")
    expect(sorted(agent.ran, key=repr) == [DELETE, RENAME], f"ran {agent.ran}")


@cell("the same call in two messages runs twice")
def same_call_twice(make: Make) -> None:
    agent = make(RENAME, RENAME)
    agent.start()
    expect(agent.ran == [RENAME, RENAME], f"ran {agent.ran}")


@cell("an argument with the wrong JSON type is corrected if there is one reading, and the tool receives that", "full")
def coerced(make: Make) -> None:
    agent = make(("list_sheets", {**FILE, "limit": "5"}))
    agent.start()
    expect(agent.ran == [("list_sheets", {**FILE, "limit": 5})], f"ran {agent.ran}, the model read {agent.read[1:]}")


@cell("text that looks like JSON remains text if the parameter is a text")
def json_text(make: Make) -> None:
    call: Call = ("rename_sheet", {**RENAME[1], "new_name": '{"a": [1]}'})
    agent = make(call)
    agent.start()
    expect(agent.ran == [call], f"ran {agent.ran}")


@cell("a long result reaches the model unchanged")
def long_result(make: Make) -> None:
    agent = make(RENAME)
    agent.result = LONG
    agent.start()
    expect(LONG in agent.read[-1], f"the model read {len(agent.read[-1])} characters")


@cell("the array of tools is the same in every request, and in another process")
def same_array(make: Make) -> None:
    agent = make(RENAME, INVALID, DELETE)
    agent.start()
    agent.restarted().answer(True)
    expect(len(agent.shown) == 4, f"{len(agent.shown)} requests were sent")
    expect(len({tuple(names) for names in agent.shown}) == 1, "the array changed")


@cell("a skill is activated by the model, which reads its text")
def skill(make: Make) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder, "brief")
        place.mkdir()
        text = "---\nname: brief\ndescription: How to write briefly.\n---\nUse short words.\n"
        (place / "SKILL.md").write_text(text, encoding="utf-8")
        agent = make(("activate_skill", {"name": "brief"}), RENAME, skills=folder)
        agent.start()
    expect("Use short words." in agent.read[1], f"the model read {agent.read[1]}")
    expect(agent.ran == [RENAME], f"ran {agent.ran}")


@cell("a model that repeats a wrong call gets a hint")
def loops(make: Make) -> None:
    agent = make(*[INVALID] * 5)
    agent.start()
    expect(agent.ran == [] and len(agent.read) == 6, f"ran {agent.ran}")
    expect("has failed before" in agent.read[-1], f"the model read {agent.read[-1]}")


# Deliveries: each is carried, or refused with a sentence


def delivery(arm: str, says: str) -> None:
    def holds(make: Make) -> None:
        agent = make(RENAME)
        if arm == "native" and agent.finds:
            agent.script.insert(0, agent.finds)
        elif arm in ("seed", "append"):
            agent.script.insert(0, ("expand_tools", {"tools": [RENAME[0]]}))
        agent.start()
        expect(agent.ran == [RENAME], f"ran {agent.ran}, the model read {agent.read[1:]}")
        if arm == "append":
            expect("old_name" in agent.read[1], f"the newest message has no definition: {agent.read[1]}")

    holds.__name__ = f"arm_{arm}"
    cell(says, arm)(holds)


delivery("seed", "arm `seed`: opened tools are added to the array")
delivery("index", "arm `index`: the model calls `call_tool`")
delivery("search", "arm `search`: the model searches the tools")
delivery("native", "arm `native`: the provider defers the tools")
delivery("append", "arm `append`: opened tools are appended to the messages")


@cell("`auto` takes only a supported arm", "auto")
def auto(make: Make) -> None:
    agent = make(RENAME)
    agent.start()
    expect(agent.ran == [RENAME], f"ran {agent.ran}")


# Settings


@cell("an unknown arm is an error when the agent is created", "leen")
def unknown_arm(make: Make) -> None:
    refuses(make, "leen")


@cell("a policy that cannot be read is an error when the agent is created", "full")
def unreadable_policy(make: Make) -> None:
    refuses(make, "no-such.toml", policy="no-such.toml")


def refuses(make: Make, named: str, **more: Any) -> None:
    try:
        make(LIST, **more)
    except StartError:
        raise AssertionError("the error is a StartError, which is for deliveries") from None
    except (InputError, LoadError) as why:
        expect(named in str(why), f"the error does not name {named}: {why}")
    except ToolfoldError as why:
        raise AssertionError(f"the error is a {type(why).__name__}: {why}") from why
    else:
        raise AssertionError("there was no error")
