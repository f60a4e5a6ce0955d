//! The outcomes of calls.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, ApprovalId, CallId, ForwardNotes};
use crate::name::ToolName;
use crate::policy::Displayed;
use crate::profile::Arm;
use crate::skill::Activation;
use crate::wire::{Answered, Wire};

/// What to do with a call. Exhaustive, so that a host handles every case.
///
/// Serializes without [`Reply::activation`], so that a host can pass an outcome to another process.
/// The conversation itself is stored as its snapshot or its log.
#[allow(clippy::large_enum_variant, reason = "one lives at a time, for as long as a call is judged")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Answered here: send the content of [`Reply::answer`] as the call's result, or append
    /// [`Outcome::into_messages`].
    Reply(Reply),
    /// Run the tool, then pass its result to [`Conversation::answer`](super::Conversation::answer),
    /// or report it with [`Conversation::report_result`](super::Conversation::report_result).
    Forward(Forward),
    /// Requires approval: show it to a person. Once it is approved,
    /// [`Conversation::resume`](super::Conversation::resume) runs it.
    Confirm(Confirm),
    /// Not allowed: send [`Refuse::content`] as the call's result, or append
    /// [`Outcome::into_messages`].
    Refuse(Refuse),
}

/// The outcome of resuming a call that waited for approval.
#[allow(clippy::large_enum_variant, reason = "one lives at a time, for as long as a call is judged")]
#[derive(Debug, Clone, PartialEq)]
pub enum Resumed {
    /// Approved: run it.
    Run(Forward),
    /// Approved and answered here: a skill was activated.
    Answered(Reply),
    /// No decision yet, or the store cannot be written now.
    Waiting(Confirm),
    /// The call will not run: it was rejected, its approval has expired, or policy, tool or paths
    /// have changed.
    Refused(Refuse),
}

/// The policy's part in an outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PolicyMark {
    /// No policy is loaded: everything is allowed.
    #[default]
    Off,
    /// The call was answered here and policy was not evaluated.
    NotAsked,
    /// Allowed.
    Allow,
    /// Allowed, with an audit record written before it runs.
    AllowAudited,
    /// Requires approval, or was approved.
    Confirm,
    /// Denied.
    Deny,
}

/// What every outcome contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Context {
    /// The conversation's arm.
    pub arm: Arm,
    /// The experiment variant that chose the arm, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The policy decision.
    pub policy: PolicyMark,
    /// The reason for the policy decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The corrections of name and arguments, one line each: what runs differs from what the model
    /// wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coerced: Vec<String>,
}

/// A [`Context`] in a stored outcome: a user-defined arm is an object with its parts, so that it
/// can be read without the configuration that defined it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Context")]
struct StoredContext {
    #[serde(serialize_with = "crate::profile::serialize_whole")]
    arm: Arm,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    policy: PolicyMark,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    coerced: Vec<String>,
}

/// Why a call was answered here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyKind {
    /// `expand_tools` was answered.
    Expanded,
    /// `activate_skill` was answered.
    Activated,
    /// The arguments do not match the tool's schema; the answer lists the errors and contains the
    /// schema.
    Invalid,
    /// The call omits parameters that had not been shown; the answer shows them, and the same call
    /// runs the next time.
    Shown,
    /// The tool is unknown; the answer lists the closest names.
    UnknownTool,
    /// The model repeats itself; the answer directs it to stop.
    Loop,
    /// The same call of the same message already ran; the answer is its result, if it is still
    /// stored.
    Finished,
}

/// A call's id and name in its answer, as they are in the message for the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AnswerLabel {
    pub(super) id: CallId,
    pub(super) name: String,
}

impl AnswerLabel {
    pub(super) fn answered(&self) -> Answered<'_> {
        Answered { id: self.id.as_str(), name: &self.name }
    }
}

/// A tool whose full schema an answer opened, for hosts with an append channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenedTool {
    /// The name that the model sees.
    pub name: String,
    /// The full description.
    pub description: String,
    /// The full JSON Schema of the arguments.
    pub parameters: Arc<Value>,
}

/// An answer that the conversation gives itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The call.
    pub id: CallId,
    /// The name that the model wrote.
    pub name: String,
    /// The target under the host's name, never `call_tool`. `None` if the tool is unknown.
    pub target: Option<String>,
    /// The answer: its kind, its text, and whether the call failed.
    pub answer: Answer,
    /// The tools whose full schemas this answer opens, in catalog order.
    pub opened: Vec<OpenedTool>,
    /// The activated skill for the host: messages, requested settings, hash.
    #[serde(skip)]
    pub activation: Option<Box<Activation>>,
    /// Arm, variant, policy.
    #[serde(with = "StoredContext")]
    pub context: Context,
    /// The call's id and name for the answer.
    pub(super) label: AnswerLabel,
    pub(super) wire: Wire,
    /// The answer in the format of a provider with native deferral, instead of the text.
    pub(super) native: Option<Vec<Value>>,
    /// The tools for the message after the answers, as the wire defines them; see
    /// [`Delivery::Append`].
    ///
    /// [`Delivery::Append`]: crate::profile::Delivery::Append
    pub(super) additions: Vec<Value>,
}

/// A call for the host to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forward {
    /// The call.
    pub id: CallId,
    /// The name that the model wrote: that of the array, or `call_tool`.
    pub name: String,
    /// The tool to run, under the host's name; never `call_tool`.
    pub target: ToolName,
    /// The arguments, which match the tool's schema.
    pub arguments: Value,
    /// The arguments as JSON text with every digit that the model wrote.
    pub arguments_json: String,
    /// The check of the arguments, the note before the result, the policy decision and the undo.
    pub notes: ForwardNotes,
    /// Arm, variant, policy. The policy decision and its reason are those of `notes`.
    #[serde(with = "StoredContext")]
    pub context: Context,
    /// The id under which the conversation remembers the call.
    pub(super) own: CallId,
}

/// A call that requires approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confirm {
    /// The call.
    pub id: CallId,
    /// The name that the model wrote.
    pub name: String,
    /// The approval that the call waits for.
    pub approval: ApprovalId,
    /// The tool that would run, under the host's name; never `call_tool`.
    pub target: ToolName,
    /// Exactly the arguments that would run.
    pub arguments: Value,
    /// The same arguments as JSON text, as the model wrote them.
    pub arguments_json: String,
    /// What to show to the person: target, canonical arguments, effects, undo, reason.
    pub shown: Displayed,
    /// Why approval is required.
    pub reason: String,
    /// Arm, variant, policy.
    #[serde(with = "StoredContext")]
    pub context: Context,
    /// The call's id and name for the answer.
    pub(super) label: AnswerLabel,
    pub(super) wire: Wire,
    /// The tool's name as the model sees it.
    pub(super) shown_target: String,
}

/// A call that may not run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refuse {
    /// The call.
    pub id: CallId,
    /// The name that the model wrote.
    pub name: String,
    /// The target under the host's name.
    pub target: String,
    /// The text for the model, in the names that it sees.
    pub content: Arc<str>,
    /// The reason, for the host.
    pub reason: String,
    /// Arm, variant, policy.
    #[serde(with = "StoredContext")]
    pub context: Context,
    /// The call's id and name for the answer.
    pub(super) label: AnswerLabel,
    pub(super) wire: Wire,
}

impl From<Resumed> for Outcome {
    fn from(resumed: Resumed) -> Self {
        match resumed {
            Resumed::Run(forward) => Self::Forward(forward),
            Resumed::Answered(reply) => Self::Reply(reply),
            Resumed::Waiting(confirm) => Self::Confirm(confirm),
            Resumed::Refused(refuse) => Self::Refuse(refuse),
        }
    }
}

impl Outcome {
    /// The id of the call.
    #[must_use]
    pub fn id(&self) -> &CallId {
        match self {
            Self::Reply(reply) => &reply.id,
            Self::Forward(forward) => &forward.id,
            Self::Confirm(confirm) => &confirm.id,
            Self::Refuse(refuse) => &refuse.id,
        }
    }

    /// The name that the model wrote.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Reply(reply) => &reply.name,
            Self::Forward(forward) => &forward.name,
            Self::Confirm(confirm) => &confirm.name,
            Self::Refuse(refuse) => &refuse.name,
        }
    }

    /// Arm, variant and policy decision.
    #[must_use]
    pub fn context(&self) -> &Context {
        match self {
            Self::Reply(reply) => &reply.context,
            Self::Forward(forward) => &forward.context,
            Self::Confirm(confirm) => &confirm.context,
            Self::Refuse(refuse) => &refuse.context,
        }
    }

    /// The same outcome with the corrections of the call.
    pub(super) fn with_coerced(mut self, coerced: Vec<String>) -> Self {
        let context = match &mut self {
            Self::Reply(reply) => &mut reply.context,
            Self::Forward(forward) => &mut forward.context,
            Self::Confirm(confirm) => &mut confirm.context,
            Self::Refuse(refuse) => &mut refuse.context,
        };
        context.coerced = coerced;
        self
    }

    /// The text for the model; `None` if the host must produce it.
    #[must_use]
    pub fn content(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Reply(reply) => Some(Cow::Borrowed(&reply.answer.content)),
            Self::Refuse(refuse) => Some(Cow::Borrowed(&refuse.content)),
            Self::Confirm(confirm) => Some(Cow::Owned(confirm.content())),
            Self::Forward(_) => None,
        }
    }

    /// The wire's answers to the call, each a message, item, block or part. Empty for a forwarded
    /// call, whose result comes from the host. A waiting call is answered with its approval.
    #[must_use]
    pub fn answers(&self) -> Vec<Value> {
        match self {
            Self::Reply(reply) => reply.answers(),
            Self::Forward(_) => Vec::new(),
            Self::Confirm(confirm) => {
                vec![confirm.wire.answer_message(confirm.label.answered(), &confirm.content(), true)]
            }
            Self::Refuse(refuse) => vec![refuse.wire.answer_message(refuse.label.answered(), &refuse.content, true)],
        }
    }

    /// The messages to append to the conversation: the [answers](Self::answers) as whole messages
    /// of the wire, followed, if the arm appends, by a message with the newly opened tools.
    #[must_use]
    pub fn into_messages(&self) -> Vec<Value> {
        match self {
            Self::Reply(Reply { wire, .. })
            | Self::Confirm(Confirm { wire, .. })
            | Self::Refuse(Refuse { wire, .. }) => {
                let mut messages = wire.wrapped(self.answers());
                messages.extend(wire.appended(self.additions()));
                messages
            }
            Self::Forward(_) => Vec::new(),
        }
    }

    /// The newly opened tools for the message after the answers.
    pub(super) fn additions(&self) -> &[Value] {
        match self {
            Self::Reply(reply) => &reply.additions,
            Self::Forward(_) | Self::Confirm(_) | Self::Refuse(_) => &[],
        }
    }
}

impl Reply {
    fn answers(&self) -> Vec<Value> {
        if let Some(native) = &self.native {
            return native.clone();
        }
        vec![self.wire.answer_message(self.label.answered(), &self.answer.content, self.answer.failed)]
    }
}

impl Confirm {
    /// The text for the model while there is no decision.
    #[must_use]
    pub fn content(&self) -> String {
        let approval = &self.approval;
        format!(
            "{} was not run yet: it requires approval ({approval}). Continue with other work, or repeat the same call \
             once it is approved.",
            self.shown_target
        )
    }
}
