//! OpenAI Chat Completions:
//! `{"type":"function","function":{"name","description","parameters"[,"strict":true]}}`.

use serde_json::{Value, json};

use super::answers::arguments_text;
use super::api::{Answered, Api, ApiFacts, At, Demands, OutTool, RenderOptions, Shape, Step, WireCall, WireError};
use super::render::write_head;
use super::steps::{answer_step, called};
use crate::catalog::Format;
use crate::diagnostic::Diagnostic;
use crate::profile::Folded;

pub(super) struct OpenAiChat;

impl Api for OpenAiChat {
    fn facts(&self) -> &'static ApiFacts {
        &ApiFacts {
            name: "openai-chat",
            format: Format::OpenAiChat,
            message: "an assistant message of Chat Completions (`content`, `tool_calls`)",
            shapes: &[Shape::PlainMessage, Shape::ChatMessage],
            parts: false,
            messages: "messages",
            takes_text: false,
            no_native: Some("Chat Completions has no deferred tools: use openai-responses, or arm stable"),
            no_append: Some("no message of Chat Completions defines a tool: use openai-responses, or arm index"),
            append_betas: &[],
            required_schema: None,
            strict: true,
            namespaces: false,
            bridges_by_effect: false,
        }
    }

    fn calls(&self, at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
        let at = at.clone().object()?;
        let mut found = Vec::new();
        if let Some(list) = at.get("tool_calls") {
            for call in list.elements()? {
                // A `custom` tool has no schema, so toolfold never declared it.
                if call.get("type").is_none() || call.is("type", "function") {
                    let function = call.need("function", "an object")?;
                    found.push(WireCall::read((&call, Some("id")), (&function, "arguments"))?);
                }
            }
        } else if let Some(function) = at.get("function_call") {
            // The form before `tool_calls`, which some servers still send.
            found.push(WireCall::read((&at, None), (&function, "arguments"))?);
        }
        Ok(found)
    }

    fn steps(&self, message: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
        if message.is("role", "assistant") {
            return called(message, found);
        }
        if message.is("role", "tool") {
            let id = Some(message.need("tool_call_id", "a string")?.text()?.to_owned());
            // Chat Completions does not state whether a tool failed.
            found.push(answer_step(id, true, message.get("content")));
        }
        Ok(())
    }

    fn call_item(&self, id: &str, name: &str, arguments: &Value) -> Value {
        let arguments = arguments_text(arguments);
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    }

    fn assistant_message(&self, calls: Vec<Value>) -> Value {
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    }

    fn answer(&self, call: Answered<'_>, text: &str, _is_error: bool) -> Value {
        json!({"role": "tool", "tool_call_id": call.id, "content": text})
    }

    fn demands(&self, _options: &RenderOptions) -> Option<Demands> {
        Some(Demands::OPENAI)
    }

    fn write_tool(&self, out: &mut String, tool: &OutTool<'_>, _options: &RenderOptions, _notes: &mut Vec<Diagnostic>) {
        write_tool(out, tool);
    }
}

fn write_tool(out: &mut String, tool: &OutTool<'_>) {
    if let Some(text) = tool.as_it_came(Format::OpenAiChat) {
        return out.push_str(text);
    }
    out.push_str("{\"type\":\"function\",\"function\":{");
    write_head(out, tool.name, tool.description());
    if tool.tool().declares_parameters() {
        out.push_str(",\"parameters\":");
        out.push_str(tool.schema());
    }
    if tool.strict {
        out.push_str(",\"strict\":true");
    }
    tool.write_keys(out, Format::OpenAiChat, false);
    out.push('}');
    tool.write_keys(out, Format::OpenAiChat, true);
    out.push('}');
}

/// A tool in the Chat Completions format as compact JSON: the form from which OpenAI's bill is
/// computed.
#[must_use]
pub fn chat_tool(tool: &Folded<'_>) -> String {
    let mut out = String::new();
    write_tool(&mut out, &OutTool::new(tool.clone(), tool.tool().name().as_str()));
    out
}
