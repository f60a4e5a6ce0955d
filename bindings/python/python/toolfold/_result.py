"""What a loop reads from a response, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from . import Confirm

#: A message or an item, in the format of its API.
Message: TypeAlias = dict[str, Any]

#: ``Result.stop`` if the last allowed request was sent and its calls were answered.
LIMIT = "requests"
#: ``Result.stop`` if the loop returned because a call waits for approval.
WAITING = "waiting"


@dataclass(frozen=True)
class Usage:
    """The tokens of all requests of a loop, as the provider reports them; 0 where it reports nothing.

    :param requests: the number of requests.
    :param input_tokens: the tokens of the prompts, including those from a cache.
    :param cached_tokens: the part of ``input_tokens`` that the provider read from its cache.
    :param output_tokens: the tokens that the model wrote.
    """

    requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True)
class Result:
    """The end of a loop.

    :param text: the last text of the model.
    :param stop: why the loop ended: the provider's own reason, such as ``stop``, ``length``, ``end_turn`` or ``completed``;
        ``waiting`` if a call waits for approval (``pause=True``); ``requests`` if the limit of requests was reached.
    :param usage: the tokens of all requests of this loop.
    :param history: the given history, with everything that was appended.
    :param waiting: the calls that still wait for approval.
    """

    text: str
    stop: str
    usage: Usage
    history: list[Any]
    waiting: tuple[Confirm, ...] = ()

    def __str__(self) -> str:
        return self.text


class Said(NamedTuple):
    """What a response contains."""

    text: str
    #: The messages or items that it adds to the history.
    items: Sequence[Message]
    #: The provider's reason for its end.
    stop: str = ""
    usage: Usage = Usage(requests=1)


class Blocks(list[dict[str, Any]]):
    """A result of a tool as content blocks of the API: images, documents, several texts. The loop sends them unchanged."""


def plain(value: Any) -> Any:
    """Returns a message with the objects of the provider's SDK as dicts. Everything else is the same object."""
    if isinstance(value, dict):
        content = value.get("content")
        if isinstance(content, list) and any(hasattr(block, "model_dump") for block in content):
            return {**value, "content": [plain(block) for block in content]}
        return value
    dumped = getattr(value, "model_dump", None)
    return value if dumped is None else dumped(mode="json", exclude_none=True)
