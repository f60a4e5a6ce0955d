//! The search index over a catalog's tools.

use std::sync::OnceLock;

use serde_json::Value;

use super::words::split_server;
use crate::catalog::{Catalog, Origin, Tool};
use crate::search::{Entry, Index};

/// The maximum number of nested objects whose parameters are searched.
const MAX_DEPTH: usize = 4;

/// The index over the tools of a catalog, in catalog order.
#[must_use]
pub fn tool_index(catalog: &Catalog) -> Index {
    Index::new(catalog.iter().map(entry))
}

/// The search over the tools of one catalog.
#[derive(Debug, Default)]
pub(crate) struct ToolSearch {
    /// Built at the first query.
    index: OnceLock<Index>,
}

impl ToolSearch {
    /// The index over the catalog.
    pub(super) fn index(&self, catalog: &Catalog) -> &Index {
        self.index.get_or_init(|| tool_index(catalog))
    }
}

/// The server of a tool, if it is known or if a namespace or a mark in the name states it.
pub(super) fn server(tool: &Tool) -> Option<&str> {
    served(tool).map(|(server, _)| server)
}

/// The server of a tool and its name there.
fn served(tool: &Tool) -> Option<(&str, &str)> {
    if let Origin::Server { server, tool } = tool.origin() {
        return Some((server, tool));
    }
    let name = tool.name().as_str();
    tool.namespaced().or_else(|| split_server(name).filter(|_| name.contains("__")))
}

fn entry(tool: &Tool) -> Entry<'_> {
    let served = served(tool);
    let parts = served.or_else(|| split_server(tool.name().as_str()));
    let (server, short) = parts.map_or(("", None), |(server, short)| (server, Some(short)));
    texts(tool).with_short(short).with_server(server, served.is_some())
}

/// The texts of a tool that are searched.
fn texts(tool: &Tool) -> Entry<'_> {
    let parameters = tool.parameters().get("properties").and_then(Value::as_object);
    let labels = parameters.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let mut details = Vec::new();
    add_details(tool.parameters(), 0, &mut details);
    Entry::new(tool.name().as_str(), tool.description()).with_labels(labels).with_details(details)
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
