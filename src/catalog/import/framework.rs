//! Tools as frameworks list them, read as tools of MCP: all have a name, a description and a
//! schema.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::fields::Fields;
use crate::catalog::write_string;
use crate::schema::text_member;

/// The shape of a tool that no wire has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// LangChain and crewAI: `{"name","description","args_schema"}` or `args`.
    LangChain,
    /// Cohere, version 1: `{"name","description","parameter_definitions"}`.
    Cohere,
    /// AI SDK: an object of tools, each with `inputSchema` or `parameters`.
    AiSdk,
}

impl Shape {
    /// The shape of an entry; `None` if it is one of a wire, or of another kind.
    pub(super) fn of_entry(fields: &Fields<'_>) -> Option<Self> {
        let has = |key: &str| fields.raw_field(key).is_some();
        if ["function", "parameters", "input_schema", "inputSchema"].into_iter().any(has) || !has("name") {
            return None;
        }
        if is_object(fields, "parameter_definitions") {
            Some(Self::Cohere)
        } else if has("args_schema") || is_object(fields, "args") {
            Some(Self::LangChain)
        } else {
            None
        }
    }

    /// Whether an object is a tool that AI SDK lists under its name.
    pub(super) fn is_named_tool(text: &str) -> bool {
        let Ok(fields) = Fields::parse_fields(text) else { return false };
        let has_schema = is_object(&fields, "inputSchema") || is_object(&fields, "parameters");
        has_schema && fields.raw_field("name").is_none()
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::LangChain => "LangChain and crewAI",
            Self::Cohere => "Cohere",
            Self::AiSdk => "AI SDK",
        }
    }

    /// The keys that are read.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::LangChain => &["name", "description", "args_schema", "args"],
            Self::Cohere => &["name", "description", "parameter_definitions"],
            Self::AiSdk => &["name", "title", "description", "inputSchema", "parameters", "type"],
        }
    }
}

fn is_object(fields: &Fields<'_>, key: &str) -> bool {
    fields.raw_field(key).is_some_and(|raw| raw.get().starts_with('{'))
}

/// A tool in MCP's format.
pub(super) struct Translated {
    pub(super) text: String,
    /// The keys that have no place there.
    pub(super) left_out: Vec<String>,
}

/// Translates an entry. `name`: its key in the object of tools.
///
/// # Errors
/// Returns what was found and what is accepted if there is no schema.
pub(super) fn translated(shape: Shape, name: Option<&str>, fields: &Fields<'_>) -> Result<Translated, String> {
    let mut text = String::from("{");
    for key in ["name", "title", "description"] {
        let own = match name {
            Some(name) if key == "name" => Some(name.to_owned()),
            _ if !shape.keys().contains(&key) => None,
            _ => fields.string(key)?,
        };
        if let Some(own) = own {
            text.push_str(&format!("\"{key}\":"));
            write_string(&mut text, &own);
            text.push(',');
        }
    }
    text.push_str("\"inputSchema\":");
    text.push_str(&schema(shape, fields)?);
    text.push('}');
    let mut left_out = Vec::new();
    for (key, _) in fields.iter() {
        if !shape.keys().contains(&key) {
            left_out.push(key.to_owned());
        }
    }
    Ok(Translated { text, left_out })
}

/// The text of the schema.
fn schema(shape: Shape, fields: &Fields<'_>) -> Result<String, String> {
    let raw = |key: &str| fields.raw_field(key).map(RawValue::get).filter(|text| *text != "null");
    let object = |key: &str| raw(key).and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
    match shape {
        Shape::LangChain => match (raw("args_schema"), object("args")) {
            (Some(text), _) if text.starts_with('{') => Ok(text.to_owned()),
            (_, Some(args)) => Ok(of_arguments(args).to_string()),
            (Some(_), None) => {
                Err("`args_schema` is not a JSON Schema: write `args_schema.model_json_schema()`".into())
            }
            (None, None) => Ok(json!({"type": "object", "properties": {}}).to_string()),
        },
        Shape::Cohere => Ok(of_definitions(&object("parameter_definitions").unwrap_or_default()).to_string()),
        Shape::AiSdk => {
            let key = if raw("inputSchema").is_some() { "inputSchema" } else { "parameters" };
            let own = Fields::parse_fields(raw(key).unwrap_or("{}"))?;
            if own.raw_field("_def").is_some() || own.raw_field("def").is_some() {
                return Err(format!("`{key}` is a Zod object, not a JSON Schema: write `z.toJSONSchema(schema)`"));
            }
            let inner = own.raw_field("jsonSchema").map(RawValue::get).or_else(|| raw(key));
            Ok(inner.unwrap_or("{}").to_owned())
        }
    }
}

/// The schema of `args`: a schema, or its properties. A parameter without a default is required.
fn of_arguments(args: Map<String, Value>) -> Value {
    let is_schema = args.get("properties").is_some_and(|own| own.get("type").is_none_or(|kind| !kind.is_string()))
        || args.get("type").is_some_and(|kind| kind == "object");
    if is_schema {
        return Value::Object(args);
    }
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, own) in args {
        let has_default = own.get("default").is_some();
        let schema = match own {
            Value::String(kind) => of_python(&kind),
            Value::Object(mut schema) => {
                if let Some(Value::Object(kind)) = text_member(&schema, "type").map(of_python) {
                    schema.shift_remove("type");
                    schema.extend(kind);
                }
                Value::Object(schema)
            }
            _ => json!({}),
        };
        if !has_default {
            required.push(Value::String(name.clone()));
        }
        properties.insert(name, schema);
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema of Cohere's `parameter_definitions`.
fn of_definitions(definitions: &Map<String, Value>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, own) in definitions {
        let mut schema = of_python(text_member(own, "type").unwrap_or("Any"));
        if let (Value::Object(schema), Some(text)) = (&mut schema, own.get("description")) {
            schema.insert("description".to_owned(), text.clone());
        }
        if own.get("required") == Some(&Value::Bool(true)) {
            required.push(json!(name));
        }
        properties.insert(name.clone(), schema);
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema of a Python type. The normal form maps the names of simple types.
fn of_python(kind: &str) -> Value {
    let kind = kind.trim();
    let (outer, inner) = match kind.strip_suffix(']').and_then(|kind| kind.split_once('[')) {
        Some((outer, inner)) => (outer.rsplit('.').next().unwrap_or(outer), inner),
        None => (kind, ""),
    };
    match (outer.to_ascii_lowercase().as_str(), inner) {
        ("any" | "", _) => json!({}),
        ("list" | "sequence" | "set", "") => json!({"type": "array", "items": {}}),
        ("list" | "sequence" | "set", inner) => json!({"type": "array", "items": of_python(inner)}),
        ("dict" | "mapping", inner) => match inner.split_once(',') {
            Some((_, value)) => json!({"type": "object", "additionalProperties": of_python(value)}),
            None => json!({"type": "object"}),
        },
        ("optional", inner) => json!({"anyOf": [of_python(inner), {"type": "null"}]}),
        ("literal" | "union" | "tuple" | "callable" | "annotated", _) => json!({}),
        _ => json!({ "type": kind }),
    }
}
