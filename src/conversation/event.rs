//! The log of a conversation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::facts::is_default;
use super::{Answer, ApprovalId, CallId, CallIdentity, ForwardNotes, State};
use crate::name::{CategoryName, ToolName};
use crate::policy::CallUndo;
use crate::profile::Arm;
use crate::skill::{ActiveSkill, Caller};
use crate::wire::{Limits, RenderOptions, Wire};

/// The format version of the log records and snapshots that this version writes.
pub const LOG_VERSION: u32 = 3;

/// The oldest supported format version of log records and snapshots. Format 2 does not number
/// messages.
pub const OLDEST_LOG_VERSION: u32 = 2;

/// An event in a conversation. The log of events determines the whole state of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
#[non_exhaustive]
pub enum Event {
    /// The conversation started, with settings for its whole life.
    Started {
        /// The wire.
        wire: Wire,
        /// The model, if the host named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The arm.
        #[serde(serialize_with = "crate::profile::serialize_whole")]
        arm: Arm,
        /// The reason for the arm.
        reason: String,
        /// Options for how the wire writes the array.
        #[serde(default, skip_serializing_if = "is_default")]
        options: RenderOptions,
        /// The provider's limits if the host overrides the built-in ones; names depend on them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limits: Option<Box<Limits>>,
        /// A sub-agent's tools by their catalog names; `None` if it has all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed: Option<Vec<String>>,
    },
    /// The conversation started as a fork with its parent's state.
    Forked {
        /// The parent's state.
        state: Box<State>,
    },
    /// An array was shown to the model.
    Presented {
        /// SHA-256 of the array.
        digest: String,
    },
    /// The host counted the tokens of the array that was last shown.
    Counted {
        /// What counted them, as `--meter` of the command line names it.
        meter: String,
        /// The number of tokens.
        tokens: usize,
    },
    /// The model made a call.
    Called {
        /// The call, by an id that is unique in the conversation. Other events refer to it.
        id: CallId,
        /// The call's message and its label there.
        #[serde(flatten)]
        identity: CallIdentity,
        /// The name that the model wrote.
        name: String,
        /// The catalog name of the target, or the name as written if the tool is unknown.
        target: String,
        /// SHA-256 of target and arguments.
        digest: String,
        /// Whether a meta-tool was called.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        meta: bool,
        /// Whether the tool is unknown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unknown: bool,
    },
    /// An answer opened schemas.
    Expanded {
        /// The answered call; `None` if the host opened them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<CallId>,
        /// Opened categories.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        categories: Vec<CategoryName>,
        /// Opened single tools.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ToolName>,
    },
    /// The calls come from several indistinguishable models: lookups are answered in full, and
    /// loops are not counted.
    Shared {},
    /// The answers to these calls are no longer visible to the model, so what they opened is
    /// closed.
    Dropped {
        /// The calls.
        calls: Vec<CallId>,
    },
    /// A skill was activated.
    Activated {
        /// The call; `None` if a person started the skill.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<CallId>,
        /// Who activated it.
        #[serde(default, skip_serializing_if = "is_default")]
        caller: Caller,
        /// The skill's name.
        name: String,
        /// The active content of the skill.
        skill: ActiveSkill,
    },
    /// A skill that requires approval was approved.
    SkillApproved {
        /// The skill's name.
        name: String,
    },
    /// The call waits for approval.
    Asked {
        /// The call.
        id: CallId,
        /// The approval.
        approval: ApprovalId,
        /// Why approval is required.
        reason: String,
    },
    /// The call was approved and runs.
    Resumed {
        /// The call that runs: the one that requested approval, or a later identical one.
        id: CallId,
        /// The approval.
        approval: ApprovalId,
        /// How the call can be undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<CallUndo>,
    },
    /// The call will not run: it was rejected, or its approval is void.
    Rejected {
        /// The approval.
        approval: ApprovalId,
        /// The text for the model.
        content: Arc<str>,
        /// The reason, for the host.
        reason: String,
        /// Whether a person rejected it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_person: bool,
    },
    /// An approval expired before its call ran. A call that waits for it is judged again when it is
    /// repeated.
    Expired {
        /// The approval.
        approval: ApprovalId,
    },
    /// The conversation answered the call itself.
    Answered {
        /// The call.
        id: CallId,
        /// The answer.
        #[serde(flatten)]
        answer: Answer,
    },
    /// The call was forwarded to the host.
    Forwarded {
        /// The call.
        id: CallId,
        /// The check of its arguments, the policy decision and its undo.
        #[serde(flatten)]
        notes: ForwardNotes,
    },
    /// The call was refused.
    Refused {
        /// The call.
        id: CallId,
        /// The text for the model.
        content: Arc<str>,
        /// The reason, for the host.
        reason: String,
    },
    /// The host ran the call.
    Finished {
        /// The call.
        id: CallId,
        /// Whether it succeeded.
        ok: bool,
        /// Whether it never ran, because its server was unavailable. It has not succeeded either.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        not_run: bool,
        /// SHA-256 of the result's text in hexadecimal digits; absent if the host wraps results
        /// itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// The text of the result, if the host logs results.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Arc<str>>,
    },
    /// Another conversation branched off: a fork or a sub-agent's.
    Branched {
        /// Its id.
        conversation: String,
    },
}

/// One line of a log: an event and its conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogRecord {
    /// The format version of the record; [`LOG_VERSION`].
    pub v: u32,
    /// The host's id of the conversation; empty if the host set none.
    pub conversation: String,
    /// The index of the event in its conversation.
    pub seq: u64,
    /// When the event was taken from the conversation, in milliseconds since 1970, by the host's
    /// clock.
    pub at_ms: i64,
    /// The experiment variant of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}
