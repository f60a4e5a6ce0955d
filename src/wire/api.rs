//! The interface of an API. Each API implements it in the file with its name; no other code depends
//! on which API a [`Wire`] is.

use serde_json::Value;

pub(super) use super::WireError;
pub(super) use super::answers::{Answered, ExpansionAnswer};
use super::assemble;
pub(super) use super::calls::WireCall;
pub(super) use super::history::{ArgumentsForm, CallIds};
pub(super) use super::out::OutTool;
pub(super) use super::reader::At;
pub(super) use super::render::{RenderInput, RenderOptions, Rendered};
pub(super) use super::repair::Demands;
pub(super) use super::shape::Shape;
pub(super) use super::steps::Step;
use super::{Wire, anthropic, bedrock, gemini, mcp, openai_chat, openai_responses};
use crate::catalog::Format;
use crate::diagnostic::Diagnostic;

impl Wire {
    pub(super) fn api(self) -> &'static dyn Api {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::OpenAiResponses => &openai_responses::OpenAiResponses,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Gemini => &gemini::Gemini,
            Self::Mcp => &mcp::Mcp,
            Self::BedrockConverse => &bedrock::BedrockConverse,
        }
    }

    pub(super) fn facts(self) -> &'static ApiFacts {
        self.api().facts()
    }

    /// The list format of this wire.
    pub(crate) fn format(self) -> Format {
        self.facts().format
    }
}

/// The fixed properties of an API.
pub(super) struct ApiFacts {
    /// The name in flags and files.
    pub(super) name: &'static str,
    pub(super) format: Format,
    /// A description of an assistant message, for errors.
    pub(super) message: &'static str,
    /// The shapes of an assistant message.
    pub(super) shapes: &'static [Shape],
    /// Whether the parts of an assistant message may be given as an array.
    pub(super) parts: bool,
    /// The key of a request that holds the message array.
    pub(super) messages: &'static str,
    /// Whether a string may replace the message array.
    pub(super) takes_text: bool,
    /// Why arm `native` is not supported; `None` if it is.
    pub(super) no_native: Option<&'static str>,
    /// Why arm `append` is not supported; `None` if it is.
    pub(super) no_append: Option<&'static str>,
    /// The betas that the header `anthropic-beta` must name for tools defined in a message.
    pub(super) append_betas: &'static [&'static str],
    /// The key of the schema, if a tool without parameters requires it too.
    pub(super) required_schema: Option<&'static str>,
    /// Whether a tool can be strict.
    pub(super) strict: bool,
    /// Whether native categories are namespaces: one entry of the array each.
    pub(super) namespaces: bool,
    /// Whether bridges are separated by effect, because clients prompt the user based on a tool's
    /// annotations.
    pub(super) bridges_by_effect: bool,
}

/// How an API's tool arrays, calls and answers are written and read.
pub(super) trait Api: Sync {
    fn facts(&self) -> &'static ApiFacts;

    /// The calls of one assistant message, in order. Other content is skipped: text, reasoning, and
    /// tools that the provider runs.
    fn calls(&self, at: &At<'_>) -> Result<Vec<WireCall>, WireError>;

    /// Adds the events in one message of a message array.
    fn steps(&self, message: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError>;

    /// How the ids of calls are written in a history.
    fn call_ids(&self) -> CallIds {
        CallIds::Required
    }

    /// Whether a history may contain a call with this id.
    fn takes_call_id(&self, _id: &str) -> bool {
        true
    }

    /// How the arguments of a call are written in a history.
    fn arguments_form(&self) -> ArgumentsForm {
        ArgumentsForm::Text
    }

    /// A call as a model writes it.
    fn call_item(&self, id: &str, name: &str, arguments: &Value) -> Value;

    /// The assistant message with these calls.
    fn assistant_message(&self, calls: Vec<Value>) -> Value {
        Value::Array(calls)
    }

    /// The answer to a call as text.
    fn answer(&self, call: Answered<'_>, text: &str, is_error: bool) -> Value;

    /// Wraps one or more answers as the messages to append to a conversation, in order.
    fn wrapped(&self, answers: Vec<Value>) -> Vec<Value> {
        answers
    }

    /// The answer to an expansion under arm `native`; `None` if it is answered as any other call.
    fn expansion(&self, _answer: &ExpansionAnswer<'_>) -> Option<Vec<Value>> {
        None
    }

    /// Converts arguments written by a schema as sent to those of the tool; `None` if they are the
    /// same.
    fn restored(&self, _options: &RenderOptions, _parameters: &Value, _arguments: &Value) -> Option<Value> {
        None
    }

    /// The API's requirements for a schema; `None` if it accepts every schema.
    fn demands(&self, options: &RenderOptions) -> Option<Demands>;

    /// Makes the decisions that depend on several tools of an array.
    fn decide<'s>(&self, _input: &RenderInput<'s>, _tools: &mut Vec<OutTool<'s>>, _notes: &mut Vec<Diagnostic>) {}

    /// Writes the entries of the array, without its brackets.
    fn write_array(
        &self,
        out: &mut Rendered,
        input: &RenderInput<'_>,
        tools: &[OutTool<'_>],
        notes: &mut Vec<Diagnostic>,
    ) {
        let every: Vec<&OutTool<'_>> = tools.iter().collect();
        assemble::write_entries(out, input, self.facts().format, &every, &mut |out, tool| {
            self.write_tool(out, tool, input.options, notes);
        });
    }

    /// Writes a tool. A full tool that came in this format is sent unchanged.
    fn write_tool(&self, out: &mut String, tool: &OutTool<'_>, options: &RenderOptions, notes: &mut Vec<Diagnostic>);

    /// Changes a tool that a message defines, before it is written.
    fn adjust_appended(&self, _tool: &mut OutTool<'_>) {}

    /// A definition as an element of [appended](Self::appended).
    fn addition(&self, definition: Value) -> Value {
        definition
    }

    /// The message that defines tools; `None` if no message can.
    fn appended(&self, _additions: &[Value]) -> Option<Value> {
        None
    }
}
