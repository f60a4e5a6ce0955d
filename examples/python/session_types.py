"""The lines of `toolfold session`: types of requests and answers.

Written by a test from `toolfold session --schema`. Needs Python 3.11.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, Union


class ToolsRequest(TypedDict):
    """The array to send next. It is recorded as shown to the model."""

    tools: Literal[True] | dict[str, Any]
    conversation: NotRequired[str]


class CallRequest(TypedDict):
    """One call that the model made."""

    call: Call
    key: NotRequired[str]
    conversation: NotRequired[str]


class CallsRequest(TypedDict):
    """The calls of one assistant message, in the model's order."""

    calls: list[Call]
    key: NotRequired[str]
    conversation: NotRequired[str]


class MessageRequest(TypedDict):
    """One assistant message in the wire's format."""

    message: Any
    key: NotRequired[str]
    conversation: NotRequired[str]


class ResultRequest(TypedDict):
    """The result of a forwarded call, to be wrapped for the wire."""

    result: Result
    conversation: NotRequired[str]


class FinishedRequest(TypedDict):
    """The host ran a forwarded call and wraps the result itself."""

    finished: Finished
    conversation: NotRequired[str]


class PauseRequest(TypedDict):
    """The host paused a forwarded call and will rebuild its message: the call is forwarded again."""

    pause: str
    conversation: NotRequired[str]


class CancelRequest(TypedDict):
    """Kills the script that the session runs for this call. The line of the call is answered when the script has ended."""

    cancel: str
    conversation: NotRequired[str]


class AcceptRequest(TypedDict):
    """Approves the call that waits under this approval."""

    accept: str
    conversation: NotRequired[str]


class RejectRequest(TypedDict):
    """Rejects it."""

    reject: str | dict[str, Any]
    conversation: NotRequired[str]


class ResumeRequest(TypedDict):
    """Resume with the decision that was made elsewhere."""

    resume: str
    conversation: NotRequired[str]


class AnsweredRequest(TypedDict):
    """The same as `resume`."""

    answered: str
    conversation: NotRequired[str]


class ActivateRequest(TypedDict):
    """Activates a skill that a person named, also one that the model may not activate."""

    activate: Activate
    conversation: NotRequired[str]


class ApproveSkillRequest(TypedDict):
    """Approves a skill that requires approval, for the rest of the conversation."""

    approve_skill: str
    conversation: NotRequired[str]


class SeenRequest(TypedDict):
    """The messages of the next request, or that request: tools whose schemas they no longer contain count as closed."""

    seen: Any
    conversation: NotRequired[str]


class SeenCallsRequest(TypedDict):
    """The same for a host with another message format: the calls whose answers the model still sees in full."""

    seen_calls: list[str]
    conversation: NotRequired[str]


class RedeliverRequest(TypedDict):
    """The schemas of all expanded tools, as text for the model."""

    redeliver: Literal[True]
    conversation: NotRequired[str]


class ChildRequest(TypedDict):
    """A conversation of a sub-agent with only some of the tools, to restore in another session."""

    child: Child
    conversation: NotRequired[str]


class SnapshotRequest(TypedDict):
    """The state of the conversation, to store."""

    snapshot: Literal[True]
    conversation: NotRequired[str]


class RestoreRequest(TypedDict):
    """Restore a stored state."""

    restore: dict[str, Any]
    conversation: NotRequired[str]


class ExplainRequest(TypedDict):
    """The arm and its reason, the expanded tools, waiting calls, notes."""

    explain: Literal[True]
    conversation: NotRequired[str]


class LogRequest(TypedDict):
    """All events."""

    log: Literal[True]
    conversation: NotRequired[str]


class StartRequest(TypedDict):
    """Only with `--many`: opens the conversation, with its own settings. Any other request opens it with those of the process."""

    start: Literal[True] | dict[str, Any]
    conversation: NotRequired[str]


class EndRequest(TypedDict):
    """Only with `--many`: removes the conversation from memory. Its log remains."""

    end: Literal[True]
    conversation: NotRequired[str]


class Call(TypedDict):
    """A call of a line."""

    id: str
    name: str
    arguments: NotRequired[Any]


class Result(TypedDict):
    """A tool's result."""

    id: str
    content: Any
    is_error: NotRequired[bool]


class Finished(TypedDict):
    """The result of a forwarded call that the host wraps itself."""

    id: str
    ok: bool
    not_run: NotRequired[bool]


class Activate(TypedDict):
    """A skill that a person named."""

    name: str
    arguments: NotRequired[str | None]


class Child(TypedDict):
    """A sub-agent's tools."""

    allowed: list[str]


class ErrorBody(TypedDict):
    line: int
    message: str
    help: str


class ToolsAnswer(TypedDict):
    conversation: NotRequired[str]
    tools: list[Any]
    digest: str
    tokens: NotRequired[int | None]
    meter: NotRequired[str | None]
    entries: NotRequired[list[Entry] | None]
    diagnostics: NotRequired[list[dict[str, Any]] | None]


class Entry(TypedDict):
    """A tool in neutral form."""

    name: str
    description: str
    parameters: Any
    strict: bool
    detail: str
    deferred: bool
    own: bool


class OutcomeAnswer(TypedDict):
    conversation: NotRequired[str]
    line: NotRequired[int | None]
    id: str
    outcome: Verdict
    name: str
    target: str | None
    approval: NotRequired[str | None]
    state: NotRequired[str | None]
    until: NotRequired[str | None]
    arguments: NotRequired[Any]
    arguments_json: NotRequired[str | None]
    content: NotRequired[str | None]
    is_error: NotRequired[bool | None]
    shown: NotRequired[dict[str, Any] | None]
    undo: NotRequired[dict[str, Any] | None]
    note: NotRequired[str | None]
    reason: str
    expanded: list[str]
    opened: NotRequired[list[Opened]]
    activation: NotRequired[dict[str, Any] | None]
    append: NotRequired[list[Any] | None]
    context: dict[str, Any]
    digest: str


class Opened(TypedDict):
    """A tool whose full schema an answer contains."""

    name: str
    description: str
    parameters: Any


class MessageAnswer(TypedDict):
    conversation: NotRequired[str]
    line: NotRequired[int | None]
    message: Any
    outcomes: list[OutcomeAnswer]
    messages: list[Any]
    append: list[Any]
    diagnostics: NotRequired[list[dict[str, Any]]]
    digest: str


class CallsAnswer(TypedDict):
    conversation: NotRequired[str]
    line: NotRequired[int | None]
    outcomes: list[OutcomeAnswer]
    diagnostics: NotRequired[list[dict[str, Any]]]
    digest: str


class ResultAnswer(TypedDict):
    conversation: NotRequired[str]
    id: str
    messages: list[Any]


class FinishedAnswer(TypedDict):
    conversation: NotRequired[str]
    id: str
    finished: bool


class PausedAnswer(TypedDict):
    conversation: NotRequired[str]
    paused: str


class CancelledAnswer(TypedDict):
    conversation: NotRequired[str]
    cancelled: str


class ActivatedAnswer(TypedDict):
    conversation: NotRequired[str]
    activated: str
    text: str
    activation: dict[str, Any]


class ApprovedSkill(TypedDict):
    conversation: NotRequired[str]
    approved_skill: str


class SeenAnswer(TypedDict):
    conversation: NotRequired[str]
    seen: bool
    expanded: list[str]
    digest: str


class RedeliverAnswer(TypedDict):
    conversation: NotRequired[str]
    redeliver: str | None
    expanded: list[str]


class ChildAnswer(TypedDict):
    conversation: NotRequired[str]
    child: str
    snapshot: dict[str, Any]


class SnapshotAnswer(TypedDict):
    conversation: NotRequired[str]
    snapshot: dict[str, Any]


class RestoredAnswer(TypedDict):
    conversation: NotRequired[str]
    restored: bool
    arm: str
    digest: str


class ExplainAnswer(TypedDict):
    conversation: NotRequired[str]
    arm: str
    explain: str
    variant: str | None
    wire: str
    model: str | None
    session: str
    opened: list[str]
    waiting: list[WaitingCall]
    digest: str
    diagnostics: list[dict[str, Any]]


class WaitingCall(TypedDict):
    approval: str
    id: str
    target: str


class LogAnswer(TypedDict):
    conversation: NotRequired[str]
    log: list[dict[str, Any]]


class StartedAnswer(TypedDict):
    conversation: NotRequired[str]
    started: bool
    resumed: bool
    arm: str
    wire: str
    model: str | None
    digest: str


class EndedAnswer(TypedDict):
    conversation: NotRequired[str]
    ended: bool


class ErrorAnswer(TypedDict):
    conversation: NotRequired[str]
    error: ErrorBody


Request = Union[ToolsRequest, CallRequest, CallsRequest, MessageRequest, ResultRequest, FinishedRequest, PauseRequest, CancelRequest, AcceptRequest, RejectRequest, ResumeRequest, AnsweredRequest, ActivateRequest, ApproveSkillRequest, SeenRequest, SeenCallsRequest, RedeliverRequest, ChildRequest, SnapshotRequest, RestoreRequest, ExplainRequest, LogRequest, StartRequest, EndRequest]

Answer = Union[ToolsAnswer, OutcomeAnswer, MessageAnswer, CallsAnswer, ResultAnswer, FinishedAnswer, PausedAnswer, CancelledAnswer, ActivatedAnswer, ApprovedSkill, SeenAnswer, RedeliverAnswer, ChildAnswer, SnapshotAnswer, RestoredAnswer, ExplainAnswer, LogAnswer, StartedAnswer, EndedAnswer, ErrorAnswer]

Verdict = Union[Literal["reply"], Literal["forward"], Literal["confirm"], Literal["refuse"]]
