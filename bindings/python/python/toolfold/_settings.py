"""The settings of an adapter: one frozen dataclass, checked when it is created."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypedDict, TypeVar

from . import Approver, Engine, InputError, LoadError, StartError

Source: TypeAlias = str | os.PathLike[str]
#: The arms that every framework supports: the array never changes, and each tool has its own name.
CommonArm: TypeAlias = Literal["auto", "full", "stable", "signature", "outline", "lean", "kept"]
#: The arms whose tools are called through ``call_tool``.
BridgeArm: TypeAlias = Literal["index", "search"]
#: The arms, as ``toolfold report`` lists them. ``Settings`` of each adapter has the type of those that its framework supports.
Arm: TypeAlias = Literal[CommonArm, BridgeArm, "seed", "native", "append"]
#: The APIs of providers.
Wire: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "mcp", "bedrock-converse"]

#: The deliveries that some frameworks do not support.
DELIVERIES = {"seed": "in_place", "index": "bridge", "search": "bridge", "native": "native", "append": "append"}
#: A tool for checking settings before the agent's own tools are known.
_PROBE = {"name": "probe", "description": "", "input_schema": {"type": "object", "properties": {}}}

_Own = TypeVar("_Own", bound="Settings")
_Arm = TypeVar("_Arm")


@dataclass(frozen=True)
class Settings:
    """The settings of an adapter. Files are read once when it is created, so that an error does not wait for the first run.

    :param arm, profile, policy, skills, usual_skills: as for ``toolfold.Engine``.
    :param approvals: an ``Approver``, or the path of its file; None stores approvals in memory. The framework is the
        user interface here: the decisions of its user use this handle.
    :param wire, model: as for ``Engine.conversation``.
    :raises InputError: an arm or a wire is unknown, or a file cannot be read.
    :raises LoadError: a profile, a policy or a skill has errors.
    :raises StartError: the wire, the model or the framework does not support the arm.
    """

    #: The deliveries that the framework does not support, each with a sentence that names the missing hook.
    WITHOUT: ClassVar[Mapping[str, str]] = {}
    #: The deliveries that the framework supports on some wires only.
    WIRES: ClassVar[Mapping[str, tuple[Wire, ...]]] = {}
    #: The deliveries that ``auto`` does not use, because the framework's model may have another API than the settings.
    NOT_AUTO: ClassVar[tuple[str, ...]] = ()

    arm: Arm = "auto"
    profile: Source | bool | None = None
    policy: Source | Sequence[Source] | None = None
    skills: Source | Sequence[Source] | None = None
    usual_skills: bool = False
    approvals: Approver | Source | None = None
    wire: Wire = "openai-chat"
    model: str | None = None

    def __post_init__(self) -> None:
        probe = Engine([_PROBE], arm=self.arm, policy=self.policy, skills=self.skills, usual_skills=self.usual_skills)
        without = self.without()
        carried(self.arm, without)
        probe.conversation(self.wire, self.model, without=list(without))
        try:
            Engine([_PROBE], self.profile)
        except LoadError as why:
            # A profile names tools that the probe does not have.
            if any(one["severity"] == "error" and one["code"] != "unknown-tool" for one in why.diagnostics):
                raise

    def without(self) -> dict[str, str]:
        """Returns the deliveries that the framework does not support on this wire, each with the reason."""
        elsewhere = {name: wires for name, wires in self.WIRES.items() if self.wire not in wires}
        reasons = {name: f"the framework supports it on wire {' and '.join(wires)} only" for name, wires in elsewhere.items()}
        if self.arm == "auto":
            reasons |= dict.fromkeys(self.NOT_AUTO, "arm auto does not use it in this framework")
        return {**reasons, **self.WITHOUT}

    @classmethod
    def of(cls: type[_Own], settings: Settings | None, fields: Mapping[str, object]) -> _Own:
        """Returns the settings that an adapter was given, or makes them from its keywords."""
        if settings is None:
            members: dict[str, Any] = {**fields}
            return cls(**members)
        if fields or not isinstance(settings, cls):
            raise InputError(f"give either {cls.__module__}.{cls.__name__}(…) or its members as keywords")
        return settings


def carried(arm: str, without: Mapping[str, str]) -> None:
    """Compares an arm with the deliveries that a framework, or an agent in it, does not support.

    :param without: the reason for each of these deliveries.

    :raises StartError: the arm needs one of them.
    """
    needed = DELIVERIES.get(arm)
    if needed is not None and needed in without:
        raise StartError(f"arm {arm} is not available here: {without[needed]}; use arm auto, stable or full")


if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack

    class Fields(TypedDict, Generic[_Arm], total=False):
        """The members of ``Settings`` as keywords of an adapter that supports these arms."""

        arm: _Arm
        profile: Source | bool | None
        policy: Source | Sequence[Source] | None
        skills: Source | Sequence[Source] | None
        usual_skills: bool
        approvals: Approver | Source | None
        wire: Wire
        model: str | None
else:
    # Python 3.10 has no generic TypedDict.
    Unpack: Any = None
    Fields: Any = None
