//! What a line is answered with.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::exact;
use toolfold::conversation::{ApprovalId, CallId, LogRecord};
use toolfold::conversation::{Confirm, Context, Forward, OpenedTool, Outcome, ReplyKind, Snapshot};
use toolfold::diagnostic::Diagnostic;
use toolfold::policy::{ApprovalState, Displayed};
use toolfold::profile::{Arm, Detail};
use toolfold::skill::Activation;
use toolfold::wire::{ToolEntry, Wire};

/// An answer. Each has keys by which it is told apart; `error` is in those alone that did not do what was asked.
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
    /// To a line that asks for none of these, or for what cannot be done. Nothing has changed, unless the message says so.
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
    /// What the wire could not carry, and what was noticed about the tools. Only in the first answer.
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
    /// Why it became that, for the host: of a reply its kind (`expanded`, `activated`, `invalid`, `unknown_tool`, `loop`).
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
                reason: kind(reply.kind),
                expanded: reply.opened.iter().map(|tool| tool.name.clone()).collect(),
                opened: reply.opened.iter().map(Opened::from).collect(),
                is_error: Some(reply.is_error),
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
            reason: forward.unchecked.clone().unwrap_or_else(|| "the arguments fit".to_owned()),
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

fn kind(kind: ReplyKind) -> String {
    match serde_json::to_value(kind) {
        Ok(Value::String(text)) => text,
        _ => format!("{kind:?}"),
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageAnswer {
    /// What became of each call, in the model's order.
    pub(super) outcomes: Vec<OutcomeAnswer>,
    /// The answers to calls that were answered here, each as the wire has it: a message, an item, a block or a part.
    pub(super) messages: Vec<Value>,
    /// The same as whole messages, to append behind the assistant message.
    pub(super) append: Vec<Value>,
    /// The digest of the array to send now.
    pub(super) digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallsAnswer {
    /// What became of each call, in order.
    pub(super) outcomes: Vec<CallOutcome>,
    /// The digest of the array to send now.
    pub(super) digest: String,
}

/// What became of one of several calls.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum CallOutcome {
    Outcome(Box<OutcomeAnswer>),
    /// It could not be judged; the others were.
    Error(CallError),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallError {
    #[schemars(with = "String")]
    pub(super) id: CallId,
    pub(super) error: ErrorBody,
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
    /// The schemas of everything that is open, as text for the model; null if nothing is open or the array shows it.
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
