//! The cost of a tool's parts, and the identity of a tool.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use toolfold::catalog::{Catalog, Tool};
use toolfold::policy::canonical::{canonical, digest};
use toolfold::schema::pointer_token;

use crate::json::{list_member, object_member};

/// The baseline for parts: a property that stays, so that no part has its braces.
const STANDS: &str = "_";

/// The name of the remainder of a tool: its name, and everything outside parameters.
pub const REST: &str = "rest";

/// The maximum amount of text counted for the parts of one tool, in bytes. Definitions that every
/// parameter may refer to are counted once per parameter, so a hostile schema could require much
/// more than its own size.
const MAX_WORK_BYTES: usize = 8 * 1024 * 1024;

/// The tokens of a tool's parts, by JSON Pointer into its schema for parameters; `full` is the cost
/// of the whole tool. `count` returns the tokens of an array of tools in OpenAI's format.
///
/// The cost of a part is the difference between a tool with it and one without it, so the work
/// grows with the size of the tool and not with its square. The remainder is [`REST`]. Empty if the
/// tool is too large.
pub fn parts(tool: &Tool, full: usize, mut count: impl FnMut(&[Value]) -> usize) -> IndexMap<String, usize> {
    let mut all = IndexMap::new();
    let none = Map::new();
    let properties = object_member(tool.parameters(), "properties").unwrap_or(&none);
    let own: usize = properties.values().map(|value| value.to_string().len()).sum();
    let shared = tool.parameters_text().len().saturating_sub(own);
    if shared.saturating_mul(properties.len()) > MAX_WORK_BYTES {
        return all;
    }
    let required: BTreeSet<&str> =
        list_member(tool.parameters(), "required").iter().filter_map(Value::as_str).collect();
    let mut of = |description: &str, property: Option<(&String, &Value)>| {
        let mut function = json!({"name": tool.name().as_str()});
        if let Some(own) = function.as_object_mut() {
            if !description.is_empty() {
                own.insert("description".to_owned(), description.into());
            }
            own.insert("parameters".to_owned(), with_only(tool.parameters(), &required, property));
        }
        count(&[json!({"type": "function", "function": function})])
    };
    let bare = of("", None);
    if !tool.description().is_empty() {
        all.insert("description".to_owned(), of(tool.description(), None).saturating_sub(bare));
    }
    for (name, schema) in properties {
        let tokens = of("", Some((name, schema))).saturating_sub(bare);
        all.insert(format!("/properties/{}", pointer_token(name)), tokens);
    }
    let own = all.values().fold(0_usize, |sum, tokens| sum.saturating_add(*tokens));
    all.insert(REST.to_owned(), full.saturating_sub(own));
    all
}

/// A schema with one of its properties and the baseline. The other properties are not copied.
fn with_only(schema: &Value, required: &BTreeSet<&str>, property: Option<(&String, &Value)>) -> Value {
    let mut own = Map::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        let value = match key.as_str() {
            "properties" => continue,
            "required" => match property {
                Some((name, _)) if required.contains(name.as_str()) => json!([name]),
                _ => json!([]),
            },
            _ => value.clone(),
        };
        own.insert(key.clone(), value);
    }
    let mut properties = Map::new();
    properties.insert(STANDS.to_owned(), json!({"type": "string"}));
    if let Some((name, schema)) = property {
        properties.insert(name.clone(), schema.clone());
    }
    own.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(own)
}

/// The digest of a tool's definition: SHA-256 of its canonical JSON. It includes keys that no model
/// sees, because policies read hints.
#[must_use]
pub fn tool_digest(tool: &Tool) -> String {
    digest(&definition(tool))
}

/// The digest of a list of tools: over their digests in order.
#[must_use]
pub fn catalog_digest(catalog: &Catalog) -> String {
    let all: Vec<Value> = catalog.iter().map(|tool| Value::from(tool_digest(tool))).collect();
    digest(&Value::Array(all))
}

/// The full definition of a tool in one format, whatever format it came in.
pub(super) fn definition(tool: &Tool) -> Value {
    let mut own = Map::new();
    own.insert("name".to_owned(), tool.name().as_str().into());
    own.insert("description".to_owned(), tool.description().into());
    if tool.declares_parameters() {
        own.insert("parameters".to_owned(), tool.parameters().clone());
    }
    if let Some(title) = tool.title() {
        own.insert("title".to_owned(), title.into());
    }
    if let Some(strict) = tool.strict() {
        own.insert("strict".to_owned(), strict.into());
    }
    if let Some(hints) = tool.annotations().and_then(|hints| serde_json::to_value(hints).ok()) {
        own.insert("annotations".to_owned(), hints);
    }
    for (key, text) in tool.extra() {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        own.insert(key.to_owned(), value);
    }
    Value::Object(own)
}

pub(super) fn same(before: &Value, after: &Value) -> bool {
    before == after || canonical(before) == canonical(after)
}
