//! Counts the cost of a conversation: tool arrays by a meter, everything else as text.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolfold::conversation::Tools;
use toolfold::tokens::{Meter, Tiktoken, TokenCounter};
use toolfold::wire::Wire;

/// The tokens around a message: OpenAI's constant, used for every wire.
const MESSAGE: usize = 4;

/// Counts each text once.
#[derive(Debug)]
pub struct Counter {
    meter: Meter,
    tokens: Tiktoken,
    known: HashMap<String, usize>,
}

impl Counter {
    /// Creates a counter with a meter.
    #[must_use]
    pub fn new(meter: Meter) -> Self {
        let tokens = Tiktoken::new(meter.encoding());
        Self { meter, tokens, known: HashMap::new() }
    }

    /// The meter for tool arrays.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The tokens of a tool array by the meter, or of its compact JSON.
    pub(super) fn array_tokens(&mut self, wire: Wire, tools: &Tools) -> usize {
        if let Some(known) = self.known.get(tools.digest()) {
            return *known;
        }
        let entries: Vec<Value> = match wire {
            // These arrays have their own forms; the model reads the same content.
            Wire::Gemini | Wire::Mcp | Wire::BedrockConverse => tools
                .entries()
                .iter()
                .map(|own| {
                    let (name, description) = (&own.name, &own.description);
                    let parameters: Value = serde_json::from_str(&own.parameters).unwrap_or_default();
                    json!({"type": "function", "function":
                        {"name": name, "description": description, "parameters": parameters}})
                })
                .collect(),
            _ => tools.to().unwrap_or_default(),
        };
        let counted = self.meter.tool_texts(&entries).map(|texts| texts.total(&self.tokens));
        let counted = counted.unwrap_or_else(|_| self.tokens.count(tools.json()));
        self.known.insert(tools.digest().to_owned(), counted);
        counted
    }

    /// The tokens of a message: its texts, its calls without key names, and the constant.
    pub(super) fn message(&mut self, message: &Value) -> usize {
        let mut text = String::new();
        append_texts(message, &mut text);
        MESSAGE + self.text_tokens(&text)
    }

    pub(super) fn text_tokens(&mut self, text: &str) -> usize {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let tokens = self.tokens.count(text);
        self.known.insert(text.to_owned(), tokens);
        tokens
    }
}

/// Keys whose values are not content.
const SILENT: [&str; 7] = ["id", "type", "role", "call_id", "tool_call_id", "tool_use_id", "status"];
/// Keys whose values are JSON that the model writes or reads as JSON.
const JSON: [&str; 3] = ["input", "args", "response"];

fn append_texts(value: &Value, text: &mut String) {
    match value {
        Value::String(own) => {
            text.push_str(own);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| append_texts(item, text)),
        Value::Object(entries) => {
            for (key, value) in entries.iter().filter(|(key, _)| !SILENT.contains(&key.as_str())) {
                if JSON.contains(&key.as_str()) && value.is_object() {
                    text.push_str(&value.to_string());
                    text.push('\n');
                } else {
                    append_texts(value, text);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
