//! Writes calls and their answers in a wire's format.

use serde_json::Value;

use super::{NameTable, Wire};
use crate::catalog::Catalog;
use crate::name::ToolName;
use crate::profile::Presentation;

/// The prefix of ids that toolfold assigns to calls without one. They are never sent to a provider.
pub(crate) const NUMBERED: &str = "toolfold-call-";

/// An answered call: its id, and the name that the model used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered<'c> {
    pub(crate) id: &'c str,
    pub(crate) name: &'c str,
}

/// The answer to an expansion under arm `native`.
pub(crate) struct ExpansionAnswer<'a> {
    /// The call.
    pub(crate) call: Answered<'a>,
    pub(crate) catalog: &'a Catalog,
    pub(crate) presentation: &'a Presentation,
    pub(crate) names: &'a NameTable,
    /// The tools that the answer defines.
    pub(crate) mentioned: &'a [ToolName],
    /// The whole answer as text.
    pub(crate) content: &'a str,
    /// The text that the model must read beside the definitions.
    pub(crate) notes: &'a str,
}

impl Wire {
    /// Returns the answer to a call as text: a message (`openai-chat`), an input item
    /// (`openai-responses`), a block of a user message (`anthropic`, `bedrock-converse`), a part of
    /// a content (`gemini`), or a result (`mcp`).
    pub(crate) fn answer_message(self, call: Answered<'_>, text: &str, is_error: bool) -> Value {
        self.api().answer(call, text, is_error)
    }

    /// Returns the answer to an expansion as the provider expects it under arm `native`: with
    /// references to the deferred tools (Anthropic), or with their full definitions (OpenAI
    /// Responses). `None` if it is answered as any other call.
    pub(crate) fn expansion(self, answer: &ExpansionAnswer<'_>) -> Option<Vec<Value>> {
        self.api().expansion(answer)
    }

    /// Wraps answers as the messages to append to a conversation, in order.
    pub(crate) fn wrapped(self, answers: Vec<Value>) -> Vec<Value> {
        if answers.is_empty() { answers } else { self.api().wrapped(answers) }
    }

    /// Returns the assistant message in which a model makes these calls, each
    /// `(id, name, arguments)`: for scripted models and tests. Names are those shown to the model.
    /// The result is a message (`openai-chat`, `anthropic`, `gemini`, `bedrock-converse`), a list
    /// of items (`openai-responses`) or of requests (`mcp`).
    #[must_use]
    pub fn assistant_message(self, calls: &[(&str, &str, Value)]) -> Value {
        let calls = calls.iter().map(|(id, name, arguments)| self.api().call_item(id, name, arguments));
        self.api().assistant_message(calls.collect())
    }
}

/// Arguments as JSON text; a string is that text already.
pub(super) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
