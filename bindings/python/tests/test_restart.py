"""One approval, one run, across real processes: what was asked in one is answered in another, and never runs twice.

What passes from one process to the next is what the framework itself stores, and the file of approvals. What ran is
read from a file that is only appended to, and from the workbook.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dialogue import DONE
from hosts import NEEDS, missing
from processes import Nursery, Place, Server

from toolfold import Approver


@pytest.fixture(scope="module")
def second() -> Iterator[Server]:
    created = Server()
    yield created
    created.close()


@pytest.fixture(scope="module", params=sorted(NEEDS))
def nursery(request: pytest.FixtureRequest, server: Server, second: Server) -> Iterator[Nursery]:
    if lacking := missing(request.param):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    made = Nursery(request.param, server, second)
    yield made
    made.close()


@pytest.fixture(scope="module")
def asked(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state that the first process leaves: it runs until the question, and ends."""
    place = Place(tmp_path_factory.mktemp(nursery.host), nursery.host)
    assert place.tell(nursery.other(), "ask").end() == {"text": "asked"}
    place.dialogue.verify_unanswered()
    # The process reports its end before it has closed the store; SQLite then removes the files beside it.
    for _ in range(500):
        if not list(place.folder.glob("*-shm")):
            break
        time.sleep(0.01)
    return place.folder


@pytest.fixture
def place(nursery: Nursery, asked: Path, tmp_path: Path) -> Place:
    """A copy of it for each test."""
    return Place(shutil.copytree(asked, tmp_path / "place"), nursery.host)


def pending(place: Place) -> str:
    (waiting,) = Approver(place.store).pending()
    return waiting.id


def one_run(place: Place, *answers: dict[str, str]) -> None:
    """The deletion was started once, and every call got an answer."""
    assert place.deleted() == 1, f"one approval, {place.deleted()} executions"
    assert all("".join(answer.values()) for answer in answers)


def test_three_processes(nursery: Nursery, place: Place) -> None:
    """The second process runs what was approved; a third that is given the same answer runs nothing. None has the Python of the
    process before it."""
    second, third, approval = nursery.fork(), nursery.other(), pending(place)
    assert place.tell(second, "yes", approval).end() == {"text": DONE}
    place.dialogue.verify()
    one_run(place, place.tell(third, "yes", approval).end())


def test_the_question_that_was_asked_is_the_one_that_is_answered(nursery: Nursery, place: Place) -> None:
    assert place.tell(nursery.fork(), "yes", pending(place)).end() == {"text": DONE}
    person = Approver(place.store)
    assert person.get("ap-1").state == "consumed" and person.pending() == () and person.verify() == ()


def test_a_stale_state_runs_nothing(nursery: Nursery, place: Place) -> None:
    """The same stored question is answered once more: a request sent twice, a restored backup."""
    approval = pending(place)
    place.keep()
    assert place.tell(nursery.fork(), "yes", approval).end() == {"text": DONE}
    place.restore()
    one_run(place, place.tell(nursery.fork(), "yes", approval).end())


def test_a_no_holds(nursery: Nursery, place: Place) -> None:
    """Neither the rejected call nor a stale copy of its request runs, and the store contains the rejection."""
    approval = pending(place)
    place.keep()
    assert place.tell(nursery.fork(), "no", approval).end() == {"text": DONE}
    place.dialogue.verify(deleted=False)
    assert Approver(place.store).get(approval).state == "rejected"
    place.restore()
    place.tell(nursery.fork(), "yes", approval).end()
    assert place.deleted() == 0


def killed_and_answered(nursery: Nursery, folder: Path, when: str) -> None:
    place = Place(folder, nursery.host)
    place.tell(nursery.fork(), "ask", when=when).killed()
    place.dialogue.verify_unanswered()
    assert place.tell(nursery.fork(), "yes", pending(place)).end() == {"text": DONE}
    place.dialogue.verify()


def test_killed_after_the_question(nursery: Nursery, tmp_path: Path) -> None:
    killed_and_answered(nursery, tmp_path, "asked")


@pytest.mark.parametrize("nursery", ["langchain"], indirect=True)
def test_killed_while_it_asks(nursery: Nursery, tmp_path: Path) -> None:
    """The question is in the store, and not yet among the checkpoints: the graph continues from the one before and asks
    the same. The other frameworks store nothing before a question, or do not continue from there."""
    killed_and_answered(nursery, tmp_path, "asking")


def test_killed_while_it_runs(nursery: Nursery, place: Place) -> None:
    """The effect is unknown: resuming does not run it again."""
    approval = pending(place)
    place.tell(nursery.fork(), "yes", approval, when="begun").killed()
    one_run(place, place.tell(nursery.fork(), "yes", approval).end())


def test_resumed_while_it_runs(nursery: Nursery, place: Place) -> None:
    """Another process resumes after the first has used the approval and before it has stored the result."""
    approval = pending(place)
    first = place.tell(nursery.fork(), "yes", approval, when="hold")
    assert first.hear() == "held"
    answer = place.tell(nursery.fork(), "yes", approval).end()
    first.say()
    one_run(place, answer, first.end())


def test_resumed_at_the_same_moment(nursery: Nursery, place: Place) -> None:
    approval = pending(place)
    pair = [place.tell(nursery.fork(), "yes", approval) for _ in range(2)]
    one_run(place, *[process.end() for process in pair])
