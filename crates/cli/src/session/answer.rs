//! What a line is answered with.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::exact;
use super::outcome::OutcomeAnswer;
use toolfold::conversation::{ApprovalId, CallId, LogRecord, Snapshot};
use toolfold::diagnostic::Diagnostic;
use toolfold::profile::{Arm, Detail};
use toolfold::wire::{ToolEntry, Wire};

/// An answer. Each has keys by which it is told apart; `error` is in those alone that did not do
/// what was asked.
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
    /// To `approve_skill`.
    ApprovedSkill(ApprovedSkill),
    /// To `seen` and `seen_calls`.
    Seen(SeenAnswer),
    /// To `redeliver`.
    Redeliver(RedeliverAnswer),
    /// To `snapshot`.
    Snapshot(SnapshotAnswer),
    /// To `restore`.
    Restored(RestoredAnswer),
    /// To `explain`.
    Explain(Box<ExplainAnswer>),
    /// To `log`.
    Log(LogAnswer),
    /// To a line that asks for none of these, or for what cannot be done. Nothing has changed,
    /// unless the message says so.
    Error(ErrorAnswer),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ToolsAnswer {
    /// The array for the request, in the wire's shape.
    #[schemars(with = "Vec<Value>")]
    pub(super) tools: Box<RawValue>,
    /// SHA-256 of the array as compact JSON, in lower-case hexadecimal digits.
    pub(super) digest: String,
    /// The array's tokens; null where it cannot be counted. Only where `count` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<Option<usize>>,
    /// What counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meter: Option<String>,
    /// The tools in neutral form and the array's order. Only where `entries` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entries: Option<Vec<Entry>>,
    /// What the wire could not carry, and what was noticed about the tools. Only in the first
    /// answer.
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
    /// Whether the provider is asked to hold the model to the schema. Never on a folded tool.
    strict: bool,
    /// How much of the tool it is.
    #[schemars(with = "String")]
    detail: Detail,
    /// Whether the provider keeps it out of the prompt until it is referred to.
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
    /// What became of each call, in the model's order.
    pub(super) outcomes: Vec<OutcomeAnswer>,
    /// The answers to calls that were answered here, each as the wire has it: a message, an item, a
    /// block or a part.
    pub(super) messages: Vec<Value>,
    /// The same as whole messages, to append behind the assistant message.
    pub(super) append: Vec<Value>,
    /// What was noticed about the message. Absent if nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The digest of the array to send now.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallsAnswer {
    /// What became of each call, in order.
    pub(super) outcomes: Vec<OutcomeAnswer>,
    /// What was noticed about the message. Absent if nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The digest of the array to send now.
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
    /// Whether it succeeded, as the line said.
    pub(super) finished: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PausedAnswer {
    /// The call.
    #[schemars(with = "String")]
    pub(super) paused: CallId,
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
    /// What is open now, as the model sees the names.
    pub(super) expanded: Vec<String>,
    /// The digest of the array to send now.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RedeliverAnswer {
    /// The schemas of everything that is open, as text for the model; null if nothing is open or
    /// the array shows it.
    pub(super) redeliver: Option<String>,
    /// What is open, as the model sees the names.
    pub(super) expanded: Vec<String>,
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
    /// The digest of the array to send now.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExplainAnswer {
    #[schemars(with = "String")]
    pub(super) arm: Arm,
    /// Why it is that arm.
    pub(super) explain: String,
    /// The variant of the experiment that chose it.
    pub(super) variant: Option<String>,
    #[schemars(with = "String")]
    pub(super) wire: Wire,
    pub(super) model: Option<String>,
    /// The conversation's id; empty if it has none.
    pub(super) session: String,
    /// What is open, as the model sees the names.
    pub(super) opened: Vec<String>,
    /// The calls that wait for a person.
    pub(super) waiting: Vec<WaitingCall>,
    /// The digest of the array to send now.
    pub(super) digest: String,
    /// What was noticed about the tools, and what the wire could not carry.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WaitingCall {
    #[schemars(with = "String")]
    pub(super) approval: ApprovalId,
    #[schemars(with = "String")]
    pub(super) id: CallId,
    /// The tool, by the name its host gave it.
    pub(super) target: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LogAnswer {
    /// Everything that happened since the conversation began, oldest first, as a log file has it.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) log: Vec<LogRecord>,
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
    /// What to write instead.
    pub(super) help: String,
}
