//! Sessions from recorded transcripts: message arrays or whole requests of any wire.

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::diagnostic::Place;

use super::counting::Counting;
use super::play::{Opening, Session, SessionStep};
use crate::json::string_member;
use crate::usage::UsageReader;

/// The maximum number of messages in a transcript.
const MAX_MESSAGES: usize = 100_000;

/// Keys whose values cost nothing, or are counted in the cost around a call.
const UNBILLED: [&str; 14] = [
    "role",
    "type",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "status",
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "cache_control",
    "is_error",
    "refusal",
];

/// When the model of a trace expands a folded tool. Recorded calls do not show this, because a
/// model that sees everything never expands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lookup {
    /// By name, before its first call.
    #[default]
    Name,
    /// Its category, before its first call.
    Category,
    /// Never: the gate answers the first call of a tool that hides parameters, and the model calls
    /// again.
    Gate,
    /// Never, and every call is right.
    Never,
}

/// A recorded session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// The session.
    pub session: Session,
    /// Calls of the catalog's tools.
    pub calls: usize,
    /// Calls of meta-tools: the session was recorded folded, and its own expansions are counted in
    /// addition to those of each arm.
    pub meta_calls: usize,
}

/// Why a transcript has no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// It has no messages.
    #[error("expected messages: a list, or a request with `messages`, `input` or `contents`")]
    NoMessages,
    /// It has no message of the model.
    #[error("it contains no message of the model")]
    NoRequest,
    /// It is too long.
    #[error("it has more than {MAX_MESSAGES} messages")]
    TooLong,
}

impl Trace {
    /// Reads a transcript. Every run of messages of the model is the answer to one request;
    /// messages between two runs were added in between. Sizes are those of the texts under the
    /// meter, plus the cost around each call.
    ///
    /// # Errors
    /// Returns a [`TraceError`] if it is not a transcript.
    pub fn from_transcript(
        transcript: &Value,
        catalog: &Catalog,
        counting: &Counting<'_>,
        lookup: Lookup,
    ) -> Result<Self, TraceError> {
        let lists = ["messages", "input", "contents"];
        let list = lists.into_iter().find_map(|key| transcript.get(key)).unwrap_or(transcript);
        let messages = list.as_array().ok_or(TraceError::NoMessages)?;
        if messages.len() > MAX_MESSAGES {
            return Err(TraceError::TooLong);
        }
        let system = ["system", "instructions", "systemInstruction", "system_instruction"];
        let tokens = |value: &Value| counting.text(&text_of(value));
        let mut trace = Self::default();
        trace.session.system = system.into_iter().filter_map(|key| transcript.get(key)).map(tokens).sum();
        let (mut step, mut answers) = (SessionStep::default(), false);
        for message in messages {
            if is_of_model(message) {
                answers = true;
                trace.add_message(message, catalog, counting, lookup, &mut step);
                continue;
            }
            if std::mem::take(&mut answers) {
                trace.session.steps.push(std::mem::take(&mut step));
            }
            let is_system = matches!(string_member(message, "role"), Some("system" | "developer"));
            if is_system && trace.session.steps.is_empty() {
                trace.session.system = trace.session.system.saturating_add(tokens(message));
            } else {
                step.input = step.input.saturating_add(tokens(message));
            }
        }
        if answers {
            trace.session.steps.push(step);
        }
        if trace.session.steps.is_empty() { Err(TraceError::NoRequest) } else { Ok(trace) }
    }

    fn add_message(
        &mut self,
        message: &Value,
        catalog: &Catalog,
        counting: &Counting<'_>,
        lookup: Lookup,
        step: &mut SessionStep,
    ) {
        let mut reader = UsageReader::new(catalog);
        reader.read_value(&Value::Array(vec![message.clone()]), &Place::default());
        let usage = reader.into_usage();
        let called: Vec<usize> = usage.sessions.iter().flat_map(|own| &own.calls).map(|call| call.tool).collect();
        self.calls += called.len();
        self.meta_calls += usage.meta_calls;
        let around = (called.len() + usage.meta_calls).saturating_mul(counting.around_call());
        step.output = step.output.saturating_add(counting.text(&text_of(message))).saturating_add(around);
        if called.is_empty() {
            return;
        }
        match lookup {
            Lookup::Name => step.opens.push(Opening::Tools(called)),
            Lookup::Category => step.opens.push(Opening::Categories(called)),
            Lookup::Gate => step.opens.push(Opening::Calls(called)),
            Lookup::Never => {}
        }
    }
}

fn is_of_model(message: &Value) -> bool {
    let kinds = ["function_call", "reasoning", "tool_search_call", "custom_tool_call"];
    matches!(string_member(message, "role"), Some("assistant" | "model"))
        || kinds.contains(&string_member(message, "type").unwrap_or_default())
}

/// The billed text of a message: every string, except of [`UNBILLED`] keys.
fn text_of(value: &Value) -> String {
    let mut text = String::new();
    append_texts(&mut text, value);
    text
}

fn append_texts(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(list) => {
            for value in list {
                append_texts(out, value);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    (key, _) if UNBILLED.contains(&key) => {}
                    ("input" | "args" | "response" | "arguments", Value::Object(_)) => out.push_str(&value.to_string()),
                    _ => append_texts(out, value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
