"""Plain functions as tools: their definitions, what cannot be one, and the runner."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import pytest

from toolfold import Approver, Engine, Forward, InputError
from toolfold.functions import definition, definitions, runner


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Address:
    street: str
    zip: str | None = None
    tags: list[str] = field(default_factory=list)


class Filter(TypedDict, total=False):
    name: str


@dataclass
class Endless:
    inner: Endless | None = None


RAN: list[Any] = []


def plan(
    title: str,
    due: date,
    rows: Annotated[int, "The number of rows."] = 10,
    priority: Priority = Priority.LOW,
    address: Address | None = None,
    kind: Literal["a", "b"] | None = None,
) -> str:
    """Plans something.

    It may take a while.

    :param title: its title, which
        everyone sees
    :param Priority priority: how soon
    :returns: nothing
    """
    RAN.append((title, due, rows, priority, address, kind))
    return "planned"


def test_a_definition() -> None:
    own = definition(plan)
    assert own["name"] == "plan" and own["description"] == "Plans something.\n\nIt may take a while."
    schema = own["input_schema"]
    assert schema["type"] == "object" and schema["required"] == ["title", "due"]
    assert schema["properties"] == {
        "title": {"type": "string", "description": "its title, which everyone sees"},
        "due": {"type": "string", "format": "date"},
        "rows": {"type": "integer", "description": "The number of rows.", "default": 10},
        "priority": {"type": "string", "enum": ["low", "high"], "description": "how soon", "default": "low"},
        "address": {
            "type": "object",
            "properties": {
                "street": {"type": "string"},
                "zip": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["street"],
        },
        "kind": {"type": "string", "enum": ["a", "b"]},
    }
    assert json.loads(json.dumps(own)) == own


def test_the_section_of_google() -> None:
    def read(path: str, rows: int = 5) -> str:
        """Reads a file.

        Args:
            path (str): the path of the file,
                relative to the root
            rows: how many

        Returns:
            The text.
        """
        return path

    own = definition(read)
    described = {name: one["description"] for name, one in own["input_schema"]["properties"].items()}
    assert own["description"] == "Reads a file."
    assert described == {"path": "the path of the file, relative to the root", "rows": "how many"}


STRING, INTEGER = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (Any, {}),
        (int | str, {"anyOf": [INTEGER, STRING]}),
        (datetime, {**STRING, "format": "date-time"}),
        (time, {**STRING, "format": "time"}),
        (UUID, {**STRING, "format": "uuid"}),
        (Path, STRING),
        (Decimal, {"type": "number"}),
        (list, {"type": "array"}),
        (Sequence[int], {"type": "array", "items": INTEGER}),
        (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (set[str], {"type": "array", "items": STRING, "uniqueItems": True}),
        (Mapping[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (Literal[1, "a"], {"enum": [1, "a"]}),
        (Filter, {"type": "object", "properties": {"name": STRING}, "required": []}),
    ],
)
def test_annotations(hint: Any, schema: Any) -> None:
    def f(a: Any) -> None: ...

    f.__annotations__["a"] = hint
    assert definition(f)["input_schema"]["properties"]["a"] == schema


def test_models_and_bounds_of_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic")
    inner = pydantic.create_model("Inner", name=(str, ...))
    outer = pydantic.create_model("Outer", inner=(inner, ...))
    model = {"type": "object", "properties": {"inner": {"$ref": "#/$defs/Inner"}}, "required": ["inner"]}
    rows = Annotated[int, pydantic.Field(ge=1, lt=9, description="How many.")]
    names = Annotated[list[str], pydantic.Field(min_length=1)]

    def f(a: Any, rows: Any, names: Any) -> Any:
        return a

    f.__annotations__ |= {"a": outer, "rows": rows, "names": names}
    own = definition(f)["input_schema"]
    assert own["properties"]["a"] == model and own["$defs"]["Inner"]["properties"]["name"]["type"] == "string"
    assert own["properties"]["rows"] == {**INTEGER, "minimum": 1, "exclusiveMaximum": 9, "description": "How many."}
    assert own["properties"]["names"] == {"type": "array", "items": STRING, "minItems": 1}
    conversation = Engine.from_functions([f], arm="full").conversation()
    call = {"a": {"inner": {"name": "x"}}, "rows": 2, "names": ["y"]}
    assert isinstance(conversation.call("f", call), Forward)
    assert not isinstance(conversation.call("f", {**call, "rows": 9}), Forward)
    assert runner([f])("f", call).inner.name == "x"


def unnamed(*paths: str) -> None: ...


def positional(path: str, /) -> None: ...


def untyped(call: Callable[[], None]) -> None: ...


def endless(own: Endless) -> None: ...


def unknown(own: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (unnamed, r"unnamed: the parameter \*paths"),
        (positional, "positional: the parameter path"),
        (untyped, "untyped: the parameter call has the type .*Callable.*, which has no JSON Schema: use str"),
        (endless, "endless: the parameter own has a type that contains itself"),
        (unknown, "unknown: its annotations cannot be read: name 'Nowhere'"),
        (lambda a: a, "no function with a name"),
        (5, "no function with a name"),
    ],
)
def test_what_is_no_tool(function: Any, said: str) -> None:
    for make in (definition, lambda one: definitions([one]), lambda one: Engine.from_functions([one]), lambda one: runner([one])):
        with pytest.raises(InputError, match=said):
            make(function)


def test_two_functions_of_one_name() -> None:
    with pytest.raises(InputError, match="two functions have the name plan"):
        Engine.from_functions([plan, plan])


def test_an_engine_of_functions_and_its_runner(tmp_path: Path) -> None:
    RAN.clear()
    ask = '[[rule]]\ntool = "*"\ndecide = "ask"\n'
    approver = Approver(tmp_path / "a.db")
    engine = Engine.from_functions([plan], None, "full", ask, approvals=approver)
    conversation = engine.conversation(id="c")
    arguments = {"title": "x", "due": "2026-01-02", "priority": "high", "address": {"street": "s"}, "kind": None}
    outcome: Any = conversation.call("plan", arguments)
    approver.approve(outcome.approval)
    call: Any = conversation.resume(outcome.approval)
    assert runner([plan])(call.target, call.arguments) == "planned"
    assert RAN == [("x", date(2026, 1, 2), 10, Priority.HIGH, Address("s"), None)]


def test_values_of_unions_and_lists() -> None:
    def f(a: int | Address, b: list[Priority], c: dict[str, date], d: date | str, e: bool | int) -> Any:
        return a, b, c, d, e

    given = {"a": {"street": "s"}, "b": ["low"], "c": {"x": "2026-01-02"}, "d": "soon", "e": 1}
    run = runner([f])
    assert run("f", given) == (Address("s"), [Priority.LOW], {"x": date(2026, 1, 2)}, "soon", 1)
    assert run("f", {**given, "a": 5, "d": "2026-01-02"})[:4:3] == (5, date(2026, 1, 2))
    with pytest.raises(InputError, match="no function has the name g"):
        run("g", {})


def test_times_with_a_zone() -> None:
    def f(a: datetime, b: time) -> Any:
        return a.utcoffset(), b.utcoffset()

    assert runner([f])("f", {"a": "2026-01-02T03:04:05Z", "b": "03:04:05Z"}) == (timedelta(0), timedelta(0))


def test_a_coroutine_function() -> None:
    async def wait(a: date) -> str:
        return str(a.year)

    assert asyncio.run(runner([wait])("wait", {"a": "2026-01-02"})) == "2026"
