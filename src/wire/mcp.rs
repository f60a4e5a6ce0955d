//! MCP's `tools/list`: `{"name","title"?,"description","inputSchema",…}`.
//!
//! A folded tool keeps all its other keys: its annotations, which clients use when they prompt the
//! user, its output schema, which clients check results with, and any unknown keys of the server.

use serde_json::{Value, json};

use super::api::{
    Answered, Api, ApiFacts, ArgumentsForm, At, CallIds, Demands, OutTool, RenderOptions, Shape, Step, WireCall,
    WireError,
};
use super::calls::request_id;
use super::render::write_head;
use super::steps::{answer_step, called};
use crate::catalog::{Format, write_string};
use crate::diagnostic::Diagnostic;

pub(super) struct Mcp;

impl Api for Mcp {
    fn facts(&self) -> &'static ApiFacts {
        &ApiFacts {
            name: "mcp",
            format: Format::Mcp,
            message: "a `tools/call` request of MCP",
            shapes: &[Shape::McpRequest],
            parts: true,
            messages: "messages",
            takes_text: false,
            no_native: Some("MCP has no deferred tools, and a server does not know its client's model: use arm stable"),
            no_append: Some("an MCP server adds nothing to its client's messages: use arm index"),
            append_betas: &[],
            required_schema: Some("inputSchema"),
            strict: false,
            namespaces: false,
            bridges_by_effect: true,
        }
    }

    fn calls(&self, at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
        if at.value.is_array() {
            let each = at.elements()?.iter().map(|at| self.calls(at)).collect::<Result<Vec<_>, _>>()?;
            return Ok(each.into_iter().flatten().collect());
        }
        let at = at.clone().object()?;
        let params = match at.get("method") {
            Some(method) if method.text()? == "tools/call" => at.need("params", "an object")?.object()?,
            Some(_) => return Ok(Vec::new()),
            // Bare parameters. A value with a type or a role is a message of another API.
            None if at.get("type").is_some() || at.get("role").is_some() => at.need("method", "a string")?,
            None => at.clone(),
        };
        let request = at.get("id");
        let id = request.as_ref().map(request_id).transpose()?;
        let call = WireCall::read((&at, None), (&params, "arguments"))?;
        Ok(vec![WireCall { id, request: request.map(|id| id.value.clone()), ..call }])
    }

    fn steps(&self, message: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
        if message.get("method").is_some() {
            return called(message, found);
        }
        let (result, error) = (message.get("result"), message.get("error"));
        if let Some(id) = message.get("id").filter(|_| result.is_some() || error.is_some()) {
            let flag = result.as_ref().and_then(|result| result.get("isError"));
            let ok = error.is_none() && flag.is_none_or(|flag| flag.value != &Value::Bool(true));
            found.push(answer_step(Some(request_id(&id)?), ok, result.or(error)));
        }
        Ok(())
    }

    fn call_ids(&self) -> CallIds {
        CallIds::Fixed
    }

    fn arguments_form(&self) -> ArgumentsForm {
        ArgumentsForm::OptionalObject
    }

    fn call_item(&self, id: &str, name: &str, arguments: &Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    }

    fn answer(&self, _call: Answered<'_>, text: &str, is_error: bool) -> Value {
        json!({"content": [{"type": "text", "text": text}], "isError": is_error})
    }

    /// Source: MCP 2025-11-25, `Tool.inputSchema`.
    fn demands(&self, _options: &RenderOptions) -> Option<Demands> {
        Some(Demands::OBJECT)
    }

    fn write_tool(&self, out: &mut String, tool: &OutTool<'_>, _options: &RenderOptions, _notes: &mut Vec<Diagnostic>) {
        if let Some(text) = tool.as_it_came(Format::Mcp) {
            return out.push_str(text);
        }
        out.push('{');
        write_head(out, tool.name, tool.description());
        if let Some(title) = tool.tool().title() {
            out.push_str(",\"title\":");
            write_string(out, title);
        }
        out.push_str(",\"inputSchema\":");
        out.push_str(tool.schema());
        if let Some(annotations) =
            tool.tool().annotations().filter(|_| tool.own_key(Format::Mcp, "annotations").is_none())
        {
            out.push_str(",\"annotations\":");
            out.push_str(&serde_json::to_string(annotations).unwrap_or_else(|_| "{}".to_owned()));
        }
        tool.write_keys(out, Format::Mcp, false);
        out.push('}');
    }
}
