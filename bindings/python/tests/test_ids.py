"""Models that restart call ids in each message: an id is a label, and every call is checked, approved and run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import missing
from hosts.asking import DELETE, SEVEN, asking

OTHER = (DELETE[0], {**DELETE[1], "sheet_name": "Other"})
LOOK = ("list_sheets", {"file_path": "q.xlsx"})


@pytest.mark.parametrize("arm", ["full", "lean", "index"])
@pytest.mark.parametrize("framework", SEVEN)
def test_calls_of_one_id(framework: str, arm: str, tmp_path: Path) -> None:
    """Other calls and equal ones, with and without a question."""
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    made = asking(framework)
    script = [DELETE, LOOK, LOOK, OTHER, OTHER, LOOK]
    # A folded arm shows what it hid before the first call of the tool.
    runs = script if arm == "full" else [DELETE, *script[2:]]
    if framework == "openai_agents" and arm != "full":
        # A resumed run of the SDK does not pass earlier messages to its tools: the definition is shown once more.
        runs = runs[:-1]
    host = made(script, arm, tmp_path)
    host.one_id = True
    asked = host.start()
    questions = 0
    while asked:
        questions += 1
        assert questions <= 3, "more questions than calls that ask"
        asked = host.answer(True)
    assert host.ran == runs, "each call runs once, in order"
    assert questions == 3 and host.states() == ["consumed"] * 3


@pytest.mark.parametrize("arm", ["full", "index"])
@pytest.mark.parametrize("framework", ["openai_agents", "pydantic_ai"])
def test_an_id_that_a_message_repeats_is_the_models_in_the_next_request(framework: str, arm: str, tmp_path: Path) -> None:
    """These frameworks need unique ids: the adapter replaces a repeated one, and the provider reads what the model wrote."""
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    rename = ("rename_sheet", {"file_path": "q.xlsx", "old_name": "a", "new_name": "b"})
    host = asking(framework)([[DELETE, rename, rename], [rename, rename]], arm, tmp_path)
    host.one_id = True
    assert host.start() and host.ran == [rename, rename]
    again = host.restarted()
    again.one_id = True
    assert not again.answer(True)
    assert host.ran == [rename, rename, DELETE, rename, rename] and host.states() == ["consumed"]
    assert "c0" in host.read[-1] and "c0-2" not in "".join(host.read)
