//! What a call became, as an answer tells it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::exact;
use toolfold::conversation::{ApprovalId, CallId, Confirm, Context, Forward, OpenedTool, Outcome, ReplyKind};
use toolfold::policy::{ApprovalState, CallUndo, Displayed};
use toolfold::skill::Activation;

/// What to do with a call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// Send `content` as the call's result.
    Reply,
    /// Run `target` with `arguments`, then report the result.
    Forward,
    /// It waits for a person under `approval`: show `shown`.
    Confirm,
    /// It may not run: send `content` as the call's result.
    Refuse,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OutcomeAnswer {
    /// The call.
    #[schemars(with = "String")]
    pub(super) id: CallId,
    pub(super) outcome: Verdict,
    /// The name that the model wrote.
    pub(super) name: String,
    /// The tool that is meant, by the name its host gave it: never `call_tool`. Null if there is none.
    pub(super) target: Option<String>,
    /// The approval that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(super) approval: Option<ApprovalId>,
    /// How the approval stands, where a person's answer was asked for and there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(super) state: Option<ApprovalState>,
    /// Until when it waits, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<String>,
    /// The arguments to run with, every digit as the model wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub(super) arguments: Option<Box<RawValue>>,
    /// The same as the JSON text that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments_json: Option<String>,
    /// The text for the model, in the names that it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    /// Whether the model should be told that its call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_error: Option<bool>,
    /// What to show the person: target, canonical arguments, effects, undo, why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(super) shown: Option<Displayed>,
    /// How a call that runs can be undone: `class`; `snapshot` (`id`, `digest`, `files`, `bytes`) if a copy was made; `why`
    /// there is none. Absent where policy has no say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(super) undo: Option<CallUndo>,
    /// A line that the model has to read before the result: it names parameters that were not shown. Where the session
    /// wraps the result (`{"result": …}`) it stands there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// Why it became that, for the host: of a reply its kind (`expanded`, `activated`, `invalid`, `shown`, `unknown_tool`,
    /// `loop`).
    pub(super) reason: String,
    /// The names of the tools whose whole schemas the content opens, as the model sees them.
    pub(super) expanded: Vec<String>,
    /// The same tools in full, for hosts that declare opened tools themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) opened: Vec<Opened>,
    /// What the host keeps of an activated skill: messages, wishes, hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(super) activation: Option<Box<Activation>>,
    /// Whole messages that tell the model that the call waits: for a host that goes on without the person's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) append: Option<Vec<Value>>,
    /// Arm, variant, and what policy said.
    #[schemars(with = "Map<String, Value>")]
    pub(super) context: Context,
    /// The digest of the array to send now.
    pub(super) digest: String,
}

/// A tool whose whole schema an answer opened.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Opened {
    /// The name that the model sees.
    name: String,
    /// The description, whole.
    description: String,
    /// The JSON Schema of the arguments, whole.
    parameters: Value,
}

impl From<&OpenedTool> for Opened {
    fn from(tool: &OpenedTool) -> Self {
        let (name, description) = (tool.name.clone(), tool.description.clone());
        Self { name, description, parameters: (*tool.parameters).clone() }
    }
}

impl OutcomeAnswer {
    /// The answer that tells an outcome.
    pub(super) fn new(outcome: &Outcome, digest: &str) -> Self {
        let bare = Self {
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

    fn forward(self, forward: &Forward) -> Self {
        Self {
            outcome: Verdict::Forward,
            target: Some(forward.target.to_string()),
            arguments: Some(exact::exact(&forward.arguments_json, &forward.arguments)),
            arguments_json: Some(forward.arguments_json.clone()),
            undo: forward.notes.undo.clone(),
            note: forward.notes.note.clone(),
            reason: forward.notes.unchecked.clone().unwrap_or_else(|| "the arguments fit".to_owned()),
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
