"""The exceptions of toolfold. Each message states what is wrong, where, and how to fix it."""

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
    """The base class of all errors. ``diagnostics`` has every finding: dicts with code, severity, place, message, help."""

    diagnostics: tuple[dict[str, Any], ...] = ()


class InputError(ToolfoldError, ValueError):
    """A value has the wrong type, is not valid JSON, or names a file that cannot be read."""


class LoadError(ToolfoldError, ValueError):
    """Tools, a profile or a policy have errors. Prints every diagnostic, one per line."""


class StartError(ToolfoldError, ValueError):
    """A conversation cannot start: the arm is not available, or the history contradicts itself."""


class WireError(ToolfoldError, ValueError):
    """A message does not have the format of the conversation's API; the error names the detected format."""


class CallError(ToolfoldError, ValueError):
    """A call or an answer contradicts earlier ones. Nothing has changed."""


class RestoreError(ToolfoldError, ValueError):
    """A snapshot or a log cannot be restored."""


class ApprovalError(ToolfoldError):
    """An approval cannot be decided, or its store cannot be used."""


class InternalError(ToolfoldError, RuntimeError):
    """An internal error of toolfold. Please report it."""
