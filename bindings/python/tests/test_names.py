"""The closed lists of names: every returned name is in the stub, and the tests cause nearly all of them."""

from __future__ import annotations

import ast
from pathlib import Path

from workbook import TOOLS

from toolfold import Approver, Confirm, Conversation, Engine, Forward, Reply

STUB = Path(__file__).resolve().parents[1] / "python/toolfold/_toolfold.pyi"
POLICY = """
[tool.list_sheets]
tier = "read_only"

[[rule]]
tool = "read_excel"
decide = "allow"

[[rule]]
tool = "write_*"
decide = "ask"

[[rule]]
tool = "rename_file"
args = { source = "a" }
decide = "deny"
"""


def names(of: str, attribute: str) -> set[str]:
    """The ``Literal`` of a property, as the stub has it."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == of)
    (found,) = (node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == attribute)
    assert isinstance(found.returns, ast.Subscript) and ast.unparse(found.returns.value) == "Literal"
    return set(ast.literal_eval(found.returns.slice))


def test_why_a_call_was_answered(tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    skill = "---\nname: charts\ndescription: Draws charts.\n---\nDraw.\n"
    (tmp_path / "charts/SKILL.md").write_text(skill, encoding="utf-8")
    conversation = Engine(TOOLS, "excel", "lean", skills=tmp_path).conversation(id="c")
    calls: list[tuple[str, dict[str, object]]] = [
        ("expand_tools", {"categories": ["sheet"]}),
        ("activate_skill", {"name": "charts"}),
        ("list_sheets", {}),
        ("delete_file", {"file_path": "a"}),
        ("nope", {}),
        *[("list_sheets", {})] * 5,
    ]
    outcomes = [conversation.call(*call) for call in calls]
    # The same call of the same message, after its result.
    conversation.call("read_excel", {"file_path": "a"}, "c", "m")
    conversation.answer("c", "done")
    outcomes.append(conversation.call("read_excel", {"file_path": "a"}, "c", "m"))
    kinds = {outcome.kind for outcome in outcomes if isinstance(outcome, Reply)}
    assert kinds == names("Reply", "kind")


def test_what_policy_said() -> None:
    file = {"file_path": "a"}
    governed = Engine(TOOLS, "excel", "full", POLICY).conversation(id="c")
    calls = {"list_sheets": file, "read_excel": file, "nope": file, "rename_file": {"source": "a", "destination": "b"}}
    calls["write_text_file"] = {**file, "content": "b"}
    marks = {name: governed.call(name, arguments).policy for name, arguments in calls.items()}
    free = Engine(TOOLS, False).conversation().call("list_sheets", file).policy
    assert {*marks.values(), free} == names("Reply", "policy"), marks
    for outcome in ("Forward", "Confirm", "Refuse"):
        assert names(outcome, "policy") == names("Reply", "policy")


def test_how_an_approval_stands() -> None:
    approver = Approver()
    engine = Engine(TOOLS, "excel", "full", POLICY, approvals=approver)

    def asked(conversation: Conversation, number: int) -> str:
        outcome = conversation.call("write_text_file", {"file_path": f"{number}", "content": "b"})
        assert isinstance(outcome, Confirm), outcome
        return outcome.approval

    conversation = engine.conversation(id="c")
    pending, yes, no, used = (asked(conversation, number) for number in range(4))
    approver.approve(yes)
    approver.reject(no)
    approver.approve(used)
    assert isinstance(conversation.resume(used), Forward)
    states = {approver.get(id).state for id in (pending, yes, no, used)}
    assert states == names("Approval", "state") - {"expired"}, "to expire takes 15 minutes"


def test_how_much_is_sent() -> None:
    engine = Engine(TOOLS, "excel")
    arms = ("full", "signature", "outline", "lean", "stable")
    details = {entry.detail for arm in arms for entry in engine.conversation(arm=arm).entries()}
    assert details == names("Entry", "detail") - {"index", "search"}, "what is not in the array is no entry"
