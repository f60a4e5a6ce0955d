//! Bedrock Converse: `{"toolSpec":{"name","description","inputSchema":{"json"}[,"strict":true]}}`.
//!
//! The array is the value of `toolConfig.tools`; a request without tools omits `toolConfig`. Blocks
//! of a message have no `type`: their only key names their kind. Source: the service model
//! `bedrock-runtime` 2023-09-30 in botocore 1.44.

use serde_json::{Value, json};

use super::api::{
    Answered, Api, ApiFacts, ArgumentsForm, At, Demands, OutTool, RenderOptions, Shape, Step, WireCall, WireError,
};
use super::calls::content_blocks;
use super::history::is_plain_id;
use super::render::write_head;
use super::steps::{answer_step, called};
use crate::catalog::Format;
use crate::diagnostic::Diagnostic;

pub(super) struct BedrockConverse;

impl Api for BedrockConverse {
    fn facts(&self) -> &'static ApiFacts {
        &ApiFacts {
            name: "bedrock-converse",
            format: Format::BedrockConverse,
            message: "an assistant message of Bedrock Converse (`content` blocks with `toolUse`)",
            shapes: &[Shape::PlainMessage, Shape::ConverseMessage, Shape::TextBlock],
            parts: true,
            messages: "messages",
            takes_text: false,
            no_native: Some(
                "Bedrock Converse has no deferred tools: use InvokeModel with wire anthropic, or arm stable",
            ),
            no_append: Some("a message of Bedrock Converse names tools, but defines none: use arm index"),
            append_betas: &[],
            required_schema: Some("inputSchema"),
            strict: true,
            namespaces: false,
            bridges_by_effect: false,
        }
    }

    fn calls(&self, at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
        let mut found = Vec::new();
        for block in content_blocks(at)? {
            // A provider runs a tool whose block has a type: `server_tool_use`.
            if let Some(call) = block.get("toolUse").filter(|call| call.get("type").is_none()) {
                found.push(WireCall::read((&call, Some("toolUseId")), (&call, "input"))?);
            }
        }
        Ok(found)
    }

    fn steps(&self, message: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
        if message.is("role", "assistant") {
            return called(message, found);
        }
        let Some(content) = message.get("content").filter(|content| content.value.is_array()) else { return Ok(()) };
        for block in content.elements()? {
            let Some(answer) = block.get("toolResult") else { continue };
            let id = Some(answer.need("toolUseId", "a string")?.text()?.to_owned());
            found.push(answer_step(id, !answer.is("status", "error"), answer.get("content")));
        }
        Ok(())
    }

    /// Source: `ToolUseId` of the service model.
    fn takes_call_id(&self, id: &str) -> bool {
        is_plain_id(id)
    }

    fn arguments_form(&self) -> ArgumentsForm {
        ArgumentsForm::Object
    }

    fn call_item(&self, id: &str, name: &str, arguments: &Value) -> Value {
        json!({"toolUse": {"toolUseId": id, "name": name, "input": arguments}})
    }

    fn assistant_message(&self, calls: Vec<Value>) -> Value {
        json!({"role": "assistant", "content": calls})
    }

    fn answer(&self, call: Answered<'_>, text: &str, is_error: bool) -> Value {
        // A blank text is rejected, and not every model accepts a status.
        let content = if text.trim().is_empty() { json!([]) } else { json!([{ "text": text }]) };
        if is_error {
            return json!({"toolResult": {"toolUseId": call.id, "content": content, "status": "error"}});
        }
        json!({"toolResult": {"toolUseId": call.id, "content": content}})
    }

    fn wrapped(&self, answers: Vec<Value>) -> Vec<Value> {
        vec![json!({"role": "user", "content": answers})]
    }

    /// The schema's type must be `object`; Claude rejects alternatives here as on its own API.
    fn demands(&self, _options: &RenderOptions) -> Option<Demands> {
        Some(Demands { refused: &["oneOf", "anyOf", "allOf"], ..Demands::OBJECT })
    }

    fn write_tool(&self, out: &mut String, tool: &OutTool<'_>, _options: &RenderOptions, _notes: &mut Vec<Diagnostic>) {
        if let Some(text) = tool.as_it_came(Format::BedrockConverse) {
            return out.push_str(text);
        }
        out.push_str("{\"toolSpec\":{");
        write_head(out, tool.name, tool.description());
        out.push_str(",\"inputSchema\":{\"json\":");
        out.push_str(tool.schema());
        out.push('}');
        if tool.strict {
            out.push_str(",\"strict\":true");
        }
        tool.write_keys(out, Format::BedrockConverse, false);
        out.push_str("}}");
    }
}
