//! Gemini: `[{"functionDeclarations":[{"name","description","parametersJsonSchema"}]}]`.
//!
//! `parametersJsonSchema` accepts plain JSON Schema and excludes `parameters`: nothing is
//! translated, a stub stays open, and arguments need no conversion. Endpoints that do not support
//! it accept a subset of OpenAPI 3.0 in `parameters`: see [`schema`]. There a function without
//! parameters, and a stub, is sent without `parameters`, because an object without properties is
//! rejected ("should be non-empty for OBJECT type"). Source: google-genai 3.4,
//! `FunctionDeclaration`.

mod schema;

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use self::schema::{Change, Subset};
use super::answers::NUMBERED;
use super::api::{
    Answered, Api, ApiFacts, ArgumentsForm, At, CallIds, Demands, OutTool, RenderInput, RenderOptions, Shape, Step,
    WireCall, WireError,
};
use super::render::write_head;
use super::steps::{StepResult, answer_step, called};
use crate::catalog::Format;
use crate::diagnostic::{Diagnostic, InvalidValue, Place, visible};
use crate::profile::Detail;

/// The maximum number of closed tools that are named.
const MAX_NAMED: usize = 3;

/// How a tool's parameters are sent to Gemini.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GeminiParameters {
    /// Unchanged JSON Schema in `parametersJsonSchema`.
    #[default]
    JsonSchema,
    /// The subset of OpenAPI 3.0 in `parameters`, for endpoints that support nothing else.
    OpenApiSubset,
}

impl GeminiParameters {
    /// Every form, in the order of the documentation.
    const ALL: [Self; 2] = [Self::JsonSchema, Self::OpenApiSubset];

    /// The name in flags and files.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::JsonSchema => "json-schema",
            Self::OpenApiSubset => "openapi-subset",
        }
    }

    /// Converts the arguments of a call to those of the tool: with the subset, JSON text is parsed
    /// where the model was asked for it. `parameters` is the tool's full schema. A string that does
    /// not match the request is unchanged.
    #[must_use]
    pub fn restore(self, parameters: &Value, arguments: Value) -> Value {
        match self {
            Self::JsonSchema => arguments,
            Self::OpenApiSubset => Subset::of_parameters(parameters).restore(arguments),
        }
    }

    /// Whether a declaration in Gemini's format can be sent unchanged. The subset has no
    /// `parametersJsonSchema`.
    fn takes(self, declaration: &str) -> bool {
        #[derive(serde::Deserialize)]
        struct Declared<'t> {
            #[serde(borrow, rename = "parametersJsonSchema", alias = "parameters_json_schema")]
            json_schema: Option<&'t serde_json::value::RawValue>,
        }
        let plain = serde_json::from_str::<Declared<'_>>(declaration).is_ok_and(|own| own.json_schema.is_some());
        self == Self::JsonSchema || !plain
    }

    /// A schema as sent in this form; `None` if there is nothing to send.
    #[must_use]
    pub fn schema(self, parameters: &Value) -> Option<Value> {
        match self {
            Self::JsonSchema => Some(parameters.clone()),
            Self::OpenApiSubset => Subset::of_parameters(parameters).schema,
        }
    }
}

impl fmt::Display for GeminiParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for GeminiParameters {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::ALL.into_iter().find(|own| own.name() == text).ok_or_else(|| {
            let text = visible(text);
            InvalidValue::from(format!(
                "unknown form of Gemini's parameters `{text}`: use json-schema or openapi-subset"
            ))
        })
    }
}

pub(super) struct Gemini;

impl Api for Gemini {
    fn facts(&self) -> &'static ApiFacts {
        &ApiFacts {
            name: "gemini",
            format: Format::Gemini,
            message: "a content of Gemini (`parts`)",
            shapes: &[Shape::GeminiContent, Shape::TextBlock],
            parts: true,
            messages: "contents",
            takes_text: false,
            no_native: Some("Gemini has no deferred tools: use arm stable"),
            no_append: Some("no content of Gemini defines a tool: use arm index"),
            append_betas: &[],
            required_schema: None,
            strict: false,
            namespaces: false,
            bridges_by_effect: false,
        }
    }

    fn calls(&self, at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
        let parts = if at.value.is_array() {
            at.elements()?
        } else if let Some(parts) = at.get("parts") {
            parts.elements()?
        } else {
            vec![at.clone().object()?]
        };
        let mut found = Vec::new();
        for part in parts {
            if let Some(call) = part.get("functionCall").or_else(|| part.get("function_call")) {
                found.push(WireCall::read((&call, Some("id")), (&call, "args"))?);
            }
        }
        Ok(found)
    }

    fn steps(&self, message: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
        if message.is("role", "model") {
            return called(message, found);
        }
        let Some(parts) = message.get("parts") else { return Ok(()) };
        for part in parts.elements()? {
            let Some(answer) = part.get("functionResponse").or_else(|| part.get("function_response")) else { continue };
            let name = answer.need("name", "a string")?.text()?.to_owned();
            let id = answer.get("id").map(|id| id.text().map(str::to_owned)).transpose()?;
            let response = answer.get("response");
            let ok = response.as_ref().is_none_or(|response| response.get("error").is_none());
            if let Step::Result(result) = answer_step(id, ok, response) {
                found.push(Step::Result(StepResult { name: Some(name), ..result }));
            }
        }
        Ok(())
    }

    fn call_ids(&self) -> CallIds {
        CallIds::Optional
    }

    fn arguments_form(&self) -> ArgumentsForm {
        ArgumentsForm::OptionalObject
    }

    fn call_item(&self, id: &str, name: &str, arguments: &Value) -> Value {
        if id.is_empty() {
            return json!({"functionCall": {"name": name, "args": arguments}});
        }
        json!({"functionCall": {"id": id, "name": name, "args": arguments}})
    }

    fn assistant_message(&self, calls: Vec<Value>) -> Value {
        json!({"role": "model", "parts": calls})
    }

    fn answer(&self, call: Answered<'_>, text: &str, is_error: bool) -> Value {
        let mut response = Map::new();
        if !call.id.starts_with(NUMBERED) {
            response.insert("id".to_owned(), json!(call.id));
        }
        response.insert("name".to_owned(), json!(call.name));
        // The keys documented for an output and an error of Gemini's FunctionResponse.
        response.insert("response".to_owned(), json!({ if is_error { "error" } else { "output" }: text }));
        json!({"functionResponse": response})
    }

    fn wrapped(&self, answers: Vec<Value>) -> Vec<Value> {
        vec![json!({"role": "user", "parts": answers})]
    }

    fn restored(&self, options: &RenderOptions, parameters: &Value, arguments: &Value) -> Option<Value> {
        if options.gemini_parameters == GeminiParameters::JsonSchema {
            return None;
        }
        let restored = options.gemini_parameters.restore(parameters, arguments.clone());
        (restored != *arguments).then_some(restored)
    }

    /// Gemini has published no error for `parametersJsonSchema`; its own clients always write the
    /// type. The subset is written from the unchanged schema.
    fn demands(&self, options: &RenderOptions) -> Option<Demands> {
        (options.gemini_parameters != GeminiParameters::OpenApiSubset).then_some(Demands::OBJECT)
    }

    /// Reports the tools that are folded to an open schema, which the subset closes.
    fn decide<'s>(&self, input: &RenderInput<'s>, tools: &mut Vec<OutTool<'s>>, notes: &mut Vec<Diagnostic>) {
        if input.options.gemini_parameters == GeminiParameters::OpenApiSubset {
            let mut closed: Vec<&str> = Vec::new();
            for tool in tools {
                if tool.index().is_some() && hides(tool) && !tool.tool().takes_no_parameters() {
                    closed.push(tool.name);
                }
            }
            notes.extend(closed_tools(&closed));
        }
    }

    fn write_tool(&self, out: &mut String, tool: &OutTool<'_>, options: &RenderOptions, notes: &mut Vec<Diagnostic>) {
        let form = options.gemini_parameters;
        if let Some(text) = tool.as_it_came(Format::Gemini).filter(|text| form.takes(text)) {
            return out.push_str(text);
        }
        out.push('{');
        write_head(out, tool.name, tool.description());
        match form {
            GeminiParameters::JsonSchema if tool.tool().declares_parameters() => {
                out.push_str(",\"parametersJsonSchema\":");
                out.push_str(tool.schema());
            }
            GeminiParameters::JsonSchema => {}
            GeminiParameters::OpenApiSubset => write_subset(out, tool, notes),
        }
        tool.write_keys(out, Format::Gemini, false);
        out.push('}');
    }
}

fn write_subset(out: &mut String, tool: &OutTool<'_>, notes: &mut Vec<Diagnostic>) {
    let subset = Subset::of_parameters(&tool.folded.parameters());
    if let Some(parameters) = subset.schema {
        out.push_str(",\"parameters\":");
        out.push_str(&parameters.to_string());
    }
    if tool.index().is_some() {
        // Openness added by folding is not a loss of the tool.
        for change in &subset.changes {
            if !hides(tool) || change.keyword != "additionalProperties" {
                notes.push(change.diagnostic(tool.name));
            }
        }
    }
}

/// Whether a tool is folded so far that it accepts parameters which its schema does not show.
fn hides(tool: &OutTool<'_>) -> bool {
    matches!(tool.folded.detail, Detail::Summary | Detail::Required)
}

/// The diagnostic about tools folded to an open schema, which the subset cannot express.
fn closed_tools(names: &[&str]) -> Option<Diagnostic> {
    let named: Vec<String> = names.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (folded, hidden) = if names.len() == 1 { ("is", "its") } else { ("are", "their") };
    (!names.is_empty()).then(|| {
        let message = format!(
            "{}{more} {folded} folded to an open schema, and the OpenAPI subset closes it: the model cannot give {hidden} \
             hidden parameters",
            named.join(", ")
        );
        Diagnostic::warning("gemini-closed-stub", Place::default(), message)
            .help("send parameters as json-schema, or use arm signature, index or full")
    })
}

impl Change {
    fn diagnostic(&self, name: &str) -> Diagnostic {
        let places = if self.count == 1 { String::new() } else { format!(", at {} places", self.count) };
        let message = format!("tool `{name}`: `{}` {}{places}", self.keyword, self.what);
        Diagnostic::note("gemini-subset", Place::default().path(&self.path), message).help(
            "the OpenAPI subset is asked for; json-schema sends the whole schema. Calls are checked against it here",
        )
    }
}
