//! The log of a conversation: what happened, as data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::facts::is_default;
use super::{Answer, ApprovalId, CallId, CallIdentity, ForwardNotes, State};
use crate::name::{CategoryName, ToolName};
use crate::policy::CallUndo;
use crate::profile::Arm;
use crate::skill::ActiveSkill;
use crate::wire::{Limits, RenderOptions, Wire};

/// The form of log records and snapshots that this version writes.
pub const LOG_VERSION: u32 = 3;

/// The oldest form of log records and snapshots that this version reads: calls of form 2 are in no numbered message.
pub const OLDEST_LOG_VERSION: u32 = 2;

/// Something that happened in a conversation. A log of them is the conversation, as far as toolfold is concerned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
#[non_exhaustive]
pub enum Event {
    /// It began, with everything that was chosen for its whole life.
    Started {
        /// The wire.
        wire: Wire,
        /// The model, if the host named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The arm.
        #[serde(serialize_with = "crate::profile::serialize_whole")]
        arm: Arm,
        /// Why that arm.
        reason: String,
        /// Choices in how the wire writes the array.
        #[serde(default, skip_serializing_if = "is_default")]
        options: RenderOptions,
        /// What the provider refuses, where a host said otherwise than [`Limits::of`]: names depend on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limits: Option<Box<Limits>>,
        /// The tools a sub-agent was given, by their names in the catalogue; `None` if it has all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed: Option<Vec<String>>,
    },
    /// It began as a fork, with everything that its parent knew.
    Forked {
        /// What the parent knew.
        state: Box<State>,
    },
    /// The model was shown an array.
    Presented {
        /// SHA-256 of the array.
        digest: String,
    },
    /// The host counted the array that was shown last.
    Counted {
        /// What counted it, in the spelling of the command line's `--meter`.
        meter: String,
        /// Its tokens.
        tokens: usize,
    },
    /// The model called.
    Called {
        /// The call, by an id that no other call of the conversation has. Other events refer to it.
        id: CallId,
        /// Its message, and its label there.
        #[serde(flatten)]
        identity: CallIdentity,
        /// The name by which the model made it.
        name: String,
        /// The real target in the catalogue's name, or the name as written if there is none.
        target: String,
        /// SHA-256 of target and arguments.
        digest: String,
        /// Whether it was a meta-tool.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        meta: bool,
        /// Whether there is no such tool.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unknown: bool,
    },
    /// An answer opened schemas.
    Expanded {
        /// The call that was answered; `None` where the host opened them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<CallId>,
        /// Whole categories.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        categories: Vec<CategoryName>,
        /// Single tools.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ToolName>,
    },
    /// Calls come from models that cannot be told apart: answers are whole, and circles are not counted.
    Shared {},
    /// The answers to these calls left the model's sight: what they opened is closed again.
    Dropped {
        /// The calls.
        calls: Vec<CallId>,
    },
    /// A skill was activated.
    Activated {
        /// The call.
        by: CallId,
        /// The skill's name.
        name: String,
        /// What of it is active.
        skill: ActiveSkill,
    },
    /// A person approved a skill that asks first.
    SkillApproved {
        /// Its name.
        name: String,
    },
    /// The call waits for a person.
    Asked {
        /// The call.
        id: CallId,
        /// The approval.
        approval: ApprovalId,
        /// Why a person is asked.
        reason: String,
    },
    /// A person approved, and the stored call runs.
    Resumed {
        /// The call that runs: the one that asked, or a later one that is the same.
        id: CallId,
        /// The approval.
        approval: ApprovalId,
        /// How it can be undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<CallUndo>,
    },
    /// The call will not run: a person said no, or the approval is void.
    Rejected {
        /// The approval.
        approval: ApprovalId,
        /// What the model is told.
        content: Arc<str>,
        /// Why, for the host.
        reason: String,
        /// Whether a person said no.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_person: bool,
    },
    /// An approval expired before its call ran: a call that waits for it is judged anew when it comes again.
    Expired {
        /// The approval.
        approval: ApprovalId,
    },
    /// The call was answered here.
    Answered {
        /// The call.
        id: CallId,
        /// The answer.
        #[serde(flatten)]
        answer: Answer,
    },
    /// The call went to the host.
    Forwarded {
        /// The call.
        id: CallId,
        /// The check of its arguments, policy's decision and its undo.
        #[serde(flatten)]
        notes: ForwardNotes,
    },
    /// The call may not run.
    Refused {
        /// The call.
        id: CallId,
        /// What the model is told.
        content: Arc<str>,
        /// Why, for the host.
        reason: String,
    },
    /// The host ran it.
    Finished {
        /// The call.
        id: CallId,
        /// Whether it succeeded.
        ok: bool,
        /// SHA-256 of the result's text, in hexadecimal digits; absent if the host wraps results itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// The text, where the host has results logged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Arc<str>>,
    },
    /// A second conversation began here: a fork, or a sub-agent's.
    Branched {
        /// Its id.
        conversation: String,
    },
}

/// One line of a log: an event with what tells it apart from those of other conversations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogRecord {
    /// The form of the record; [`LOG_VERSION`].
    pub v: u32,
    /// The host's id of the conversation; empty if it gave none.
    pub conversation: String,
    /// The event's place in its conversation, counted from 0.
    pub seq: u64,
    /// When it was taken from the conversation, in milliseconds since 1970, as the host says.
    pub at_ms: i64,
    /// The variant of the experiment that the conversation is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}
