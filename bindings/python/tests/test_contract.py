"""The contract of ``toolfold.testing`` against every adapter, and the table of the manual."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hosts import NEEDS, missing
from hosts.asking import SEVEN, asking

from toolfold import InputError, StartError
from toolfold.testing import CELLS, Agent, Cell, Row, check, table

PAGE = Path(__file__).resolve().parents[3] / "docs/python.md"
BEGIN, END = "<!-- toolfold.testing: begin -->\n", "<!-- toolfold.testing: end -->\n"
NAMES = [cell.name for cell in CELLS]
FOUND: dict[str, dict[str, Row]] = {}
#: What a framework does not have, besides the SDKs, which run no tools.
ABSENT = {
    ("agent_framework", "nested"),
    ("agent_framework", "nested rejected"),
    ("google_adk", "changing tools"),
    ("pydantic_ai", "stop rule"),
}


@pytest.mark.parametrize("cell", CELLS, ids=NAMES)
@pytest.mark.parametrize("framework", SEVEN)
def test_an_adapter_keeps_the_contract(framework: str, cell: Cell, tmp_path: Path) -> None:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    (row,) = check(asking(framework), tmp_path, cells=[cell])
    FOUND.setdefault(framework, {})[cell.name] = row
    assert row.state not in ("broken", "untested"), str(row)
    assert row.state == "carried" or len(row.why) > 20, "a sentence says which hook is missing"
    assert row.state != "absent" or framework in ("anthropic", "openai") or (framework, cell.name) in ABSENT, str(row)


def test_the_contract_has_every_framework() -> None:
    assert sorted(SEVEN) == sorted(NEEDS) and len(set(NAMES)) == len(NAMES)


def test_a_broken_adapter_is_found(tmp_path: Path) -> None:
    """One that forgets the policy, one that is refused, one whose framework lacks something, and one without optional parts."""
    if missing("openai"):
        pytest.skip("openai is not installed")
    (cell,) = (one for one in CELLS if one.name == "asked")

    class Forgetful(asking("openai")):  # type: ignore[misc]
        def build(self) -> None:
            self.settings["policy"] = None
            super().build()

    class Refused(asking("openai")):  # type: ignore[misc]
        def build(self) -> None:
            raise StartError("not here")

    class Lacking(Forgetful):
        lacks = {"asked": "there is no hook"}

    class Absent(Forgetful):
        absent = {"asked": "there are no approvals"}

    class Unknown(Forgetful):
        lacks = {"askd": "there is no hook"}

    class Small(Agent):
        def start(self) -> bool:
            return False

    found = {row.cell: str(row) for row in check(Small, tmp_path)}
    assert found["hooks"] == "hooks: NOT TESTED: `build` does not have the option hooks"
    assert found["later run"] == "later run: NOT TESTED: there is no `again`" and "BROKEN" in found["asked"]
    with pytest.raises(InputError, match="'asked' applies to every framework"):
        check(Absent, tmp_path, cells=[cell])
    with pytest.raises(InputError, match="no cell 'askd'"):
        check(Unknown, tmp_path, cells=[cell])
    rows = [check(own, tmp_path, cells=[cell])[0] for own in (Forgetful, Refused, Lacking)]
    assert [row.state for row in rows] == ["broken", "refused", "refused"]
    assert "before a decision" in rows[0].why and [row.why for row in rows[1:]] == ["not here", "there is no hook"]
    assert str(rows[0]).startswith("asked: BROKEN: arm full: AssertionError")


def test_the_table_of_the_manual_is_the_result() -> None:
    if [name for name in SEVEN if len(FOUND.get(name, ())) < len(CELLS)]:
        pytest.skip("not every cell ran in this process")
    refused = [row for rows in FOUND.values() for row in rows.values() if row.state == "refused"]
    assert len(refused) <= 6, refused
    made = table({name.replace("_", "-"): list(rows.values()) for name, rows in sorted(FOUND.items())})
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    own, _, after = rest.partition(END)
    if os.environ.get("TOOLFOLD_PACK") == "1":
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n\n{END}{after}", encoding="utf-8")
    else:
        assert own == f"\n{made}\n\n", "TOOLFOLD_PACK=1 pytest tests/test_contract.py writes the table"
