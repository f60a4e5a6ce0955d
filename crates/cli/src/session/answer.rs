//! The answers of the protocol.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::exact;
use super::outcome::OutcomeAnswer;
use toolfold::conversation::{ApprovalId, CallId, LogRecord, Snapshot};
use toolfold::diagnostic::Diagnostic;
use toolfold::profile::{Arm, Detail};
use toolfold::skill::Activation;
use toolfold::wire::{ToolEntry, Wire};

/// An answer. Its keys identify its kind; only an answer to a failed request has `error`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Answer {
    /// To `tools`.
    Tools(Box<ToolsAnswer>),
    /// To `call`, `accept`, `reject`, `resume` and `answered`.
    Outcome(Box<OutcomeAnswer>),
    /// To `message`.
    Message(MessageAnswer),
    /// To `calls`.
    Calls(CallsAnswer),
    /// To `result`.
    Result(ResultAnswer),
    /// To `finished`.
    Finished(FinishedAnswer),
    /// To `pause`.
    Paused(PausedAnswer),
    /// To `cancel`.
    Cancelled(CancelledAnswer),
    /// To `activate`.
    Activated(Box<ActivatedAnswer>),
    /// To `approve_skill`.
    ApprovedSkill(ApprovedSkill),
    /// To `seen` and `seen_calls`.
    Seen(SeenAnswer),
    /// To `redeliver`.
    Redeliver(RedeliverAnswer),
    /// To `child`.
    Child(ChildAnswer),
    /// To `snapshot`.
    Snapshot(SnapshotAnswer),
    /// To `restore`.
    Restored(RestoredAnswer),
    /// To `explain`.
    Explain(Box<ExplainAnswer>),
    /// To `log`.
    Log(LogAnswer),
    /// To `start`.
    Started(StartedAnswer),
    /// To `end`.
    Ended(EndedAnswer),
    /// To a line that is not a valid request, or that cannot be executed. Nothing has changed,
    /// unless the message says so.
    Error(ErrorAnswer),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ToolsAnswer {
    /// The array for the request, in the wire's format.
    #[schemars(with = "Vec<Value>")]
    pub(super) tools: Box<RawValue>,
    /// SHA-256 of the array as compact JSON, in lower-case hexadecimal digits.
    pub(super) digest: String,
    /// The array's tokens; null if they cannot be counted. Only present if `count` is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<Option<usize>>,
    /// The meter that counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meter: Option<String>,
    /// The tools in neutral form and the array's order. Only present if `entries` is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entries: Option<Vec<Entry>>,
    /// What the wire does not support, and notes about the tools. Only present in the first answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    pub(super) diagnostics: Option<Vec<Diagnostic>>,
}

/// A tool in neutral form.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Entry {
    /// The name under which the model sees it.
    name: String,
    /// The description at its detail; empty if there is none.
    description: String,
    /// The JSON Schema of the arguments at its detail.
    #[schemars(with = "Value")]
    parameters: Box<RawValue>,
    /// Whether the provider must enforce the schema. Never set on a folded tool.
    strict: bool,
    /// The detail of the tool.
    #[schemars(with = "String")]
    detail: Detail,
    /// Whether the provider keeps it out of the prompt until it is found.
    deferred: bool,
    /// Whether it is one of toolfold's meta-tools.
    own: bool,
}

impl From<ToolEntry> for Entry {
    fn from(entry: ToolEntry) -> Self {
        let parameters = exact::exact(&entry.parameters, &Value::Object(Map::new()));
        let ToolEntry { name, description, strict, detail, deferred, own, .. } = entry;
        Self { name, description, parameters, strict, detail, deferred, own }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageAnswer {
    /// The number of the line that this answers, from 1. Only present if a script ran for it, so
    /// that later lines may have been answered before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// The assistant message for the history: as received, or with what the provider would refuse
    /// replaced.
    #[schemars(with = "Value")]
    pub(super) message: Box<RawValue>,
    /// The outcome of each call, in the model's order.
    pub(super) outcomes: Vec<OutcomeAnswer>,
    /// The answers to calls that toolfold answered, each in the wire's format: a message, an item,
    /// a block or a part.
    pub(super) messages: Vec<Value>,
    /// The same as whole messages, to append after the assistant message.
    pub(super) append: Vec<Value>,
    /// Notes about the message. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The digest of the array to send next.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallsAnswer {
    /// The number of the line that this answers, from 1. Only present if a script ran for it, so
    /// that later lines may have been answered before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// The outcome of each call, in order.
    pub(super) outcomes: Vec<OutcomeAnswer>,
    /// Notes about the message. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The digest of the array to send next.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ResultAnswer {
    #[schemars(with = "String")]
    pub(super) id: CallId,
    /// Whole messages to append.
    pub(super) messages: Vec<Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FinishedAnswer {
    #[schemars(with = "String")]
    pub(super) id: CallId,
    /// Whether it succeeded, as reported.
    pub(super) finished: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PausedAnswer {
    /// The call.
    #[schemars(with = "String")]
    pub(super) paused: CallId,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CancelledAnswer {
    /// The call whose script is killed.
    #[schemars(with = "String")]
    pub(super) cancelled: CallId,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ActivatedAnswer {
    /// The name of the active skill.
    pub(super) activated: String,
    /// The text to send as a message of the user.
    pub(super) text: String,
    /// What the host stores and may honor: requested tools, model, files, hash.
    #[schemars(with = "Map<String, Value>")]
    pub(super) activation: Box<Activation>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ApprovedSkill {
    /// The skill.
    pub(super) approved_skill: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SeenAnswer {
    /// Always true.
    pub(super) seen: bool,
    /// The tools that are expanded now, with the names the model sees.
    pub(super) expanded: Vec<String>,
    /// The digest of the array to send next.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RedeliverAnswer {
    /// The schemas of all expanded tools, as text for the model; null if there are none or the
    /// array contains them.
    pub(super) redeliver: Option<String>,
    /// The expanded tools, with the names the model sees.
    pub(super) expanded: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChildAnswer {
    /// The id of the sub-agent's conversation; empty if this one has none.
    pub(super) child: String,
    /// Its state, for `restore` in a session of its own.
    #[schemars(with = "Map<String, Value>")]
    pub(super) snapshot: Box<Snapshot>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SnapshotAnswer {
    #[schemars(with = "Map<String, Value>")]
    pub(super) snapshot: Box<Snapshot>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RestoredAnswer {
    /// Always true.
    pub(super) restored: bool,
    #[schemars(with = "String")]
    pub(super) arm: Arm,
    /// The digest of the array to send next.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExplainAnswer {
    #[schemars(with = "String")]
    pub(super) arm: Arm,
    /// The reason for that arm.
    pub(super) explain: String,
    /// The variant of the experiment that determined it.
    pub(super) variant: Option<String>,
    #[schemars(with = "String")]
    pub(super) wire: Wire,
    pub(super) model: Option<String>,
    /// The conversation's id; empty if it has none.
    pub(super) session: String,
    /// The expanded tools, with the names the model sees.
    pub(super) opened: Vec<String>,
    /// The calls that wait for approval.
    pub(super) waiting: Vec<WaitingCall>,
    /// The digest of the array to send next.
    pub(super) digest: String,
    /// Notes about the tools, and what the wire does not support.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WaitingCall {
    #[schemars(with = "String")]
    pub(super) approval: ApprovalId,
    #[schemars(with = "String")]
    pub(super) id: CallId,
    /// The tool's name at its host.
    pub(super) target: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LogAnswer {
    /// Everything that happened since the conversation began, oldest first, in the format of a log
    /// file.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) log: Vec<LogRecord>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StartedAnswer {
    /// Always true.
    pub(super) started: bool,
    /// Whether the conversation existed before: it is open, or its log contains it.
    pub(super) resumed: bool,
    #[schemars(with = "String")]
    pub(super) arm: Arm,
    #[schemars(with = "String")]
    pub(super) wire: Wire,
    pub(super) model: Option<String>,
    /// The digest of the array to send next.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EndedAnswer {
    /// Whether the conversation was open.
    pub(super) ended: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ErrorAnswer {
    pub(super) error: ErrorBody,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ErrorBody {
    /// The number of the line, from 1.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) message: String,
    /// How to fix it.
    pub(super) help: String,
}
