"""A person's answer covers the call that was shown: every framework in every arm, with the same table of cells."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import NEEDS, missing
from hosts.asking import ARMS, DELETE, SEVEN, Asking, asking

from toolfold import Approver

CHANGED = {**DELETE[1], "sheet_name": "Other"}


@pytest.fixture(params=SEVEN)
def framework(request: pytest.FixtureRequest) -> str:
    own: str = request.param
    if lacking := missing(own):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    return own


@pytest.fixture(params=ARMS)
def host(request: pytest.FixtureRequest, framework: str, tmp_path: Path) -> Asking:
    """An agent whose model deletes a sheet."""
    return asking(framework)([DELETE], request.param, tmp_path)


def test_the_table_has_every_framework() -> None:
    assert sorted(SEVEN) == sorted(NEEDS)


def test_an_approval_runs_the_call_once(host: Asking) -> None:
    assert host.start() and host.ran == []
    assert [(one.tool, one.arguments, one.state) for one in host.approvals()] == [(*DELETE, "pending")]
    assert not host.answer(True)
    assert host.ran == [DELETE] and host.states() == ["consumed"]
    assert "delete_sheet ran" in host.read[1]


def test_a_rejection_runs_nothing(host: Asking) -> None:
    assert host.start()
    assert not host.answer(False)
    assert host.ran == [] and host.states() == ["rejected"]


def test_an_edit_is_recorded_as_the_persons(host: Asking) -> None:
    assert host.start()
    assert not host.answer(CHANGED)
    assert host.ran == [(DELETE[0], CHANGED)], "what the person wrote, once"
    first, second = host.approvals()
    assert (first.state, first.reason) == ("rejected", "the person changed the arguments of the call")
    assert (second.state, second.arguments, second.by) == ("consumed", CHANGED, f"the host, who edited {first.id}")
    assert "A person changed the arguments" in host.read[1] and Approver(host.store).verify() == ()
    host.restarted()
    assert host.ran == [(DELETE[0], CHANGED)]


def test_another_process_runs_what_was_approved_once(host: Asking) -> None:
    assert host.start()
    second, third = host.restarted(), host.restarted()
    assert not second.answer(True) and second.ran == [DELETE]
    try:  # The stored question is answered once more.
        third.answer(True)
    except Exception:
        pass
    assert third.ran == [DELETE] and host.states() == ["consumed"]


@pytest.mark.parametrize("said", [True, False])
def test_other_arguments_than_those_shown_do_not_run(host: Asking, said: bool) -> None:
    assert host.start()
    host.change(CHANGED)
    try:
        again = host.answer(said)
    except Exception as why:
        # The SDK binds an answer to the arguments of its request.
        assert "reused a tool call ID" in str(why) and host.ran == []
        return
    if host.asks_in_answer:
        assert host.ran == ([(DELETE[0], CHANGED)] if said else []), "the person was shown the new arguments"
    else:
        assert host.ran == []
    waiting = [one.arguments for one in host.approvals() if one.state == "pending"]
    assert waiting == ([CHANGED] if again else []), "nothing waits that no one is asked about"
