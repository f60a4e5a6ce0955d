//! The search index over a catalog's tools.

use serde_json::Value;

use super::words::split_server;
use crate::catalog::{Catalog, Tool};
use crate::search::{Entry, Index};

/// The maximum number of nested objects whose parameters are searched.
const MAX_DEPTH: usize = 4;

/// The index over the tools of a catalog, in catalog order.
#[must_use]
pub fn tool_index(catalog: &Catalog) -> Index {
    Index::new(catalog.iter().map(entry))
}

/// The server of a tool, if its namespace or a mark in its name states it.
pub(super) fn origin(tool: &Tool) -> Option<&str> {
    let name = tool.name().as_str();
    let marked = tool.namespaced().or_else(|| split_server(name).filter(|_| name.contains("__")));
    marked.map(|(server, _)| server)
}

fn entry(tool: &Tool) -> Entry<'_> {
    let name = tool.name().as_str();
    let marked = tool.namespaced().or_else(|| split_server(name));
    let (server, short) = marked.map_or(("", None), |(server, short)| (server, Some(short)));
    let has_origin = origin(tool).is_some();
    let parameters = tool.parameters().get("properties").and_then(Value::as_object);
    let labels = parameters.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let mut details = Vec::new();
    add_details(tool.parameters(), 0, &mut details);
    Entry { name, short, server, has_origin, labels, details, description: tool.description() }
}

/// Adds the descriptions and the text values of the parameters in a schema.
fn add_details<'t>(schema: &'t Value, depth: usize, details: &mut Vec<&'t str>) {
    if depth == MAX_DEPTH {
        return;
    }
    let Some(parameters) = schema.get("properties").and_then(Value::as_object) else { return };
    for parameter in parameters.values() {
        for schema in std::iter::once(parameter).chain(parameter.get("items")) {
            details.extend(schema.get("description").and_then(Value::as_str));
            let values = schema.get("enum").and_then(Value::as_array);
            details.extend(values.into_iter().flatten().filter_map(Value::as_str));
            add_details(schema, depth + 1, details);
        }
    }
}
