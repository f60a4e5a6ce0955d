"""The cells of the contract of adapters about the rules and features of a framework."""

from __future__ import annotations

from ._agent import DELETE, INJECTED, OUTPUT, PARTS, Call
from ._contract import CELLS, EXPAND, FILE, FOLDED, INVALID, LIST, OTHER, RENAME, Make, cell
from ._contract_expect import expect, expect_approved, expect_question, expect_rejected

__all__ = ["CELLS"]

#: A call that makes the framework add ``rename_sheet``, with the option ``changes``.
CHECK: Call = ("get_file_info", FILE)
NESTED = "decisions about calls of a nested agent"


@cell("the framework's hooks get the name of the tool, whatever name the model calls it by", feature="hooks of tool calls")
def hooks(make: Make) -> None:
    agent = make(RENAME, hooks=True)
    agent.start()
    expect(agent.hooked == [RENAME[0]] and agent.ran == [RENAME], f"the hooks got {agent.hooked}, and {agent.ran} ran")


@cell(
    "a rule of the framework that ends a run applies to the results of tools, and not to answers of toolfold",
    feature="rules that end a run at the result of a tool",
)
def stop_rule(make: Make) -> None:
    agent = make(INVALID, RENAME, OTHER, ends=True)
    agent.start()
    expect(agent.ran == [RENAME], f"ran {agent.ran}")
    expect(len(agent.read) == 2, f"{len(agent.read)} requests were sent")


@cell(
    "a tool that the framework adds or removes during a run is a tool only while it is there",
    feature="tools that change during a run",
)
def changing_tools(make: Make) -> None:
    agent = make(RENAME, CHECK, RENAME, OTHER, changes=True)
    agent.start()
    expect(agent.ran == [CHECK, RENAME], f"ran {agent.ran}")
    expect(len(agent.read) == 5, f"{len(agent.read)} requests were sent")
    there = [RENAME[0] in names for names in agent.shown]
    expect(agent.arm == "index" or there == [False, False, True, False, False], f"the tool was in the requests {there}")


@cell("an argument that the framework passes reaches the tool, and the model cannot set it", feature="injected arguments")
def injected(make: Make) -> None:
    forged = dict.fromkeys(("user", "ctx", "context", "runtime", "state", "tool_context"), "eve")
    agent = make((RENAME[0], {**RENAME[1], **forged}), RENAME, injected=True)
    agent.start()
    call = (RENAME[0], {**RENAME[1], "user": INJECTED})
    expect(agent.ran in ([call], [call, call]) and len(agent.read) == 3, f"ran {agent.ran}, the model read {agent.read[1:]}")


@cell("the output of a run has the type that the framework requires", feature="structured output")
def structured_output(make: Make) -> None:
    agent = make(INVALID, RENAME, output=True)
    agent.start()
    expect(agent.ran == [RENAME], f"ran {agent.ran}")
    expect(agent.output == OUTPUT, f"the output is {agent.output!r}")


@cell("a streamed run has the same calls, and its text arrives in parts", "full", "lean", "index", "append")
def streamed(make: Make) -> None:
    agent = make(INVALID, RENAME)
    expect(not agent.stream(), "an approval was requested")
    expect(agent.ran == [RENAME], f"ran {agent.ran}")
    expect("rename_sheet ran" in agent.read[2], f"the model read {agent.read[2]}")
    expect(agent.heard == PARTS, f"the text arrived as {agent.heard}")


@cell("a streamed run stops for an approval, and continues with the decision")
def streamed_approval(make: Make) -> None:
    agent = make(DELETE)
    expect_question(agent, agent.stream())
    expect_approved(agent)


@cell("a call of a nested agent does not run before a decision, and runs once after an approval", feature=NESTED)
def nested(make: Make) -> None:
    agent = make(DELETE, nested=True)
    expect_question(agent, agent.start())
    expect_approved(agent)


@cell("a rejected call of a nested agent does not run", feature=NESTED)
def nested_rejected(make: Make) -> None:
    agent = make(DELETE, nested=True)
    expect_question(agent, agent.start())
    expect_rejected(agent)


@cell("an expanded definition remains open in later runs of the conversation", *FOLDED)
def later_run(make: Make) -> None:
    agent = make(EXPAND, [], EXPAND)
    agent.start()
    agent.again()
    expect("Opened." in agent.read[1], f"the model read {agent.read[1]}")
    expect("Already open" in agent.read[3], f"the model read {agent.read[3]}")


@cell("a definition that is no longer in the request is expanded again", *FOLDED)
def trimmed(make: Make) -> None:
    agent = make(EXPAND, [], EXPAND, LIST, trims=True)
    agent.start()
    agent.again()
    expect("Opened." in agent.read[1], f"the model read {agent.read[1]}")
    expect("Opened." in agent.read[3], f"the model read {agent.read[3]}")
    expect(agent.ran == [LIST], f"ran {agent.ran}")
