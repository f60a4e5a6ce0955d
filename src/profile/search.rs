//! The search index over a catalog's tools.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

use super::OTHER;
use super::words::split_server;
use crate::catalog::{Catalog, Tool};
use crate::search::{Entry, Index};

/// The maximum number of nested objects whose parameters are searched.
const MAX_DEPTH: usize = 4;

/// The index over the tools of a catalog, in catalog order.
#[must_use]
pub fn tool_index(catalog: &Catalog) -> Index {
    ToolSearch::default().new_index(catalog)
}

/// The search over the tools of one catalog.
#[derive(Debug, Default)]
pub(crate) struct ToolSearch {
    /// The server of a tool and its name there, by its name in the catalog.
    origins: BTreeMap<String, (String, String)>,
    /// Built at the first query.
    index: OnceLock<Index>,
}

impl ToolSearch {
    pub(crate) fn new(origins: BTreeMap<String, (String, String)>) -> Self {
        Self { origins, index: OnceLock::new() }
    }

    /// The same for another catalog with some of the tools.
    pub(crate) fn for_part(&self) -> Self {
        Self::new(self.origins.clone())
    }

    /// The index over the catalog.
    pub(super) fn index(&self, catalog: &Catalog) -> &Index {
        self.index.get_or_init(|| self.new_index(catalog))
    }

    fn new_index(&self, catalog: &Catalog) -> Index {
        Index::new(catalog.iter().map(|tool| self.entry(tool)))
    }

    /// The server of a tool, if it is known or if a namespace or a mark in the name states it.
    pub(super) fn server<'t>(&'t self, tool: &'t Tool) -> Option<&'t str> {
        self.origin(tool).map(|(server, _)| server)
    }

    /// The same, with a name for the tools without a server.
    pub(super) fn server_or_other<'t>(&'t self, tool: &'t Tool) -> &'t str {
        self.server(tool).unwrap_or(OTHER)
    }

    /// The server of a tool and its name there.
    fn origin<'t>(&'t self, tool: &'t Tool) -> Option<(&'t str, &'t str)> {
        let name = tool.name().as_str();
        let known = self.origins.get(name).map(|(server, own)| (server.as_str(), own.as_str()));
        let marked = || split_server(name).filter(|_| name.contains("__"));
        known.or_else(|| tool.namespaced()).or_else(marked)
    }

    fn entry<'t>(&'t self, tool: &'t Tool) -> Entry<'t> {
        let origin = self.origin(tool);
        let parts = origin.or_else(|| split_server(tool.name().as_str()));
        let (server, short) = parts.map_or(("", None), |(server, short)| (server, Some(short)));
        texts(tool).with_short(short).with_server(server, origin.is_some())
    }
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
