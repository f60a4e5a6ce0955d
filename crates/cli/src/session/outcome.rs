//! The outcome of a call, as the protocol returns it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::exact;
use toolfold::conversation::{ApprovalId, CallId, Confirm, Context, Forward, OpenedTool, Outcome, ReplyKind};
use toolfold::policy::{ApprovalState, CallUndo, Displayed};
use toolfold::skill::Activation;

/// What the host must do.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// Send `content` as the call's result.
    Reply,
    /// Run `target` with `arguments`, then report the result.
    Forward,
    /// The call waits for approval under `approval`: show `shown` to the person.
    Confirm,
    /// The call may not run: send `content` as its result.
    Refuse,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OutcomeAnswer {
    /// The number of the line that this answers, from 1. Only present if a script ran for it, so
    /// that later lines may have been answered before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// The call.
    #[schemars(with = "String")]
    pub(super) id: CallId,
    pub(super) outcome: Verdict,
    /// The name that the model wrote.
    pub(super) name: String,
    /// The tool's name at its host: never `call_tool`. Null if there is none.
    pub(super) target: Option<String>,
    /// The id of the pending approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(super) approval: Option<ApprovalId>,
    /// The state of the approval, if a decision was requested and there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(super) state: Option<ApprovalState>,
    /// When the approval expires, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<String>,
    /// The arguments to run with, every digit as the model wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub(super) arguments: Option<Box<RawValue>>,
    /// The same as the JSON text that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments_json: Option<String>,
    /// The text for the model, with the names that it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    /// Whether to report the call to the model as failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_error: Option<bool>,
    /// What to show the approver: target, canonical arguments, effects, undo, reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(super) shown: Option<Displayed>,
    /// How a call that runs can be undone: `class`; `snapshot` (`id`, `digest`, `files`, `bytes`)
    /// if there is one; else `why` there is none. Absent without policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(super) undo: Option<CallUndo>,
    /// A line for the model to read before the result: it names parameters that were hidden. If the
    /// session wraps the result (`{"result": …}`), the line is already included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// The reason of the outcome, for the host; the kind of a reply (`expanded`, `activated`,
    /// `invalid`, `shown`, `unknown_tool`, `loop`; `ran` if the session ran the script of a skill).
    pub(super) reason: String,
    /// The tools whose full schemas the content contains, with the names the model sees.
    pub(super) expanded: Vec<String>,
    /// The same tools in full, for hosts that declare expanded tools themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) opened: Vec<Opened>,
    /// What the host must store about an activated skill: messages, preferences, hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(super) activation: Option<Box<Activation>>,
    /// Whole messages that inform the model that the call waits: for a host that continues without
    /// the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) append: Option<Vec<Value>>,
    /// Arm, variant, and policy decision.
    #[schemars(with = "Map<String, Value>")]
    pub(super) context: Context,
    /// The digest of the array to send next.
    pub(super) digest: String,
}

/// How a script ended.
#[derive(Debug)]
pub(super) struct Ran {
    /// The text for the model.
    pub(super) content: String,
    pub(super) is_error: bool,
}

/// A tool whose full schema an answer contains.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Opened {
    /// The name that the model sees.
    name: String,
    /// The full description.
    description: String,
    /// The full JSON Schema of the arguments.
    parameters: Value,
}

impl From<&OpenedTool> for Opened {
    fn from(tool: &OpenedTool) -> Self {
        let (name, description) = (tool.name.clone(), tool.description.clone());
        Self { name, description, parameters: (*tool.parameters).clone() }
    }
}

impl OutcomeAnswer {
    pub(super) fn new(outcome: &Outcome, digest: &str) -> Self {
        let bare = Self {
            line: None,
            id: outcome.id().clone(),
            outcome: Verdict::Reply,
            name: outcome.name().to_owned(),
            target: None,
            approval: None,
            state: None,
            until: None,
            arguments: None,
            arguments_json: None,
            content: outcome.content().map(std::borrow::Cow::into_owned),
            is_error: None,
            shown: None,
            undo: None,
            note: None,
            reason: String::new(),
            expanded: Vec::new(),
            opened: Vec::new(),
            activation: None,
            append: None,
            context: outcome.context().clone(),
            digest: digest.to_owned(),
        };
        match outcome {
            Outcome::Reply(reply) => Self {
                target: reply.target.clone(),
                reason: reply_kind(reply.answer.kind),
                expanded: reply.opened.iter().map(|tool| tool.name.clone()).collect(),
                opened: reply.opened.iter().map(Opened::from).collect(),
                is_error: Some(reply.answer.failed),
                activation: reply.activation.clone(),
                ..bare
            },
            Outcome::Forward(forward) => bare.forward(forward),
            Outcome::Confirm(confirm) => bare.confirm(confirm, outcome.into_messages()),
            Outcome::Refuse(refuse) => Self {
                outcome: Verdict::Refuse,
                target: Some(refuse.target.clone()),
                reason: refuse.reason.clone(),
                is_error: Some(true),
                ..bare
            },
        }
    }

    /// The answer to a call whose script the session ran.
    pub(super) fn ran(self, ran: Ran) -> Self {
        let content = match &self.note {
            Some(note) => format!("{note}\n{}", ran.content),
            None => ran.content,
        };
        let (content, reason) = (Some(content), "ran".to_owned());
        Self { outcome: Verdict::Reply, content, is_error: Some(ran.is_error), reason, ..self }
    }

    fn forward(self, forward: &Forward) -> Self {
        Self {
            outcome: Verdict::Forward,
            target: Some(forward.target.to_string()),
            arguments: Some(exact::exact(&forward.arguments_json, &forward.arguments)),
            arguments_json: Some(forward.arguments_json.clone()),
            undo: forward.notes.undo.clone(),
            note: forward.notes.note.clone(),
            reason: forward.notes.unchecked.clone().unwrap_or_else(|| "the arguments are valid".to_owned()),
            ..self
        }
    }

    fn confirm(self, confirm: &Confirm, append: Vec<Value>) -> Self {
        Self {
            outcome: Verdict::Confirm,
            target: Some(confirm.target.to_string()),
            approval: Some(confirm.approval.clone()),
            arguments: Some(exact::exact(&confirm.arguments_json, &confirm.arguments)),
            arguments_json: Some(confirm.arguments_json.clone()),
            shown: Some(confirm.shown.clone()),
            reason: confirm.reason.clone(),
            is_error: Some(true),
            append: Some(append),
            ..self
        }
    }
}

fn reply_kind(kind: ReplyKind) -> String {
    match serde_json::to_value(kind) {
        Ok(Value::String(text)) => text,
        _ => format!("{kind:?}"),
    }
}
