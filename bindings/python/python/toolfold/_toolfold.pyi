# Generated from the Rust source by `python bindings/python/stubs.py`: do not edit.
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Final, Literal, NoReturn, final

__all__ = [
    "VERSION",
    "Approval",
    "Approver",
    "Confirm",
    "Conversation",
    "Engine",
    "Entry",
    "Forward",
    "OpenedTool",
    "Refuse",
    "Reply",
    "Turn",
    "run_command",
    "tokens",
]

VERSION: Final[str]
"""
The version of the package.
"""

@final
class Approval:
    """
    A call that a person is asked about, or was.
    """
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]:
        """
        The arguments that would run, as a new dict. Integers keep every digit.

        :raises InputError: an integer has more digits than Python reads (``sys.set_int_max_str_digits``).
        """
    @property
    def by(self) -> str | None:
        """
        Who answered, with the approval that was edited first where the person changed the arguments; None while it is
        pending.
        """
    @property
    def call(self) -> str:
        """
        The id of the call that asked.
        """
    @property
    def conversation(self) -> str:
        """
        The host's id of the conversation that asked; empty if it gave none.
        """
    @property
    def id(self) -> str:
        """
        Its id: what ``Approver.approve`` and ``Conversation.resume`` take.
        """
    @property
    def reason(self) -> str | None:
        """
        What the person said with a no; None if nothing.
        """
    @property
    def shown(self) -> dict[str, Any]:
        """
        What to show the person: a dict with target (str), arguments (JSON text), effects (list of str), undo (str), why
        (list of str) and remember (list of dicts: what may be remembered).
        """
    @property
    def state(self) -> Literal["pending", "approved", "rejected", "consumed", "expired"]:
        """
        How it stands now: pending, approved, rejected, consumed (it ran) or expired.
        """
    @property
    def tool(self) -> str:
        """
        The tool, by its host's name.
        """

@final
class Approver:
    """
    The person's handle on the calls that wait: it says yes and no, and nothing else does.

    Keep it where only a person reaches it. Several processes may open one file at once; ``toolfold approvals`` of the
    command line is another such handle. Keep the file outside every folder that tools can write.

    :param path: the SQLite file, created if there is none; None keeps approvals in memory, for this process.
    :param by: who answers, for the audit trail.
    :raises ApprovalError: the file cannot be opened, or is no store.
    """
    def __new__(cls, path: str | PathLike[str] | None = None, *, by: str = "the host") -> Approver: ...
    def __reduce__(self) -> NoReturn: ...
    def __repr__(self) -> str: ...
    def approve(self, approval: str, *, edited: str | None = None) -> Approval:
        """
        Says yes to one call, once. The conversation takes it up with ``resume``, or when the model makes the call
        again.

        :param approval: the id of the approval: ``Confirm.approval``, ``Approval.id``.
        :param edited: the approval that was shown first, where the person changed its arguments to these. The record names
            it.
        :returns: the approval as it stands now.
        :raises ApprovalError: it is not pending: it was answered, used or has expired.
        """
    def get(self, approval: str) -> Approval:
        """
        One approval by its id, whatever its state.

        :raises ApprovalError: there is none of this id.
        """
    def pending(self) -> tuple[Approval, ...]:
        """
        The calls that wait for an answer, oldest first: a tuple of Approval.

        :raises ApprovalError: the store cannot be read.
        """
    def reject(self, approval: str, reason: str | None = None) -> Approval:
        """
        Says no, for good. The model is told the reason.

        :param approval: the id of the approval.
        :param reason: why, in one sentence; None gives no reason.
        :returns: the approval as it stands now.
        :raises ApprovalError: it is not pending.
        """
    def verify(self) -> tuple[str, ...]:
        """
        Checks the audit chain and holds the stored approvals against it.

        :returns: what is wrong: a tuple of lines, one a fault; empty where all is well.
        :raises ApprovalError: the store cannot be read.
        """

@final
class Confirm:
    """
    A call that a person must see first. Nothing here says yes: ``Approver`` does, then ``Conversation.resume``.
    """
    __match_args__: Final[tuple[Literal["target"], Literal["arguments"], Literal["approval"]]]
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def approval(self) -> str:
        """
        The id of the approval that waits.
        """
    @property
    def arguments(self) -> dict[str, Any]:
        """
        The arguments to run it with, as a new dict. Integers keep every digit.

        :raises InputError: an integer has more digits than Python reads (``sys.set_int_max_str_digits``).
        """
    @property
    def arguments_json(self) -> str:
        """
        The same as JSON text, as the model wrote them.
        """
    @property
    def arm(self) -> str:
        """
        The arm of the conversation, by its name.
        """
    @property
    def coerced(self) -> tuple[str, ...]:
        """
        What was put right in the arguments: a tuple of lines.
        """
    @property
    def content(self) -> str:
        """
        What the model is told while nobody has answered.
        """
    @property
    def id(self) -> str:
        """
        The id of the call.
        """
    @property
    def messages(self) -> list[dict[str, Any]]:
        """
        ``content`` as messages of the wire, to append to the request: a list of dicts.
        """
    @property
    def name(self) -> str:
        """
        The name by which the model made the call.
        """
    @property
    def policy(self) -> Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"]:
        """
        What policy said: off, not_asked, allow, allow_audited, confirm or deny.
        """
    @property
    def reason(self) -> str:
        """
        Why a person is asked.
        """
    @property
    def shown(self) -> dict[str, Any]:
        """
        What to show the person: a dict with target (str), arguments (JSON text), effects (list of str), undo (str),
        why (list of str) and remember (list of dicts: what may be remembered).
        """
    @property
    def target(self) -> str:
        """
        The tool to run, by its host's name: never ``call_tool``.
        """

@final
class Conversation:
    """
    One conversation with a model: what it is shown, what it calls, and what becomes of each call.

    Everything that it gives for the model, and takes from it, uses the names that the model sees. Threads may share it.
    ``Engine.conversation`` makes one.
    """
    def __reduce__(self) -> NoReturn: ...
    def __repr__(self) -> str: ...
    def answer(self, id: str, result: str, is_error: bool = False) -> list[dict[str, Any]]:
        """
        Takes the result of a forwarded call, and gives the messages to append: a list of dicts in the wire's shape.

        :param id: the id of the call: ``Forward.id``.
        :param result: what the tool gave, as text for the model.
        :param is_error: whether the tool failed.
        :raises CallError: no call of that id is at the host.
        """
    @property
    def arm(self) -> str:
        """
        The arm, for the conversation's life; never ``auto``.
        """
    @property
    def betas(self) -> tuple[str, ...]:
        """
        What a request must name in the header ``anthropic-beta``: a tuple of str, empty where nothing that is sent is
        in beta.
        """
    def call(
        self,
        name: str,
        arguments: str | bytes | Mapping[str, Any] | object | None = None,
        id: str | None = None,
        message: str | None = None,
    ) -> Reply | Forward | Confirm | Refuse:
        """
        Judges one call: whether it is run, answered here, refused, or put before a person.

        Until its result is reported, the same call (id, name, arguments) gives the same outcome again, so that asking twice
        does no harm. With ``message`` it is the same call whenever it comes.

        :param name: the name that the model wrote.
        :param arguments: JSON text as the model wrote it (``str`` or ``bytes``), or a mapping. Text keeps every digit.
        :param id: the provider's id of the call; None: the conversation gives one.
        :param message: the key of its assistant message, an id that is unique for each message; None: it has none. Calls
            under one key were written before the answer to any of them was read.
        :returns: Reply, Forward, Confirm or Refuse.
        :raises InputError: the arguments cannot be written as JSON.
        """
    def child(self, allowed: Sequence[str]) -> Conversation:
        """
        A conversation for a sub-agent that may use these tools and nothing else. It has opened nothing.

        :param allowed: names of tools, by the host or as the model sees them; with ``expand_tools`` among them it
            folds.
        :raises StartError: a name is neither a tool of this conversation nor one of toolfold's own.
        """
    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """
        What this wire could not carry, or advises against: a list of dicts with code, severity, place, message, help.
        """
    @property
    def digest(self) -> str:
        """
        The identity of the array to send: its SHA-256, as 64 hexadecimal digits.
        """
    def direct(
        self,
        name: str,
        arguments: str | bytes | Mapping[str, Any] | object | None = None,
    ) -> tuple[str, str] | None:
        """
        A call by the host's name of the tool that it runs: ``(name, arguments)``, the arguments as JSON text. None where the
        call has that name already, or resolves to no tool. Nothing is judged.

        The rules of a framework apply to names: rewrite ``call_tool`` before the framework's layers see the call, and give the
        model its own words back in the next request.

        :param name: the name that the model wrote.
        :param arguments: as of ``call``.
        :raises InputError: the arguments cannot be written as JSON.
        """
    def entries(self) -> tuple[Entry, ...]:
        """
        The tools of the array in neutral form and the same order: a tuple of Entry. The same tuple as long as the array
        is the same.
        """
    def explain(self) -> str:
        """
        The arm and why the conversation has it, in one sentence.
        """
    def follows(
        self,
        steps: Sequence[tuple[str, str, str | bytes | Mapping[str, Any] | None] | tuple[str, bool]],
    ) -> bool:
        """
        Whether this conversation made every call of a history. If so, what is open is set to what the history still
        shows; if not, nothing changes: make a conversation from the steps instead.

        :param steps: as in ``Engine.conversation``.
        :raises InputError: a step is of neither shape.
        """
    def fork(self) -> Conversation:
        """
        A second conversation that goes on from here, with an id of its own.
        """
    @property
    def id(self) -> str:
        """
        The host's id of the conversation; empty if it gave none.
        """
    @property
    def model(self) -> str | None:
        """
        The model; None if the host named none.
        """
    @property
    def opened(self) -> tuple[str, ...]:
        """
        The names of the tools that are open, in catalogue order: a tuple of str.
        """
    def pause(self, id: str) -> None:
        """
        Reports that the host paused a forwarded call: the tool itself asked for something, and its message is made again.
        The call is then handed over once more, although its approval was used.

        :param id: the id of the call: ``Forward.id``.
        :raises CallError: no call of that id is at the host.
        """
    @property
    def pending(self) -> tuple[str, ...]:
        """
        The ids of the approvals that this conversation waits for: a tuple of str.
        """
    def redeliver(self) -> str | None:
        """
        The schemas of everything that is open, as text for the model: what a compaction dropped. None if nothing is
        open, or if the array itself shows it.
        """
    def redeliver_messages(self) -> list[dict[str, Any]]:
        """
        The messages that give everything open again in the provider's own channel, under arm ``append``: a list of
        dicts in the wire's shape; empty elsewhere.
        """
    def report_result(self, id: str, ok: bool = True) -> None:
        """
        Tells that the host ran a forwarded call, where it wraps results itself. A call that is not at the host is
        ignored.

        :param id: the id of the call: ``Forward.id``.
        :param ok: whether the tool did what it was called for.
        """
    def resume(self, approval: str) -> Forward | Confirm | Refuse:
        """
        Takes up a person's answer: Forward once it is approved, Confirm while nobody has answered, else Refuse.

        :param approval: the id of the approval: ``Confirm.approval``.
        :raises CallError: nothing waits under this id in this conversation.
        """
    def seen(self, messages: str | bytes | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        """
        Sets what is open to what the model can still see: what a compaction dropped counts as closed again.

        :param messages: the messages of the next request in the wire's own shape, or the request itself.
        :raises WireError: they have not the wire's shape. Nothing has changed then.
        :raises InputError: they cannot be written as JSON.
        """
    def seen_calls(self, ids: Sequence[str]) -> None:
        """
        ``seen`` for hosts whose messages are of no wire.

        :param ids: the ids of the calls whose answers the model still sees whole.
        """
    def snapshot(self) -> bytes:
        """
        The state to store, as JSON in UTF-8. ``Engine.restore`` makes the conversation from it.
        """
    def take_log(self) -> str:
        """
        What happened since the log was last taken, as JSON lines, oldest first. Write them before acting on the outcome
        that they led to. ``Engine.replay`` makes the conversation from them.
        """
    def tokens(self) -> tuple[int | None, str]:
        """
        What the array to send costs: ``(tokens, meter)`` as of ``toolfold.tokens``. tokens is None where the array
        holds what cannot be counted offline.
        """
    def tools(self) -> list[dict[str, Any]]:
        """
        The array to send, as a new list of dicts in the wire's shape.
        """
    def tools_json(self) -> str:
        """
        The array to send, as compact JSON text: the same bytes as long as nothing changes it.
        """
    def turn(
        self,
        message: str | bytes | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        key: str | None = None,
    ) -> Turn:
        """
        Reads and judges every call of an assistant message, in order.

        A message that comes again is a resend: under the same key whenever it comes, without a key as long as one of its
        calls has not ended. Its calls get their answers, stored results and approvals again; nothing runs twice.

        :param message: the message in the wire's own shape, as a dict or list, or as JSON text, which keeps every
            digit.
        :param key: an id that is unique for each assistant message, such as ``msg_…``; None: it has none.
        :raises WireError: the message is of another API, a whole response, or malformed.
        :raises InputError: the message cannot be written as JSON.
        """
    @property
    def wire(self) -> str:
        """
        The API that is spoken: openai-chat, openai-responses, anthropic, gemini or mcp.
        """

@final
class Engine:
    """
    Tools with their layers, put together once and shared by every conversation.

    It never changes, threads may share it, and ``len`` is the number of its tools.

    :param tools: a list of tool dicts in any provider's form (OpenAI, Anthropic, MCP, Gemini), the same as JSON text,
        the path of a JSON file, or ``"excel"`` for the built-in tools under their own profile.
    :param profile: how tools are folded: None derives a profile from the tools, False turns folding off, else a
        built-in name, a path, or TOML text.
    :param arm: how much is folded: ``"auto"`` or an arm's name (``toolfold report`` lists them).
    :param policy: what may run: a path, TOML text or ``"excel"``, or a list of these. None allows everything.
    :param skills: a folder of skills, or a list of folders.
    :param approvals: where calls wait for a person: an Approver, or the path of its file. None keeps them in memory,
        where nobody can answer them.
    :raises LoadError: tools, profile or policy have errors; it prints every diagnostic.
    :raises InputError: a file cannot be read, a value is of the wrong kind, or there is no such arm.
    :raises ApprovalError: the file for approvals cannot be opened, or is no store.
    """
    def __len__(self) -> int: ...
    def __new__(
        cls,
        tools: str | bytes | PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]],
        profile: str | bytes | PathLike[str] | bool | None = None,
        arm: str = "auto",
        policy: str | bytes | PathLike[str] | Sequence[str | bytes | PathLike[str]] | None = None,
        skills: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
        *,
        approvals: Approver | str | PathLike[str] | None = None,
    ) -> Engine: ...
    def __reduce__(self) -> NoReturn: ...
    def __repr__(self) -> str: ...
    @property
    def arm(self) -> str:
        """
        The arm that conversations get where nothing else chooses.
        """
    def conversation(
        self,
        wire: str = "openai-chat",
        model: str | None = None,
        id: str | None = None,
        *,
        arm: str | None = None,
        history: str | bytes | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        steps: Sequence[tuple[str, str, str | bytes | Mapping[str, Any] | None] | tuple[str, bool]] | None = None,
        without: Sequence[str] | None = None,
    ) -> Conversation:
        """
        A conversation with a model. It is bound to wire, model and arm for its life.

        :param wire: the API that is spoken: openai-chat, openai-responses, anthropic, gemini or mcp.
        :param model: the model, for what is known of it; None: nothing is known.
        :param id: the host's id of the conversation. Approvals belong to it: give one where a person is asked.
        :param arm: another arm than the engine's.
        :param history: the messages so far in the wire's own shape (a list, the request that has it, or JSON text):
            what they opened is open.
        :param steps: the same for hosts whose messages are of no wire, oldest first: a tuple ``(id, name, arguments)``
            for a call, ``(id, ok)`` for its answer.
        :param without: the deliveries that the host cannot carry, by name: in_place, in_result, bridge, native, append. An
            arm of such a delivery is an error, and ``auto`` chooses among the others.
        :raises StartError: the arm cannot be had there.
        :raises WireError: the history has not the wire's shape.
        :raises InputError: there is no such wire or arm, history or arguments cannot be written as JSON, a step is of
            neither shape, or both history and steps are given.
        """
    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """
        What was noticed while the engine was built: a list of dicts with code, severity, place, message, help.
        """
    @property
    def names(self) -> tuple[str, ...]:
        """
        The tools by their host's names, without those that policy denies outright: a tuple of str.
        """
    def replay(self, log: str) -> Conversation:
        """
        The conversation that a log tells: the lines of ``Conversation.take_log``, one after the other.

        :param log: JSON lines, or a JSON array of records.
        :raises RestoreError: records are missing, mixed, or of another form.
        """
    def report(self, wire: str = "openai-chat", model: str | None = None) -> list[dict[str, Any]]:
        """
        What the tools of the first request cost, arm by arm: a list of dicts with arm, takes (the arm that the
        conversation gets), tokens, meter, bytes (of the array as compact JSON) and tools (how many).

        Arms that the wire or the model cannot carry are left out. ``tokens`` is None where the array holds what cannot
        be counted offline; ``meter`` is as of ``toolfold.tokens``.

        :param wire: the API that is spoken: openai-chat, openai-responses, anthropic, gemini or mcp.
        :param model: the model; None takes a usual one of that API.
        :raises InputError: there is no such wire.
        """
    def restore(self, snapshot: str | bytes | Mapping[str, Any]) -> Conversation:
        """
        The conversation of a snapshot.

        :param snapshot: what ``Conversation.snapshot`` gave, or the same as a dict.
        :raises RestoreError: it is no snapshot, or this engine cannot carry the conversation.
        :raises InputError: it cannot be written as JSON.
        """
    def with_tools(
        self,
        tools: str | bytes | PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]],
    ) -> Engine:
        """
        The same settings over other tools. Policy, its store and skills are not loaded again.

        :param tools: as of ``Engine``.
        :raises LoadError: the tools have errors, or the profile does not fit them.
        :raises InputError: a file cannot be read, or the value is of the wrong kind.
        """

@final
class Entry:
    """
    One tool as the model is shown it, for frameworks that write the request themselves.

    ``parameters`` is one object for the life of the entry: copy it before changing it.
    """
    __match_args__: Final[tuple[Literal["name"], Literal["description"], Literal["parameters"]]]
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def deferred(self) -> bool:
        """
        Whether the provider keeps it out of the prompt until it is referred to.
        """
    @property
    def description(self) -> str:
        """
        The description at its detail; empty if there is none.
        """
    @property
    def detail(self) -> Literal["full", "signature", "outline", "required", "summary", "index"]:
        """
        How much of the tool it is: full, signature, outline, required, summary or index.
        """
    @property
    def name(self) -> str:
        """
        The name under which the model sees the tool.
        """
    @property
    def own(self) -> bool:
        """
        Whether it is one of toolfold's own tools, such as ``expand_tools``: no host runs it.
        """
    @property
    def parameters(self) -> dict[str, Any]:
        """
        The JSON Schema of the arguments at its detail, as a dict.
        """
    @property
    def parameters_json(self) -> str:
        """
        The same as compact JSON text.
        """
    @property
    def strict(self) -> bool:
        """
        Whether the provider is asked to hold the model to the schema. Never on a folded tool.
        """

@final
class Forward:
    """
    A call to run: ``target`` with ``arguments``, which fit its schema. Then give the result to
    ``Conversation.answer``, or report it with ``Conversation.report_result``.
    """
    __match_args__: Final[tuple[Literal["target"], Literal["arguments"]]]
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]:
        """
        The arguments to run it with, as a new dict. Integers keep every digit.

        :raises InputError: an integer has more digits than Python reads (``sys.set_int_max_str_digits``).
        """
    @property
    def arguments_json(self) -> str:
        """
        The same as JSON text, as the model wrote them.
        """
    @property
    def arm(self) -> str:
        """
        The arm of the conversation, by its name.
        """
    @property
    def coerced(self) -> tuple[str, ...]:
        """
        What was put right in the arguments: a tuple of lines.
        """
    @property
    def id(self) -> str:
        """
        The id of the call.
        """
    @property
    def name(self) -> str:
        """
        The name by which the model made the call.
        """
    @property
    def note(self) -> str | None:
        """
        A line that the model has to read before the result; None if there is none. ``Conversation.answer`` puts it
        there. Frameworks that wrap results themselves use ``noted``.
        """
    def noted(self, result: str) -> str:
        """
        A result as text with the note before it, where there is one.
        """
    @property
    def policy(self) -> Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"]:
        """
        What policy said: off, not_asked, allow, allow_audited, confirm or deny.
        """
    @property
    def reason(self) -> str | None:
        """
        Why policy let it through, in policy's words; None where it gives no reason.
        """
    @property
    def target(self) -> str:
        """
        The tool to run, by its host's name: never ``call_tool``.
        """
    @property
    def unchecked(self) -> str | None:
        """
        Why the arguments were not checked against the schema; None if they were.
        """

@final
class OpenedTool:
    """
    A tool whose whole schema an answer opened, for hosts with an append channel.
    """
    __match_args__: Final[tuple[Literal["name"], Literal["description"], Literal["parameters"]]]
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def description(self) -> str:
        """
        The description, whole.
        """
    @property
    def name(self) -> str:
        """
        The name under which the model sees the tool.
        """
    @property
    def parameters(self) -> dict[str, Any]:
        """
        The JSON Schema of the arguments, whole, as a new dict.
        """

@final
class Refuse:
    """
    A call that may not run: send ``content`` as its result.
    """
    __match_args__: Final[tuple[Literal["content"]]]
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def arm(self) -> str:
        """
        The arm of the conversation, by its name.
        """
    @property
    def coerced(self) -> tuple[str, ...]:
        """
        What was put right in the arguments: a tuple of lines.
        """
    @property
    def content(self) -> str:
        """
        The text for the model.
        """
    @property
    def id(self) -> str:
        """
        The id of the call.
        """
    @property
    def is_error(self) -> bool:
        """
        Always True: the call failed.
        """
    @property
    def messages(self) -> list[dict[str, Any]]:
        """
        ``content`` as messages of the wire, to append to the request: a list of dicts.
        """
    @property
    def name(self) -> str:
        """
        The name by which the model made the call.
        """
    @property
    def policy(self) -> Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"]:
        """
        What policy said: off, not_asked, allow, allow_audited, confirm or deny.
        """
    @property
    def reason(self) -> str:
        """
        Why, for the host.
        """
    @property
    def target(self) -> str:
        """
        The tool that was meant, by its host's name.
        """

@final
class Reply:
    """
    An answer that the conversation gives by itself: send ``content`` as the result of the call.
    """
    __match_args__: Final[tuple[Literal["content"], Literal["is_error"]]]
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def arm(self) -> str:
        """
        The arm of the conversation, by its name.
        """
    @property
    def coerced(self) -> tuple[str, ...]:
        """
        What was put right in the arguments: a tuple of lines.
        """
    @property
    def content(self) -> str:
        """
        The text for the model.
        """
    @property
    def id(self) -> str:
        """
        The id of the call.
        """
    @property
    def is_error(self) -> bool:
        """
        Whether the model should be told that its call failed.
        """
    @property
    def kind(self) -> Literal["expanded", "activated", "invalid", "shown", "unknown_tool", "loop"]:
        """
        Why it was answered here: expanded, activated, invalid, shown, unknown_tool or loop.
        """
    @property
    def messages(self) -> list[dict[str, Any]]:
        """
        ``content`` as messages of the wire, to append to the request: a list of dicts.
        """
    @property
    def name(self) -> str:
        """
        The name by which the model made the call.
        """
    @property
    def opened(self) -> tuple[OpenedTool, ...]:
        """
        The tools whose whole schemas this answer opens, in catalogue order: a tuple of OpenedTool.
        """
    @property
    def policy(self) -> Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"]:
        """
        What policy said: off, not_asked, allow, allow_audited, confirm or deny.
        """
    @property
    def target(self) -> str | None:
        """
        The tool that was meant, by its host's name; None if there is none.
        """

@final
class Turn:
    """
    The calls of one assistant message: judged when it was made, one by one and in order. ``Conversation.turn`` makes
    one.

    ``messages`` ends it: then everything here raises CallError.
    """
    def __len__(self) -> int:
        """
        How many calls the message had: none means that the model has ended its turn.
        """
    def __reduce__(self) -> NoReturn: ...
    def finish(self, id: str, result: str, is_error: bool = False) -> None:
        """
        Takes the result of a call that was run.

        :param id: the id of the call: ``Forward.id``.
        :param result: what the tool gave, as text for the model.
        :param is_error: whether the tool failed.
        :raises CallError: no call of that id in this turn is to be run, it has its result already, or the turn is over.
        """
    def messages(self) -> list[dict[str, Any]]:
        """
        What to append behind the assistant message: one answer a call, as a list of dicts in the wire's shape. It ends
        the turn: a call that still waits is answered with its approval, one that has no result as failed.

        :raises CallError: the turn is over.
        """
    @property
    def outcomes(self) -> tuple[Reply | Forward | Confirm | Refuse, ...]:
        """
        What became of each call, in the model's order: a tuple of Reply, Forward, Confirm and Refuse.

        :raises CallError: the turn is over.
        """
    def resume(self, approval: str) -> Forward | Confirm | Refuse:
        """
        Takes up a person's answer to a call that waits. What is approved is runnable from now on.

        :param approval: the id of the approval: ``Confirm.approval``.
        :returns: Forward, Confirm while nobody has answered, or Refuse.
        :raises CallError: nothing waits under this id, or the turn is over.
        """
    @property
    def runnable(self) -> tuple[Forward, ...]:
        """
        The calls to run that have no result yet: a tuple of Forward.

        :raises CallError: the turn is over.
        """
    @property
    def waiting(self) -> tuple[Confirm, ...]:
        """
        The calls that wait for a person: a tuple of Confirm.

        :raises CallError: the turn is over.
        """

def run_command(arguments: Sequence[str]) -> int:
    """
    Runs the ``toolfold`` command. It prints to the process's own output.

    :param arguments: as of a command line, the program's name first.
    :returns: the exit code: 0 ok, 1 the thing asked about is bad, 2 usage, 3 it could not be measured.
    """

def tokens(
    tools: str | bytes | Sequence[Mapping[str, Any]],
    wire: str = "openai-chat",
    model: str | None = None,
) -> tuple[int | None, str]:
    """
    Counts the tokens of a tool array as it is sent: ``(tokens, meter)``.

    :param tools: the array, as a list of dicts or JSON text.
    :param wire: the API that it is sent over: openai-chat, openai-responses, anthropic, gemini or mcp.
    :param model: the model; None takes a usual one of that API.
    :returns: tokens is None where the array holds what cannot be counted offline. The meter names what was counted:
        ``billed:…`` is exact, ``estimate:…`` is not, ``json/…`` is the text itself.
    :raises InputError: the array is no JSON array, or there is no such wire.
    """
