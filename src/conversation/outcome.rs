//! What the gate says of a call.

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

/// What to do with a call. Exhaustive on purpose: a host handles every case.
#[allow(clippy::large_enum_variant, reason = "one lives at a time, for as long as a call is judged")]
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Answered here: send the content of [`Reply::answer`] as the call's result, or append [`Outcome::into_messages`].
    Reply(Reply),
    /// Run the tool, then give its result to [`Conversation::answer`](super::Conversation::answer), or report it with
    /// [`Conversation::report_result`](super::Conversation::report_result).
    Forward(Forward),
    /// Waits for a person: show it. Once it is approved, [`Conversation::resume`](super::Conversation::resume) runs it.
    Confirm(Confirm),
    /// Not allowed: send [`Refuse::content`] as the call's result, or append [`Outcome::into_messages`].
    Refuse(Refuse),
}

/// What a person's answer makes of a call that waited.
#[allow(clippy::large_enum_variant, reason = "one lives at a time, for as long as a call is judged")]
#[derive(Debug, Clone, PartialEq)]
pub enum Resumed {
    /// Approved: run it.
    Run(Forward),
    /// Nobody has answered yet, or the store cannot be written now.
    Waiting(Confirm),
    /// It will not run: a person said no, it has expired, or policy, tool or paths have changed.
    Refused(Refuse),
}

/// Whether layer 3 had a say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMark {
    /// No policy is loaded: everything is allowed, and this says so.
    #[default]
    Off,
    /// The call never came before it: it was answered here.
    NotAsked,
    /// Allowed.
    Allow,
    /// Allowed, with a record written before it runs.
    AllowAudited,
    /// A person is asked, or has approved it.
    Confirm,
    /// Denied.
    Deny,
}

/// What every outcome records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Context {
    /// The conversation's arm.
    pub arm: Arm,
    /// The variant of the experiment that chose it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What layer 3 said.
    pub policy: PolicyMark,
    /// Why, in policy's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was put right in the arguments, line by line: what runs differs from what the model wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coerced: Vec<String>,
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
    /// The arguments do not fit the tool's schema; the answer says where, and brings the schema.
    Invalid,
    /// Parameters that the call leaves out had not been shown; the answer shows them, and the same call runs the next time.
    Shown,
    /// There is no such tool; the answer names the nearest.
    UnknownTool,
    /// The model went in circles; the answer says so.
    Loop,
    /// The same call of the same message has run before; the answer is its result, if that is still stored.
    Finished,
}

/// A tool whose whole schema an answer opened, under the name that the model sees: for hosts with an append channel.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenedTool {
    /// The name that the model sees.
    pub name: String,
    /// The description, whole.
    pub description: String,
    /// The JSON Schema of the arguments, whole.
    pub parameters: Arc<Value>,
}

/// An answer that the conversation gives by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The call.
    pub id: CallId,
    /// The name by which the model made it.
    pub name: String,
    /// The tool that was meant, by the name its host gave it: never `call_tool`. `None` if there is none.
    pub target: Option<String>,
    /// The answer: why it was given, its text, and whether the call failed.
    pub answer: Answer,
    /// The tools whose whole schemas this answer opens, in catalogue order.
    pub opened: Vec<OpenedTool>,
    /// What the host keeps of an activated skill: messages, wishes, hash.
    pub activation: Option<Box<Activation>>,
    /// Arm, variant, policy.
    pub context: Context,
    /// The id of the answer: the provider's.
    pub(super) label: CallId,
    pub(super) wire: Wire,
    /// What a provider with native deferral is answered, instead of the text.
    pub(super) native: Option<Vec<Value>>,
    /// The tools that stand in a message behind the answers, as the wire defines them; see [`Delivery::Append`].
    ///
    /// [`Delivery::Append`]: crate::profile::Delivery::Append
    pub(super) additions: Vec<Value>,
}

/// A call for the host to run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Forward {
    /// The call.
    pub id: CallId,
    /// The name by which the model made it: that of the array, or `call_tool`.
    pub name: String,
    /// The tool to run, by the name its host gave it: never `call_tool`.
    pub target: ToolName,
    /// The arguments, which fit the tool's schema.
    pub arguments: Value,
    /// The arguments as JSON text, as the model wrote them: integers of any size keep their digits.
    pub arguments_json: String,
    /// The check of the arguments, the note before the result, policy's decision and the undo.
    pub notes: ForwardNotes,
    /// Arm, variant, policy. Policy's decision and its reason are those of `notes`.
    pub context: Context,
}

/// A call that a person must see first.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirm {
    /// The call.
    pub id: CallId,
    /// The name by which the model made it.
    pub name: String,
    /// The approval that waits.
    pub approval: ApprovalId,
    /// The tool that would run, by the name its host gave it: never `call_tool`.
    pub target: ToolName,
    /// The arguments that would run, and no others.
    pub arguments: Value,
    /// The same as JSON text, as the model wrote them.
    pub arguments_json: String,
    /// What to show the person: target, canonical arguments, effects, undo, why.
    pub shown: Displayed,
    /// Why a person is asked.
    pub reason: String,
    /// Arm, variant, policy.
    pub context: Context,
    /// The id of the answer: the provider's.
    pub(super) label: CallId,
    pub(super) wire: Wire,
    /// The tool's name as the model sees it.
    pub(super) shown_target: String,
}

/// A call that may not run.
#[derive(Debug, Clone, PartialEq)]
pub struct Refuse {
    /// The call.
    pub id: CallId,
    /// The name by which the model made it.
    pub name: String,
    /// The tool that was meant, by the name its host gave it.
    pub target: String,
    /// The text for the model, in the names that it sees.
    pub content: Arc<str>,
    /// Why, for the host.
    pub reason: String,
    /// Arm, variant, policy.
    pub context: Context,
    /// The id of the answer: the provider's.
    pub(super) label: CallId,
    pub(super) wire: Wire,
}

impl From<Resumed> for Outcome {
    fn from(resumed: Resumed) -> Self {
        match resumed {
            Resumed::Run(forward) => Self::Forward(forward),
            Resumed::Waiting(confirm) => Self::Confirm(confirm),
            Resumed::Refused(refuse) => Self::Refuse(refuse),
        }
    }
}

impl Outcome {
    /// The id of the call it answers.
    #[must_use]
    pub fn id(&self) -> &CallId {
        match self {
            Self::Reply(reply) => &reply.id,
            Self::Forward(forward) => &forward.id,
            Self::Confirm(confirm) => &confirm.id,
            Self::Refuse(refuse) => &refuse.id,
        }
    }

    /// The name by which the model made the call.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Reply(reply) => &reply.name,
            Self::Forward(forward) => &forward.name,
            Self::Confirm(confirm) => &confirm.name,
            Self::Refuse(refuse) => &refuse.name,
        }
    }

    /// Arm, variant and what policy said.
    #[must_use]
    pub fn context(&self) -> &Context {
        match self {
            Self::Reply(reply) => &reply.context,
            Self::Forward(forward) => &forward.context,
            Self::Confirm(confirm) => &confirm.context,
            Self::Refuse(refuse) => &refuse.context,
        }
    }

    /// The same with what was put right in the arguments.
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

    /// The text for the model, unless the host has to make it.
    #[must_use]
    pub fn content(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Reply(reply) => Some(Cow::Borrowed(&reply.answer.content)),
            Self::Refuse(refuse) => Some(Cow::Borrowed(&refuse.content)),
            Self::Confirm(confirm) => Some(Cow::Owned(confirm.content())),
            Self::Forward(_) => None,
        }
    }

    /// What the wire's answers to the call are: a message, an item, a block or a part each. Empty for a call that is
    /// forwarded: its result is the host's. A call that waits is answered with its approval.
    #[must_use]
    pub fn answers(&self) -> Vec<Value> {
        match self {
            Self::Reply(reply) => reply.answers(),
            Self::Forward(_) => Vec::new(),
            Self::Confirm(confirm) => vec![confirm.wire.answer_message(confirm.call_label(), &confirm.content(), true)],
            Self::Refuse(refuse) => vec![refuse.wire.answer_message(refuse.call_label(), &refuse.content, true)],
        }
    }

    /// What to append to the conversation: the [answers](Self::answers) as whole messages of the wire. Under an arm that
    /// appends, a message with the tools that the answer opens is last.
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

    /// What the answer adds to the tools, as one message appends it.
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
        let answered = Answered { id: self.label.as_str(), name: &self.name };
        vec![self.wire.answer_message(answered, &self.answer.content, self.answer.failed)]
    }
}

impl Confirm {
    /// What the model is told while nobody has answered.
    #[must_use]
    pub fn content(&self) -> String {
        let approval = &self.approval;
        format!(
            "{} was not run yet: it waits for a person's approval ({approval}). Go on with something else, or call it \
             again with the same arguments once it is approved.",
            self.shown_target
        )
    }

    fn call_label(&self) -> Answered<'_> {
        Answered { id: self.label.as_str(), name: &self.name }
    }
}

impl Refuse {
    fn call_label(&self) -> Answered<'_> {
        Answered { id: self.label.as_str(), name: &self.name }
    }
}
