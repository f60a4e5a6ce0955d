//! What the gate says of a call.

use serde::Serialize;
use serde_json::Value;

use crate::name::ToolName;
use crate::policy::Displayed;
use crate::profile::{Arm, Words};
use crate::skill::Activation;

/// What to do with a call. Exhaustive on purpose: a host handles every case.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Answered here: send `content` as the call's result.
    Reply(Reply),
    /// Run the tool, send its result, and tell the session with [`Session::finished`](super::Session::finished).
    Forward(Forward),
    /// Waits for a person: show it, then call [`Session::accept`](super::Session::accept) or
    /// [`Session::reject`](super::Session::reject).
    Confirm(Confirm),
    /// Not allowed: send `content` as the call's result.
    Refuse(Refusal),
}

/// Whether layer 3 had a say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMark {
    /// No policy is loaded: everything is allowed, and this says so.
    Off,
    /// The call never came before it: it was answered here.
    NotAsked,
    /// Allowed.
    Allow,
    /// Allowed, with a record written before it runs.
    AllowAudited,
    /// A person is asked, or has said yes.
    Confirm,
    /// Denied.
    Deny,
}

/// What every outcome records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Context {
    /// The session's arm.
    pub arm: Arm,
    /// The variant of the experiment that chose it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What layer 3 said.
    pub policy: PolicyMark,
    /// Why, in policy's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why a call was answered here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyKind {
    /// `expand_tools` was answered.
    Expanded,
    /// `activate_skill` was answered.
    Activated,
    /// The arguments do not fit the tool's schema; the answer says where, and brings the schema.
    Invalid,
    /// There is no such tool; the answer names the nearest.
    UnknownTool,
    /// The model went in circles; the answer says so.
    Loop,
}

/// An answer that the session gives by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reply {
    /// The call.
    pub id: String,
    /// The tool that was meant: the real one, never `call_tool`. Nothing if there is none of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Why it was answered here.
    pub kind: ReplyKind,
    /// The text for the model.
    pub content: Words,
    /// The tools whose whole schemas this answer opens, in catalogue order.
    pub expanded: Vec<ToolName>,
    /// The tools that the answer is about, opened now or before: what a wire with native deferral refers to.
    #[serde(skip)]
    pub mentioned: Vec<ToolName>,
    /// Whether the model should be told that its call failed.
    pub is_error: bool,
    /// What the host keeps of an activated skill: messages, wishes, hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation: Option<Box<Activation>>,
    /// Arm, variant, policy.
    pub context: Context,
}

/// A call for the host to run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forward {
    /// The call.
    pub id: String,
    /// The tool to run: the real one, never `call_tool`.
    pub target: ToolName,
    /// The arguments, which fit the tool's schema.
    pub arguments: Value,
    /// Why the arguments were not checked against the schema, if they were not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<&'static str>,
    /// Arm, variant, policy.
    pub context: Context,
}

/// A call that a person must see first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confirm {
    /// The call.
    pub id: String,
    /// The approval that waits.
    pub approval: String,
    /// The tool that would run: the real one, never `call_tool`.
    pub target: ToolName,
    /// The arguments that would run, and no others.
    pub arguments: Value,
    /// What to show the person: target, canonical arguments, effects, undo, why.
    pub shown: Displayed,
    /// Why a person is asked.
    pub reason: String,
    /// Arm, variant, policy.
    pub context: Context,
}

/// A call that may not run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// The call.
    pub id: String,
    /// The tool that was meant.
    pub target: ToolName,
    /// The text for the model.
    pub content: Words,
    /// Why, for the host.
    pub reason: String,
    /// Arm, variant, policy.
    pub context: Context,
}

impl Outcome {
    /// The id of the call it answers.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Reply(reply) => &reply.id,
            Self::Forward(forward) => &forward.id,
            Self::Confirm(confirm) => &confirm.id,
            Self::Refuse(refusal) => &refusal.id,
        }
    }

    /// Arm, variant and what policy said.
    #[must_use]
    pub fn context(&self) -> &Context {
        match self {
            Self::Reply(reply) => &reply.context,
            Self::Forward(forward) => &forward.context,
            Self::Confirm(confirm) => &confirm.context,
            Self::Refuse(refusal) => &refusal.context,
        }
    }

    /// The text for the model, unless the host has to make it.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        match self {
            Self::Reply(reply) => Some(&reply.content),
            Self::Refuse(refusal) => Some(&refusal.content),
            Self::Forward(_) | Self::Confirm(_) => None,
        }
    }
}
