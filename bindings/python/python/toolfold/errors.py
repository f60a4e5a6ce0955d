"""The exceptions of toolfold. Each prints what is wrong, where, and the way out."""

from __future__ import annotations

from typing import Any

__all__ = [
    "ApprovalError",
    "CallError",
    "InputError",
    "InternalError",
    "LoadError",
    "RestoreError",
    "StartError",
    "ToolfoldError",
    "WireError",
]


class ToolfoldError(Exception):
    """Whatever toolfold refuses. ``diagnostics`` has every finding: dicts with code, severity, place, message, help."""

    diagnostics: tuple[dict[str, Any], ...] = ()


class InputError(ToolfoldError, ValueError):
    """A value is of the wrong kind, is no JSON, or names a file that cannot be read."""


class LoadError(ToolfoldError, ValueError):
    """Tools, a profile or a policy have errors. Prints every diagnostic, one a line."""


class StartError(ToolfoldError, ValueError):
    """A conversation cannot start: the arm cannot be had there, or its history contradicts itself."""


class WireError(ToolfoldError, ValueError):
    """A message has not the shape of the conversation's API; it names what it looks like."""


class CallError(ToolfoldError, ValueError):
    """A call or an answer contradicts what went before. Nothing has changed."""


class RestoreError(ToolfoldError, ValueError):
    """A snapshot or a log gives no conversation."""


class ApprovalError(ToolfoldError):
    """An approval cannot be answered, or its store cannot be used."""


class InternalError(ToolfoldError, RuntimeError):
    """toolfold failed where it must not. Please report it."""
