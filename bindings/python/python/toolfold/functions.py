"""Plain functions as tools: their definitions, and a runner for the loops.

    engine = toolfold.Engine.from_functions([find_contacts, send_email], policy="policy.toml")
    result = chat(client, engine.conversation("openai-chat", "gpt-5.4"), messages, runner([find_contacts, send_email]))

A definition is read from the signature, the annotations and the docstring. ``Annotated[int, "The number of rows."]`` describes a
parameter, and so do ``:param rows: …`` and a section ``Args:``. The runner converts the arguments to the annotated types: enums,
dates, dataclasses, models of pydantic.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, get_type_hints

from . import InputError
from ._schemas import schema_of, value_of, without_none

__all__ = ["definition", "definitions", "runner"]

#: Where the description of a function ends and that of its parameters and results begins.
_SECTIONS = re.compile(r"^\s*(?::(?:param|returns?|raises|type|rtype)\b|(?:Args|Arguments|Parameters|Returns|Raises|Yields):?\s*$)", re.M)
#: ``:param rows: …`` and ``:param int rows: …``, with the lines that continue it.
_PARAM = re.compile(r"^:param\s+(?:[^\s:]+\s+)?(\w+):\s*(.*(?:\n[ \t]+\S.*)*)", re.M)
#: The section ``Args:``, and one of its entries: ``rows (int): …``.
_ARGS = re.compile(r"^(?:Args|Arguments):\s*\n((?:[ \t]+.*\n?|\s*\n)+)", re.M)
_ENTRY = re.compile(r"^(\w+)(?:\s*\([^)]*\))?:\s*(.*(?:\n[ \t]+\S.*)*)", re.M)


def definitions(functions: Iterable[Callable[..., Any]]) -> list[dict[str, Any]]:
    """Returns the definition of each function: dicts with name, description and input_schema.

    :raises InputError: a function cannot be a tool, or two have one name.
    """
    made = [definition(function) for function in functions]
    names = [one["name"] for one in made]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two functions have the name {name}: rename one of them")
    return made


def definition(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the definition of a function: a dict with name, description and input_schema.

    :raises InputError: the function has no name, or a parameter has no name or no JSON Schema.
    """
    name = _name(function)
    about, described = _documentation(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    defined: dict[str, Any] = {}
    for parameter, hint in _parameters(function):
        place = f"{name}: the parameter {parameter.name}"
        # A parameter that may be left out needs no null: the engine drops it.
        schema = schema_of(without_none(hint) if parameter.default is None else hint, place, defined)
        if parameter.name in described:
            schema.setdefault("description", described[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif isinstance(default := getattr(parameter.default, "value", parameter.default), str | int | float | bool):
            schema["default"] = default
        properties[parameter.name] = schema
    whole: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": about, "input_schema": whole | ({"$defs": defined} if defined else {})}


def runner(functions: Iterable[Callable[..., Any]]) -> Callable[[str, dict[str, Any]], Any]:
    """Returns the ``run`` of a loop: it calls the function of this name with its arguments, converted to the annotated types.
    The call of a coroutine function is a coroutine, which the asynchronous loops await.

    :raises InputError: a function cannot be a tool, or two have one name.
    """
    every = list(functions)
    definitions(every)
    hints = {_name(one): {parameter.name: hint for parameter, hint in _parameters(one)} for one in every}
    named = {_name(one): one for one in every}

    def run(name: str, arguments: dict[str, Any]) -> Any:
        if name not in named:
            raise InputError(f"no function has the name {name}: give the runner the functions of the engine")
        own = hints[name]
        return named[name](**{key: value_of(own[key], value) if key in own else value for key, value in arguments.items()})

    return run


def _name(function: Any) -> str:
    name = getattr(function, "__name__", "")
    if not callable(function) or not name.isidentifier():
        raise InputError(f"{function!r} is no function with a name: define it with `def`")
    return str(name)


def _parameters(function: Callable[..., Any]) -> list[tuple[inspect.Parameter, Any]]:
    """Returns the parameters of a function with their annotations."""
    name = _name(function)
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as why:
        raise InputError(f"{name}: its annotations cannot be read: {why}") from why
    every = list(inspect.signature(function).parameters.values())
    for one in every:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY):
            raise InputError(f"{name}: the parameter {one} has no name for a model: make it a keyword parameter")
    return [(one, hints.get(one.name, Any)) for one in every]


def _documentation(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Returns the description in a docstring, and those of the parameters."""
    text = inspect.getdoc(function) or ""
    found = _SECTIONS.search(text)
    about = text[: found.start()] if found else text
    section = _ARGS.search(text)
    entries = _ENTRY.findall(inspect.cleandoc("\n" + section[1])) if section else []
    described = {name: " ".join(said.split()) for name, said in [*_PARAM.findall(text), *entries]}
    return about.strip(), described
