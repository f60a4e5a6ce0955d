"""Annotations of Python as JSON Schema, and values of JSON as what the annotations ask for."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence, Set
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict
from uuid import UUID

from . import InputError

#: The maximum depth of an annotation; a dataclass that contains itself is deeper.
MOST_DEPTH = 32

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    dict: {"type": "object"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
    UUID: {"type": "string", "format": "uuid"},
    Path: {"type": "string"},
    Decimal: {"type": "number"},
}

def _utc(text: str) -> str:
    """Returns a time with the zone as Python 3.10 reads it: RFC 3339 also writes ``Z``."""
    return text[:-1] + "+00:00" if text[-1:] in ("Z", "z") else text


#: The types that are written as a string in JSON.
_PARSED: dict[Any, Any] = {
    datetime: lambda value: datetime.fromisoformat(_utc(value)),
    date: date.fromisoformat,
    time: lambda value: time.fromisoformat(_utc(value)),
    UUID: UUID,
    Path: Path,
    Decimal: lambda value: Decimal(str(value)),
}
#: The bounds of ``annotated_types`` and pydantic's ``Field``, for numbers, texts and lists.
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum", "pattern": "pattern"}
_LENGTHS = {"min_length": ("minLength", "minItems"), "max_length": ("maxLength", "maxItems")}
#: The Python types of the values of a schema without conversion.
_KINDS: dict[Any, Any] = {str: str, int: int, float: int | float, bool: bool, list: list, dict: dict, type(None): type(None)}


def schema_of(hint: Any, place: str, defined: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """Returns the JSON Schema of an annotation.

    :param place: what has the annotation, for errors.
    :param defined: receives the definitions (``$defs``) of pydantic's models.
    :raises InputError: the annotation has no JSON Schema.
    """
    if depth > MOST_DEPTH:
        raise InputError(f"{place} has a type that contains itself: use a model of pydantic")

    def inner(hint: Any) -> dict[str, Any]:
        return schema_of(hint, place, defined, depth + 1)

    origin, given = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(inner(given[0]), given[1:])
    if hint in (Any, object):
        return {}
    if origin is Literal:
        return _one_of(given)
    if origin in (Union, types.UnionType):
        return {"anyOf": [inner(one) for one in given]}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _one_of([one.value for one in hint])
    if (plain := _PLAIN.get(hint)) is not None:
        return dict(plain)
    if hasattr(hint, "model_json_schema"):
        schema: dict[str, Any] = hint.model_json_schema()
        defined.update(schema.pop("$defs", {}))
        schema.pop("title", None)
        return schema
    if is_dataclass(hint) or is_typeddict(hint):
        hints, needed = get_type_hints(hint, include_extras=True), _needed(hint)
        properties = {name: inner(own) for name, own in hints.items()}
        return {"type": "object", "properties": properties, "required": [name for name in hints if name in needed]}
    if _is_list(origin):
        items = [one for one in given if one is not Ellipsis]
        if origin is not tuple or len(given) == 2 and given[1] is Ellipsis:
            return {"type": "array", "items": inner(items[0])} | ({"uniqueItems": True} if issubclass(origin, Set) else {})
    if isinstance(origin, type) and issubclass(origin, Mapping) and given[0] is str:
        return {"type": "object", "additionalProperties": inner(given[1])}
    raise InputError(
        f"{place} has the type {hint!r}, which has no JSON Schema: use str, int, float, bool, list[…], dict[str, …], Literal, an "
        "Enum, a dataclass, a TypedDict or a model of pydantic"
    )


def without_none(hint: Any) -> Any:
    """Returns ``T`` for ``T | None``, and every other annotation unchanged."""
    if get_origin(hint) is Annotated:
        inner, *about = get_args(hint)
        return Annotated[(without_none(inner), *about)]
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    return Union[tuple(one for one in get_args(hint) if one is not type(None))]


def _one_of(values: Sequence[Any]) -> dict[str, Any]:
    kinds = {type(value) for value in values}
    kind = _PLAIN.get(kinds.pop(), {}) if len(kinds) == 1 else {}
    return {**kind, "enum": list(values)}


def _annotated(schema: dict[str, Any], about: Sequence[Any]) -> dict[str, Any]:
    """Adds what ``Annotated`` says: a description as text, and the bounds of ``annotated_types`` or pydantic."""
    for one in about:
        said = one if isinstance(one, str) else getattr(one, "description", None)
        if said:
            schema["description"] = said
        for bound in (one, *(getattr(one, "metadata", None) or ())):
            for name, member in _BOUNDS.items():
                if (value := getattr(bound, name, None)) is not None:
                    schema[member] = value
            for name, (text, items) in _LENGTHS.items():
                if (value := getattr(bound, name, None)) is not None:
                    schema[items if schema.get("type") == "array" else text] = value
    return schema


def _needed(hint: Any) -> set[str]:
    """Returns the required members of a dataclass or a TypedDict."""
    if is_typeddict(hint):
        return set(hint.__required_keys__)
    return {one.name for one in fields(hint) if one.default is MISSING and one.default_factory is MISSING}


def _is_list(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Sequence | Set)


def value_of(hint: Any, value: Any) -> Any:
    """Returns a value of JSON as its annotation asks for it. A value that already fits is returned unchanged."""
    origin, given = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return value_of(given[0], value)
    if origin in (Union, types.UnionType):
        return _first_that_fits(given, value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if hint in _PARSED:
        return _PARSED[hint](value)
    if hasattr(hint, "model_validate"):
        return hint.model_validate(value)
    if is_dataclass(hint) and isinstance(hint, type):
        hints = get_type_hints(hint, include_extras=True)
        return hint(**{name: value_of(hints.get(name, Any), own) for name, own in value.items()})
    if _is_list(origin) and isinstance(value, list):
        kind = origin if origin in (set, frozenset, tuple) else list
        return kind(value_of(given[0], one) for one in value)
    if isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, dict):
        return {key: value_of(given[1], one) for key, one in value.items()}
    return value


def _first_that_fits(hints: Sequence[Any], value: Any) -> Any:
    for hint in hints:
        kind = _KINDS.get(get_origin(hint) or hint)
        if kind is not None and not (isinstance(value, kind) and (hint is bool or not isinstance(value, bool))):
            continue
        try:
            return value_of(hint, value)
        except (ValueError, TypeError, AttributeError):
            continue
    return value
