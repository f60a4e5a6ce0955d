//! Reading one tool.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::check::{check_references, check_type, hidden_text};
use super::dialect::from_gemini;
use super::fields::{self, Fields};
use super::notes::{bad_tool, caution, fault, note};
use super::sniff;
use crate::catalog::compact::compact;
use crate::catalog::faults::Faults;
use crate::catalog::input::Input;
use crate::catalog::slice::Slice;
use crate::catalog::tool::{Key, qualified};
use crate::catalog::{Format, Origin, Tool};
use crate::diagnostic::Diagnostic;
use crate::name::ToolName;
use crate::schema;

const SCHEMA_HELP: &str = "a schema is a JSON object, nested at most 120 levels deep";

/// Reads a tool from its text, with its namespace if it is in one. `outer` holds the text's fields.
pub(super) fn read_tool(
    raw: &RawValue,
    outer: &Fields<'_>,
    format: Format,
    namespace: Option<&Arc<str>>,
    noticed: &mut Vec<Diagnostic>,
) -> Result<Tool, Diagnostic> {
    // A declaration in Gemini's subset looks like a flat function.
    if let Some(own) = sniff::of_tool(outer)
        && own != format
        && !(own == Format::OpenAiResponses && format == Format::Gemini)
    {
        return Err(fault("mixed-formats", format!("this tool has the shape of {own} in a list of {format}"))
            .help("one list has one format: import them apart"));
    }
    let text: Arc<str> = compact(raw.get()).into();
    // Parsed again from the compact text, so that the stored parts are slices of it.
    let parts = Parts::of_tool(&text, format).map_err(bad_tool)?;
    let fields = parts.function.as_ref().unwrap_or(&parts.outer);

    let Some(own_name) = fields.string("name").map_err(bad_tool)? else {
        return Err(fault("no-name", "a tool must have a `name`").help(format.example()));
    };
    let full_name = match namespace {
        Some(space) => qualified(space, &own_name),
        None => own_name.clone(),
    };
    let name =
        Tool::check_name(&full_name).map_err(|why| fault("bad-name", why.to_string()).help("rename the tool"))?;
    let strict = fields.boolean("strict").map_err(bad_tool)?;
    let annotations = match fields.raw_field("annotations").filter(|_| format == Format::Mcp) {
        None => None,
        Some(raw) => serde_json::from_str(raw.get()).map_err(|why| {
            fault("bad-annotations", format!("tool `{name}`: annotations: {}", fields::without_place(&why)))
                .help("hints are true or false, such as {\"readOnlyHint\": true}")
        })?,
    };
    let found = format.schema_keys().iter().find_map(|key| Some((*key, fields.raw_field(key)?)));
    let declared = found.is_some_and(|(_, raw)| raw.get() != "null");
    let (mut given, mut input) = (None, Input::default());
    let (parameters, parameters_text) = match found {
        Some((key, raw)) if declared => {
            let is_subset = format == Format::Gemini && key == "parameters";
            let (raw, at) = parts.schema(key, raw, format).map_err(bad_tool)?;
            let mut below = Vec::new();
            let own = read_schema(&name, raw, &text, is_subset, &mut below);
            for diagnostic in &mut below {
                diagnostic.place.path = Some(at.clone());
            }
            noticed.append(&mut below);
            let own = own.map_err(|mut fault| {
                fault.place.path = Some(at);
                fault
            })?;
            (given, input) = (own.given, own.input);
            (own.parameters, own.text)
        }
        _ => {
            if let Format::Mcp | Format::Anthropic | Format::BedrockConverse = format {
                let key = format.schema_keys().first().copied().unwrap_or_default();
                let message = format!("tool `{name}` has no `{key}`; assuming no parameters");
                noticed.push(caution("no-schema", message).help(format!("{format} requires one")));
            } else if let Some((key, accepted)) = unread_schema(fields, format) {
                let message = format!("tool `{name}` has no parameters: its key `{key}` is not read as a schema");
                noticed.push(caution("no-schema", message).help(format!("{format} has the schema in `{accepted}`")));
            }
            const NONE: &str = r#"{"type":"object","properties":{}}"#;
            (serde_json::json!({"type":"object","properties":{}}), Slice::whole_text(NONE))
        }
    };
    let description = fields.string("description").map_err(bad_tool)?;
    // An MCP client gets the schema as it was given.
    let sent = given.as_deref().unwrap_or(&parameters);
    noticed.extend(hidden_text(&name, description.as_deref().unwrap_or_default(), sent));
    Ok(Tool {
        namespaced: namespace.map(|space| (space.clone(), own_name.into())),
        title: fields.string("title").map_err(bad_tool)?.map(Into::into),
        description: description.map(Into::into),
        keys: parts.keys(&text, format),
        source: parts.is_whole(format).then(|| Slice::whole_text(text.clone())),
        format: Some(format),
        origin: Origin::Unknown,
        skill_run: None,
        activates: None,
        name,
        no_parameters: schema::takes_no_parameters(&parameters),
        faults: Faults::of_schema(&parameters),
        parameters: Arc::new(parameters),
        given,
        parameters_text,
        input,
        declared,
        annotations,
        strict,
    })
}

/// A key that looks like the schema of a tool without one, and the key that the format has.
fn unread_schema<'f>(fields: &'f Fields<'_>, format: Format) -> Option<(&'f str, &'static str)> {
    #[derive(serde::Deserialize)]
    struct Like<'t> {
        #[serde(borrow, rename = "type")]
        kind: Option<&'t RawValue>,
        properties: Option<&'t RawValue>,
    }
    for (key, raw) in fields.iter() {
        if raw.get().starts_with('{')
            && let Ok(like) = serde_json::from_str::<Like<'_>>(raw.get())
            && (like.properties.is_some() || like.kind.is_some_and(|kind| kind.get() == "\"object\""))
        {
            return Some((key, format.schema_keys().first().copied()?));
        }
    }
    None
}

/// A tool's fields, and those of its `function` (Chat Completions) or `toolSpec` (Bedrock) if it
/// has one.
struct Parts<'t> {
    outer: Fields<'t>,
    function: Option<Fields<'t>>,
}

impl<'t> Parts<'t> {
    fn of_tool(text: &'t str, format: Format) -> Result<Self, String> {
        let outer = Fields::parse_fields(text)?;
        let function = match format {
            Format::OpenAiChat => outer.raw_field("function"),
            Format::BedrockConverse => outer.raw_field("toolSpec"),
            _ => None,
        };
        let function = function.map(|raw| Fields::parse_fields(raw.get())).transpose()?;
        Ok(Self { outer, function })
    }

    /// The schema that a key holds, and its path in the tool.
    fn schema<'r>(&self, key: &str, raw: &'r RawValue, format: Format) -> Result<(&'r RawValue, String), String> {
        match format {
            Format::BedrockConverse => {
                let held = Fields::from_raw(raw)?.raw_field("json").ok_or("`inputSchema` must be {\"json\": {…}}")?;
                Ok((held, format!("/toolSpec/{key}/json")))
            }
            _ if self.function.is_some() => Ok((raw, format!("/function/{key}"))),
            _ => Ok((raw, format!("/{key}"))),
        }
    }

    /// The keys for which toolfold has no field.
    fn keys(&self, text: &Arc<str>, format: Format) -> Box<[Key]> {
        let inner = self.function.as_ref().unwrap_or(&self.outer);
        let mut keys = Vec::new();
        for (name, raw) in inner.iter() {
            if !has_field(name, format) {
                keys.push(Key { name: name.into(), text: Slice::range_of(text, raw.get()), outer: false });
            }
        }
        if self.function.is_some() {
            for (name, raw) in self.outer.iter() {
                if !matches!(name, "type" | "function" | "toolSpec") {
                    keys.push(Key { name: name.into(), text: Slice::range_of(text, raw.get()), outer: true });
                }
            }
        }
        keys.into()
    }

    /// Whether the text is already a complete tool of its format. A flat function without `type`
    /// belongs to the older `functions` array, and one without `function` is not valid in Chat
    /// Completions.
    fn is_whole(&self, format: Format) -> bool {
        match format {
            Format::OpenAiChat => self.function.is_some() && self.outer.raw_field("type").is_some(),
            Format::OpenAiResponses => self.outer.raw_field("type").is_some(),
            Format::Anthropic | Format::Mcp | Format::Gemini => true,
            Format::BedrockConverse => self.function.is_some(),
        }
    }
}

/// Whether toolfold has a field for a key of a tool.
fn has_field(key: &str, format: Format) -> bool {
    match key {
        "name" | "description" => true,
        "type" => matches!(format, Format::OpenAiChat | Format::OpenAiResponses),
        "strict" => format != Format::Mcp && format != Format::Gemini,
        "title" => format == Format::Mcp,
        other => format.schema_keys().contains(&other),
    }
}

/// A schema in normal form, of an object.
struct Schema {
    parameters: Value,
    text: Slice,
    /// As it was given, if it was changed.
    given: Option<Arc<Value>>,
    input: Input,
}

fn read_schema(
    name: &ToolName,
    raw: &RawValue,
    text: &Arc<str>,
    is_subset: bool,
    noticed: &mut Vec<Diagnostic>,
) -> Result<Schema, Diagnostic> {
    let parse = || serde_json::from_str::<Value>(raw.get());
    let mut value = parse().map_err(|why| {
        fault("bad-schema", format!("tool `{name}`: the schema cannot be read: {}", fields::without_place(&why)))
            .help(SCHEMA_HELP)
    })?;
    // PHP writes an empty object as an empty list.
    if value.as_array().is_none_or(|list| !list.is_empty()) {
        Tool::check_parameters(&value)
            .map_err(|why| fault("bad-schema", format!("tool `{name}`: {why}")).help(SCHEMA_HELP))?;
    }
    check_references(name, &value, noticed);
    let is_converted = is_subset && from_gemini(&mut value);
    let repairs = schema::normalize(&mut value);
    if !repairs.is_empty() {
        let message = format!("tool `{name}`: its schema is read as JSON Schema 2020-12: {repairs}");
        noticed.push(note("repaired-schema", message));
    }
    let input = Input::wrap(&mut value);
    noticed.extend(check_type(name, &value, input.is_wrapped));
    if repairs.is_empty() && !input.is_wrapped {
        let text = if is_converted { Slice::whole_text(value.to_string()) } else { Slice::range_of(text, raw.get()) };
        return Ok(Schema { parameters: fitted(value), text, given: None, input });
    }
    let text = Slice::whole_text(value.to_string());
    // Read once more, so that no schema in normal form is copied.
    let mut given = parse().unwrap_or_default();
    if is_subset {
        from_gemini(&mut given);
    }
    Ok(Schema { parameters: fitted(value), text, given: Some(Arc::new(fitted(given))), input })
}

/// Copies a value into the least memory. A map that grew has room for four, eight or sixteen
/// entries of over a hundred bytes each, although most maps of a schema have one or two: the excess
/// is a third of a large catalog's memory.
fn fitted(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| (key, fitted(value))).collect()),
        Value::Array(list) => {
            let mut list: Vec<Value> = list.into_iter().map(fitted).collect();
            list.shrink_to_fit();
            Value::Array(list)
        }
        leaf => leaf,
    }
}
