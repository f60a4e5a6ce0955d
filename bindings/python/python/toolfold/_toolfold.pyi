# Generated from the Rust source by `python bindings/python/stubs.py`: do not edit.
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    "restore_outcome",
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
    A call that requires or required approval.
    """
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]:
        """
        The arguments that would run, as a new dict. Integers keep every digit.

        :raises InputError: an integer has more digits than Python reads
            (``sys.set_int_max_str_digits``).
        """
    @property
    def by(self) -> str | None:
        """
        The approver, and the id of the approval that was edited, if the person changed the
        arguments; None while it is pending.
        """
    @property
    def call(self) -> str:
        """
        The id of the call.
        """
    @property
    def conversation(self) -> str:
        """
        The host's id of the conversation; empty if it has none.
        """
    @property
    def id(self) -> str:
        """
        Its id, for ``Approver.approve`` and ``Conversation.resume``.
        """
    @property
    def reason(self) -> str | None:
        """
        The reason of a rejection; None if there is none.
        """
    @property
    def shown(self) -> dict[str, Any]:
        """
        What to show the approver: a dict with target (str), arguments (JSON text), effects (list of
        str), undo (str), why (list of str) and remember (list of dicts: what may be remembered).
        """
    @property
    def state(self) -> Literal["pending", "approved", "rejected", "consumed", "expired"]:
        """
        The current state: pending, approved, rejected, consumed (it ran) or expired.
        """
    @property
    def tool(self) -> str:
        """
        The tool's name at its host.
        """

@final
class Approver:
    """
    Lists the calls that wait for approval, and approves or rejects them. Nothing else can.

    Only a person should have access to it. Several processes may open the same file; ``toolfold
    approvals`` on the command line is another approver. Store the file outside every folder that
    tools can write to.

    :param path: the SQLite file, created if it does not exist; None stores approvals in the memory
        of this process.
    :param by: the name of the approver, for the audit trail.
    :raises ApprovalError: the file cannot be opened, or is not a store.
    """
    def __copy__(self) -> Approver:
        """
        Itself: it can be shared.
        """
    def __deepcopy__(self, memo: object) -> Approver:
        """
        Itself: it can be shared.
        """
    def __new__(cls, path: str | PathLike[str] | None = None, *, by: str = "the host") -> Approver: ...
    def __reduce__(self) -> NoReturn: ...
    def __repr__(self) -> str: ...
    def approve(self, approval: str, *, edited: str | None = None) -> Approval:
        """
        Approves one call, once. The conversation continues with ``resume``, or when the model
        repeats the call.

        :param approval: the id of the approval: ``Confirm.approval``, ``Approval.id``.
        :param edited: the approval that was shown first, if the person changed its arguments to
            those of this one. The record names it.
        :returns: the approval in its new state.
        :raises ApprovalError: it is not pending: it was decided, used or has expired.
        """
    def get(self, approval: str) -> Approval:
        """
        The approval with this id, in any state.

        :raises ApprovalError: the id is unknown.
        """
    def pending(self) -> tuple[Approval, ...]:
        """
        The pending approvals, oldest first: a tuple of Approval.

        :raises ApprovalError: the store cannot be read.
        """
    def reject(self, approval: str, reason: str | None = None) -> Approval:
        """
        Rejects one call permanently. The model gets the reason.

        :param approval: the id of the approval.
        :param reason: the reason, in one sentence; None for no reason.
        :returns: the approval in its new state.
        :raises ApprovalError: it is not pending.
        """
    def verify(self) -> tuple[str, ...]:
        """
        Verifies the audit chain, and that it matches the stored approvals.

        :returns: the faults: a tuple of lines; empty if there are none.
        :raises ApprovalError: the store cannot be read.
        """

@final
class Confirm:
    """
    A call that requires approval. ``Approver`` approves it, then ``Conversation.resume``
    continues.
    """
    __match_args__: Final[tuple[Literal["target"], Literal["arguments"], Literal["approval"]]]
    def __copy__(self) -> Confirm:
        """
        Itself: it never changes.
        """
    def __deepcopy__(self, memo: object) -> Confirm:
        """
        Itself: it never changes.
        """
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """
        Pickles it, so that another process can read it. Its conversation is not part of it.
        """
    def __repr__(self) -> str: ...
    @property
    def approval(self) -> str:
        """
        The id of the pending approval.
        """
    @property
    def arguments(self) -> dict[str, Any]:
        """
        The arguments to run it with, as a new dict. Integers keep every digit.

        :raises InputError: an integer has more digits than Python reads
            (``sys.set_int_max_str_digits``).
        """
    @property
    def arguments_json(self) -> str:
        """
        The same as JSON text, as the model wrote it.
        """
    @property
    def arm(self) -> str:
        """
        The arm of the conversation.
        """
    @property
    def coerced(self) -> tuple[str, ...]:
        """
        What was corrected in the arguments: a tuple of lines.
        """
    @property
    def content(self) -> str:
        """
        The answer for the model while the approval is pending.
        """
    @property
    def id(self) -> str:
        """
        The id of the call.
        """
    @property
    def messages(self) -> list[Any]:
        """
        ``content`` as messages of the wire, to append to the request: a list of dicts.
        """
    @property
    def name(self) -> str:
        """
        The name that the model wrote.
        """
    @property
    def policy(self) -> Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"]:
        """
        The policy's decision: off, not_asked, allow, allow_audited, confirm or deny.
        """
    @property
    def reason(self) -> str:
        """
        Why approval is required.
        """
    @property
    def shown(self) -> dict[str, Any]:
        """
        What to show the approver: a dict with target (str), arguments (JSON text), effects
        (list of str), undo (str), why (list of str) and remember (list of dicts: what may be
        remembered).
        """
    @property
    def target(self) -> str:
        """
        The tool's name at its host: never ``call_tool``.
        """

@final
class Conversation:
    """
    One conversation with a model: the tools it is shown, its calls, and the outcome of each call.

    Everything that it returns for the model or accepts from it uses the names that the model sees.
    Threads may share it. ``Engine.conversation`` creates one.
    """
    def __reduce__(self) -> NoReturn: ...
    def __repr__(self) -> str: ...
    def activate(self, name: str, arguments: str | None = None) -> str:
        """
        Activates a skill that a person named, also one that the model may not activate, and returns
        the text to send as a message of the user.

        :param name: the skill, or ``name@scope`` for a copy.
        :param arguments: the arguments, as the person wrote them after the name.
        :raises CallError: the name is unknown, the skill is hidden from users, or policy denies it.
        """
    def answer(self, id: str, result: str, is_error: bool = False) -> list[Any]:
        """
        Stores the result of a forwarded call, and returns the messages to append: a list of dicts
        in the wire's format.

        :param id: the id of the call: ``Forward.id``.
        :param result: the tool's result, as text for the model.
        :param is_error: whether the tool failed.
        :raises CallError: no call of that id is at the host.
        """
    @property
    def arm(self) -> str:
        """
        The arm for the conversation's life; never ``auto``.
        """
    @property
    def betas(self) -> tuple[str, ...]:
        """
        The values that a request must have in the header ``anthropic-beta``: a tuple of str, empty
        if it uses no beta feature.
        """
    def call(
        self,
        name: str,
        arguments: str | bytes | Mapping[str, Any] | object | None = None,
        id: str | None = None,
        message: str | None = None,
    ) -> Reply | Forward | Confirm | Refuse:
        """
        Judges one call: it is run, answered here, denied, or requires approval.

        Until its result is reported, the same call (id, name, arguments) returns the same outcome
        again, so repeating it is harmless. With ``message`` it is always the same call.

        :param name: the name that the model wrote.
        :param arguments: JSON text as the model wrote it (``str`` or ``bytes``), or a mapping. Text
            keeps every digit.
        :param id: the provider's id of the call; None: the conversation generates one.
        :param message: the key of its assistant message, an id that is unique for each message;
            None if it has none. Calls with the same key were written before the answer to any of
            them was read.
        :returns: Reply, Forward, Confirm or Refuse.
        :raises InputError: the arguments cannot be written as JSON.
        """
    def child(self, allowed: Sequence[str]) -> Conversation:
        """
        A new conversation for a sub-agent that may use only these tools.

        :param allowed: names of tools, at their host or as the model sees them; with
            ``expand_tools`` among them, it folds. ``activate_skill`` allows all skills, and
            ``skill:NAME`` for one.
        :raises StartError: a name is neither a tool of this conversation, nor a meta-tool, nor a
            skill.
        """
    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """
        What this wire does not support or advises against: a list of dicts with code, severity,
        place, message, help.
        """
    @property
    def digest(self) -> str:
        """
        The digest of the array to send: SHA-256 as 64 hexadecimal digits.
        """
    def direct(
        self,
        name: str,
        arguments: str | bytes | Mapping[str, Any] | object | None = None,
    ) -> tuple[str, str] | None:
        """
        A call under the host's name of the tool that it runs: ``(name, arguments)``, the arguments
        as JSON text. None if the call already has that name, or no tool matches. Nothing is judged.

        The rules of a framework apply to names: rewrite ``call_tool`` before the framework's layers
        see the call, and send the model's original call in the next request.

        :param name: the name that the model wrote.
        :param arguments: as in ``call``. They are not read if the name alone decides.
        :raises InputError: the arguments cannot be written as JSON.
        """
    def entries(self) -> tuple[Entry, ...]:
        """
        The tools of the array in neutral form and the same order: a tuple of Entry. It is the same
        tuple until the array changes.
        """
    def explain(self) -> str:
        """
        The arm and its reason, in one sentence.
        """
    def follows(
        self,
        steps: Sequence[tuple[str, str, str | bytes | Mapping[str, Any] | None] | tuple[str, bool]],
    ) -> bool:
        """
        Whether this conversation made every call of a history. If so, the open tools are updated to
        those the history still shows; if not, nothing changes: create a conversation from the steps
        instead.

        :param steps: as in ``Engine.conversation``.
        :raises InputError: a step has neither format.
        """
    def fork(self) -> Conversation:
        """
        A copy of the conversation with its own id, which continues independently.
        """
    @property
    def id(self) -> str:
        """
        The host's id of the conversation; empty if it has none.
        """
    @property
    def model(self) -> str | None:
        """
        The model; None if the host did not name one.
        """
    @property
    def opened(self) -> tuple[str, ...]:
        """
        The names of the open tools, in catalog order: a tuple of str.
        """
    def pause(self, id: str) -> None:
        """
        Reports that the host paused a forwarded call, because the tool itself needs input, and will
        rebuild its message. The call is then forwarded again, although its approval was used.

        :param id: the id of the call: ``Forward.id``.
        :raises CallError: no call of that id is at the host.
        """
    @property
    def pending(self) -> tuple[str, ...]:
        """
        The ids of the pending approvals of this conversation: a tuple of str.
        """
    def redeliver(self) -> str | None:
        """
        The schemas of all open tools, as text for the model, after a compaction. None if none is
        open, or if the array contains them.
        """
    def redeliver_messages(self) -> list[Any]:
        """
        The messages that open everything again in the provider's own channel, under arm ``append``:
        a list of dicts in the wire's format; empty for other arms.
        """
    def reload_skills(self) -> bool:
        """
        Reads skills that have changed on disk; call it between turns. Returns whether the array may
        have changed. An active skill keeps its text until it is activated again.
        """
    def report_result(self, id: str, ok: bool = True, *, not_run: bool = False) -> None:
        """
        Reports the end of a forwarded call whose result the host wraps itself. Ignores other calls.

        :param id: the id of the call: ``Forward.id``.
        :param ok: whether the tool succeeded.
        :param not_run: whether the call never ran, its server being unavailable; overrides ``ok``.
        """
    def resume(self, approval: str) -> Reply | Forward | Confirm | Refuse:
        """
        Continues with the decision on a waiting call: Forward if it was approved, Reply if it was a
        skill, Confirm while it is pending, else Refuse.

        :param approval: the id of the approval: ``Confirm.approval``.
        :raises CallError: no call of this conversation waits under this id.
        """
    def seen(self, messages: str | bytes | Mapping[str, Any] | Sequence[Mapping[str, Any]] | object) -> None:
        """
        Updates which tools count as open from what the model can still see: tools that a compaction
        dropped are closed.

        :param messages: the messages of the next request in the wire's format, or the request
            itself. Objects of the provider's SDK may be among them.
        :raises WireError: they do not have the wire's format. Nothing has changed.
        :raises InputError: they cannot be written as JSON.
        """
    def seen_calls(self, ids: Sequence[str]) -> None:
        """
        ``seen`` for hosts whose messages are not in a wire's format.

        :param ids: the ids of the calls whose answers the model still sees in full.
        """
    def snapshot(self) -> bytes:
        """
        The state to store, as JSON in UTF-8. ``Engine.restore`` restores it.
        """
    def take_log(self) -> str:
        """
        The events since the log was last taken, as JSON lines, oldest first. Store them before
        acting on the outcome that they led to. ``Engine.replay`` restores the conversation from
        them.
        """
    def tokens(self) -> tuple[int | None, str]:
        """
        The cost of the array to send: ``(tokens, meter)`` as in ``toolfold.tokens``. tokens is None
        if the array contains something that cannot be counted offline.
        """
    def tools(self) -> list[Any]:
        """
        The array to send, as a new list of dicts in the wire's format.
        """
    def tools_json(self) -> str:
        """
        The array to send, as compact JSON text. The bytes stay the same until the array changes.
        """
    def turn(
        self,
        message: str | bytes | Mapping[str, Any] | Sequence[Mapping[str, Any]] | object,
        key: str | None = None,
    ) -> Turn:
        """
        Judges every call of an assistant message, in order.

        A repeated message is a resend: always if it has the same key, and without a key while one
        of its calls has not ended. Its calls get the same answers, stored results and approvals
        again; nothing runs twice.

        :param message: the message in the wire's format: a dict, a list, or an object of the
            provider's SDK; or JSON text, which keeps every digit.
        :param key: an id that is unique for each assistant message, such as ``msg_…``; None if it
            has none.
        :raises WireError: the message belongs to another API, is a whole response, or is malformed.
        :raises InputError: the message cannot be written as JSON.
        """
    @property
    def wire(self) -> str:
        """
        The API: openai-chat, openai-responses, anthropic, gemini, mcp or bedrock-converse.
        """

@final
class Engine:
    """
    Tools with their layers, created once and shared by every conversation.

    It never changes, threads may share it, and ``len`` is the number of its tools.

    :param tools: a list of tool dicts in any provider's format (OpenAI, Anthropic, MCP, Gemini),
        the same as JSON text, the path of a JSON file, or ``"excel"`` for the built-in tools with
        their own profile.
    :param profile: how tools are folded: None derives a profile from the tools, False disables
        folding; else a built-in name, a path, or TOML text.
    :param arm: how much is folded: ``"auto"`` or an arm's name (``toolfold report`` lists them).
    :param policy: which calls may run: a path, TOML text or ``"excel"``, or a list of these. None
        allows everything.
    :param skills: a folder of skills, or a list of folders.
    :param usual_skills: whether the skills that ``toolfold skills list`` finds in the usual places
        are offered too: those of the project, from the working directory up, and of the user.
    :param skill_scripts: whether each skill is a tool ``skill:NAME``: ``run_script`` runs the
        script of a skill in a sandbox, and a call for a skill without a script activates it.
        Requires a policy and a file for approvals.
    :param honour_allowed_tools: whether the ``allowed-tools`` of a trusted skill approve calls in
        advance while it is active. Denies and the rules that ask remain.
    :param approvals: where calls wait for approval: an Approver, or the path of its file. None
        stores them in memory, where they cannot be decided.
    :raises LoadError: tools, profile or policy cannot be used; it prints every diagnostic.
    :raises InputError: a file cannot be read, a value has the wrong type, or the arm is unknown.
    :raises ApprovalError: the file for approvals cannot be opened, or is not a store.
    """
    def __copy__(self) -> Engine:
        """
        Itself: it can be shared.
        """
    def __deepcopy__(self, memo: object) -> Engine:
        """
        Itself: it can be shared.
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
        usual_skills: bool = False,
        skill_scripts: bool = False,
        honour_allowed_tools: bool = False,
    ) -> Engine: ...
    def __reduce__(self) -> NoReturn: ...
    def __repr__(self) -> str: ...
    @property
    def arm(self) -> str:
        """
        The default arm of its conversations.
        """
    def conversation(
        self,
        wire: str = "openai-chat",
        model: str | None = None,
        id: str | None = None,
        *,
        arm: str | None = None,
        history: str | bytes | Mapping[str, Any] | Sequence[Mapping[str, Any]] | object | None = None,
        steps: Sequence[tuple[str, str, str | bytes | Mapping[str, Any] | None] | tuple[str, bool]] | None = None,
        without: Sequence[str] | None = None,
    ) -> Conversation:
        """
        A conversation with a model. Its wire, model and arm never change.

        :param wire: the API: openai-chat, openai-responses, anthropic, gemini, mcp or
            bedrock-converse.
        :param model: the model, which determines supported features; None if unknown.
        :param id: the host's id of the conversation. Approvals are bound to it: set one if a policy
            requires approvals.
        :param arm: another arm than the engine's.
        :param history: the messages so far in the wire's format (a list, the request that contains
            it, or JSON text), with or without objects of the provider's SDK: the tools that they
            opened are open.
        :param steps: the same for hosts whose messages are not in a wire's format, oldest first: a
            tuple ``(id, name, arguments)`` for a call, ``(id, ok)`` for its answer.
        :param without: the deliveries that the host does not support: in_place, in_result, bridge,
            native, append. An arm with such a delivery is an error, and ``auto`` chooses among the
            others.
        :raises StartError: the arm is not available.
        :raises WireError: the history does not have the wire's format.
        :raises InputError: wire or arm is unknown, history or arguments cannot be written as JSON,
            a step has neither format, or both history and steps are given.
        """
    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """
        Notes from building the engine: a list of dicts with code, severity, place, message, help.
        """
    @staticmethod
    def from_functions(
        functions: Iterable[Callable[..., Any]],
        profile: str | bytes | PathLike[str] | bool | None = None,
        arm: str = "auto",
        policy: str | bytes | PathLike[str] | Sequence[str | bytes | PathLike[str]] | None = None,
        skills: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
        *,
        approvals: Approver | str | PathLike[str] | None = None,
        usual_skills: bool = False,
        skill_scripts: bool = False,
        honour_allowed_tools: bool = False,
    ) -> Engine:
        """
        The engine of plain functions: a function's name, signature, annotations and docstring are
        its definition. ``toolfold.functions.runner`` runs them.

        :param functions: the functions.
        :raises InputError: a function cannot be a tool: it has no name, or a parameter has no name
            or no JSON Schema.
        """
    @property
    def names(self) -> tuple[str, ...]:
        """
        The tools' names at their host, without the tools that policy always denies: a tuple of str.
        """
    def replay(self, log: str) -> Conversation:
        """
        The conversation of a log: the lines of ``Conversation.take_log``, one after the other.

        :param log: JSON lines, or a JSON array of records.
        :raises RestoreError: records are missing, mixed, or have another version.
        """
    def report(self, wire: str = "openai-chat", model: str | None = None) -> list[dict[str, Any]]:
        """
        The cost of the tools of the first request in each arm: a list of dicts with arm, takes (the
        arm that the conversation gets), tokens, meter, bytes (of the array as compact JSON) and
        tools (their number).

        Arms that the wire or the model does not support are omitted. ``tokens`` is None if the
        array contains something that cannot be counted offline; ``meter`` is as in
        ``toolfold.tokens``.

        :param wire: the API: openai-chat, openai-responses, anthropic, gemini, mcp or
            bedrock-converse.
        :param model: the model; None for a common one of that API.
        :raises InputError: the wire is unknown.
        """
    def restore(self, snapshot: str | bytes | Mapping[str, Any]) -> Conversation:
        """
        The conversation of a snapshot.

        :param snapshot: the result of ``Conversation.snapshot``, or the same as a dict.
        :raises RestoreError: it is not a snapshot, or does not match this engine.
        :raises InputError: it cannot be written as JSON.
        """
    def run_script(self, call: Forward) -> tuple[str, bool]:
        """
        Runs the script of a permitted call, one of ``scripts``, and waits until it has ended. Pass
        the result to ``Turn.finish`` or ``Conversation.answer``.

        :param call: the call to run.
        :returns: the text for the model, JSON as ``toolfold skills run --json`` prints it, and
            whether the script failed: a tuple of str and bool.
        :raises CallError: the call runs no script.
        """
    @property
    def scripts(self) -> tuple[str, ...]:
        """
        The tools that run scripts of skills, by their names at the host: a tuple of str.
        """
    def with_tools(
        self,
        tools: str | bytes | PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]],
    ) -> Engine:
        """
        The same settings for other tools. Policy, its store and skills are not loaded again.

        :param tools: as in ``Engine``.
        :raises LoadError: the tools have errors, or the profile does not match them.
        :raises InputError: a file cannot be read, or the value has the wrong type.
        """

@final
class Entry:
    """
    A tool as the model is shown it, for frameworks that write the request themselves.

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
        Whether the provider keeps it out of the prompt until it is found.
        """
    @property
    def description(self) -> str:
        """
        The description at its detail; empty if there is none.
        """
    @property
    def detail(self) -> Literal["full", "signature", "outline", "required", "summary", "index", "search"]:
        """
        The detail of the tool: full, signature, outline, required, summary, index or search.
        """
    @property
    def name(self) -> str:
        """
        The name under which the model sees the tool.
        """
    @property
    def own(self) -> bool:
        """
        Whether it is one of toolfold's meta-tools, such as ``expand_tools``, which no host runs.
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
        Whether the provider must enforce the schema. Never set on a folded tool.
        """

@final
class Forward:
    """
    A call to run: ``target`` with ``arguments``, which match its schema. Then pass the result
    to ``Conversation.answer``, or report it with ``Conversation.report_result``.
    """
    __match_args__: Final[tuple[Literal["target"], Literal["arguments"]]]
    def __copy__(self) -> Forward:
        """
        Itself: it never changes.
        """
    def __deepcopy__(self, memo: object) -> Forward:
        """
        Itself: it never changes.
        """
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """
        Pickles it, so that another process can read it. Its conversation is not part of it.
        """
    def __repr__(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]:
        """
        The arguments to run it with, as a new dict. Integers keep every digit.

        :raises InputError: an integer has more digits than Python reads
            (``sys.set_int_max_str_digits``).
        """
    @property
    def arguments_json(self) -> str:
        """
        The same as JSON text, as the model wrote it.
        """
    @property
    def arm(self) -> str:
        """
        The arm of the conversation.
        """
    @property
    def coerced(self) -> tuple[str, ...]:
        """
        What was corrected in the arguments: a tuple of lines.
        """
    @property
    def id(self) -> str:
        """
        The id of the call.
        """
    @property
    def name(self) -> str:
        """
        The name that the model wrote.
        """
    @property
    def note(self) -> str | None:
        """
        A line for the model to read before the result; None if there is none.
        ``Conversation.answer`` inserts it. Frameworks that wrap results themselves use
        ``noted``.
        """
    def noted(self, result: str) -> str:
        """
        A result as text, with the note before it, if there is one.
        """
    @property
    def policy(self) -> Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"]:
        """
        The policy's decision: off, not_asked, allow, allow_audited, confirm or deny.
        """
    @property
    def reason(self) -> str | None:
        """
        The policy's reason for allowing it; None if it has none.
        """
    @property
    def target(self) -> str:
        """
        The tool's name at its host: never ``call_tool``.
        """
    @property
    def unchecked(self) -> str | None:
        """
        Why the arguments were not checked against the schema; None if they were.
        """

@final
class OpenedTool:
    """
    A tool whose full schema an answer contains, for hosts with an append channel.
    """
    __match_args__: Final[tuple[Literal["name"], Literal["description"], Literal["parameters"]]]
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def description(self) -> str:
        """
        The full description.
        """
    @property
    def name(self) -> str:
        """
        The name under which the model sees the tool.
        """
    @property
    def parameters(self) -> dict[str, Any]:
        """
        The full JSON Schema of the arguments, as a new dict.
        """

@final
class Refuse:
    """
    A call that may not run: send ``content`` as its result.
    """
    __match_args__: Final[tuple[Literal["content"]]]
    def __copy__(self) -> Refuse:
        """
        Itself: it never changes.
        """
    def __deepcopy__(self, memo: object) -> Refuse:
        """
        Itself: it never changes.
        """
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """
        Pickles it, so that another process can read it. Its conversation is not part of it.
        """
    def __repr__(self) -> str: ...
    @property
    def arm(self) -> str:
        """
        The arm of the conversation.
        """
    @property
    def coerced(self) -> tuple[str, ...]:
        """
        What was corrected in the arguments: a tuple of lines.
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
    def messages(self) -> list[Any]:
        """
        ``content`` as messages of the wire, to append to the request: a list of dicts.
        """
    @property
    def name(self) -> str:
        """
        The name that the model wrote.
        """
    @property
    def policy(self) -> Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"]:
        """
        The policy's decision: off, not_asked, allow, allow_audited, confirm or deny.
        """
    @property
    def reason(self) -> str:
        """
        The reason, for the host.
        """
    @property
    def target(self) -> str:
        """
        The tool's name at its host.
        """

@final
class Reply:
    """
    An answer of the conversation itself: send ``content`` as the result of the call.
    """
    __match_args__: Final[tuple[Literal["content"], Literal["is_error"]]]
    def __copy__(self) -> Reply:
        """
        Itself: it never changes.
        """
    def __deepcopy__(self, memo: object) -> Reply:
        """
        Itself: it never changes.
        """
    __hash__: None  # type: ignore[assignment]
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """
        Pickles it, so that another process can read it. Its conversation is not part of it.
        """
    def __repr__(self) -> str: ...
    @property
    def arm(self) -> str:
        """
        The arm of the conversation.
        """
    @property
    def coerced(self) -> tuple[str, ...]:
        """
        What was corrected in the arguments: a tuple of lines.
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
        Whether to report the call to the model as failed.
        """
    @property
    def kind(self) -> Literal["expanded", "activated", "invalid", "shown", "unknown_tool", "loop", "finished"]:
        """
        The reason of the answer: expanded, activated, invalid, shown, unknown_tool, loop or
        finished.
        """
    @property
    def messages(self) -> list[Any]:
        """
        ``content`` as messages of the wire, to append to the request: a list of dicts.
        """
    @property
    def name(self) -> str:
        """
        The name that the model wrote.
        """
    @property
    def opened(self) -> tuple[OpenedTool, ...]:
        """
        The tools whose full schemas this answer contains, in catalog order: a tuple of
        OpenedTool.
        """
    @property
    def policy(self) -> Literal["off", "not_asked", "allow", "allow_audited", "confirm", "deny"]:
        """
        The policy's decision: off, not_asked, allow, allow_audited, confirm or deny.
        """
    @property
    def target(self) -> str | None:
        """
        The tool's name at its host; None if there is no such tool.
        """

@final
class Turn:
    """
    The calls of one assistant message, judged in order when it was created. ``Conversation.turn``
    creates one.

    ``messages`` ends it: afterwards every method raises CallError.
    """
    def __len__(self) -> int:
        """
        The number of calls in the message. With none, the model has ended its turn.
        """
    def __reduce__(self) -> NoReturn: ...
    def finish(self, id: str, result: str, is_error: bool = False) -> None:
        """
        Stores the result of a call that was run.

        :param id: the id of the call: ``Forward.id``.
        :param result: the tool's result, as text for the model.
        :param is_error: whether the tool failed.
        :raises CallError: this turn has no such call to run, the call already has a result, or the
            turn has ended.
        """
    @property
    def message(self) -> dict[str, Any] | list[dict[str, Any]]:
        """
        The assistant message for the history, before ``messages()``: a dict or a list. It is the
        given message unless the provider would refuse it in later requests: missing, repeated and
        refused ids, arguments that are not a JSON object, and names outside the wire's alphabet are
        replaced.

        :raises CallError: the turn has ended.
        """
    def messages(self) -> list[Any]:
        """
        The messages to append after the assistant message: one answer per call, as a list of dicts
        in the wire's format. It ends the turn: a call that still waits is answered with its
        approval, a call without a result as failed.

        :raises CallError: the turn has ended.
        """
    @property
    def outcomes(self) -> tuple[Reply | Forward | Confirm | Refuse, ...]:
        """
        The outcome of each call, in the model's order: a tuple of Reply, Forward, Confirm and
        Refuse.

        :raises CallError: the turn has ended.
        """
    def resume(self, approval: str) -> Reply | Forward | Confirm | Refuse:
        """
        Continues with the decision on a waiting call. An approved call becomes runnable.

        :param approval: the id of the approval: ``Confirm.approval``.
        :returns: Forward, Reply if it was a skill, Confirm while it is pending, or Refuse.
        :raises CallError: no call waits under this id, or the turn has ended.
        """
    @property
    def runnable(self) -> tuple[Forward, ...]:
        """
        The calls to run that have no result yet: a tuple of Forward.

        :raises CallError: the turn has ended.
        """
    @property
    def waiting(self) -> tuple[Confirm, ...]:
        """
        The calls that wait for approval: a tuple of Confirm.

        :raises CallError: the turn has ended.
        """

def restore_outcome(text: str) -> Reply | Forward | Confirm | Refuse:
    """
    Reads an outcome that was pickled: ``pickle`` calls it.

    :param text: what pickle stored.
    :raises RestoreError: it is not an outcome of this version.
    """

def run_command(arguments: Sequence[str]) -> int:
    """
    Runs the ``toolfold`` command. It prints to the output of this process.

    :param arguments: the arguments of the command line, the program's name first.
    :returns: the exit code: 0 ok, 1 invalid input or a failed check, 2 usage, 3 not measurable.
    """

def tokens(
    tools: str | bytes | Sequence[Mapping[str, Any]],
    wire: str = "openai-chat",
    model: str | None = None,
) -> tuple[int | None, str]:
    """
    Counts the tokens of a tool array as it is sent: ``(tokens, meter)``.

    :param tools: the array, as a list of dicts or JSON text.
    :param wire: the API: openai-chat, openai-responses, anthropic, gemini, mcp or
        bedrock-converse.
    :param model: the model; None for a common one of that API.
    :returns: tokens is None if the array contains something that cannot be counted offline. The
        meter names the method: ``billed:…`` is exact, ``estimate:…`` is not, ``json/…`` is the text
        itself.
    :raises InputError: the array is not a JSON array, or the wire is unknown.
    """
