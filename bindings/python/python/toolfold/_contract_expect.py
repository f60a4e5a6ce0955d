"""What the cells of the contract of adapters expect."""

from __future__ import annotations

from ._agent import DELETE, Agent


def expect(condition: bool, what: str) -> None:
    """Like ``assert``, and also under ``python -O``."""
    if not condition:
        raise AssertionError(what)


def expect_question(agent: Agent, waits: bool) -> None:
    """A run has stopped for a decision, and no call has run.

    :param waits: the result of the run.
    """
    expect(waits, "the run ended before a decision")
    expect(agent.ran == [], f"ran before the decision: {agent.ran}")


def expect_approved(agent: Agent) -> None:
    """``DELETE`` runs once after an approval."""
    expect(not agent.answer(True), "another approval was requested")
    expect(agent.ran == [DELETE] and agent.states() == ["consumed"], f"ran {agent.ran}, {agent.states()}")


def expect_rejected(agent: Agent) -> None:
    """``DELETE`` does not run after a rejection."""
    expect(not agent.answer(False), "another approval was requested")
    expect(agent.ran == [] and agent.states() == ["rejected"], f"ran {agent.ran}, {agent.states()}")
