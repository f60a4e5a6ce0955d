//! The search index over a catalog's tools.

use std::collections::HashSet;
use std::sync::OnceLock;

use serde_json::Value;

use super::words::split_server;
use super::{Assigned, Assignment, OTHER};
use crate::catalog::{Catalog, Origin, Tool};
use crate::schema::{list_member, object_member, pointed_at, reference, text_member};
use crate::search::{Entry, Index};

/// The maximum number of nested objects whose parameters are searched.
const MAX_DEPTH: usize = 4;

/// The index over the tools of a catalog, in catalog order, with the words of a profile.
#[must_use]
pub fn tool_index(catalog: &Catalog, assignment: &Assignment) -> Index {
    let tools = catalog.iter().zip(assignment.tools.iter());
    Index::new(tools.map(|(tool, assigned)| entry(tool, assigned)))
}

/// The search over the tools of one catalog.
#[derive(Debug, Default)]
pub(crate) struct ToolSearch {
    /// Built at the first query.
    index: OnceLock<Index>,
}

impl ToolSearch {
    /// The index over the catalog.
    pub(super) fn index(&self, catalog: &Catalog, assignment: &Assignment) -> &Index {
        self.index.get_or_init(|| tool_index(catalog, assignment))
    }
}

/// The server of a tool, if it is known or if a namespace or a mark in the name states it.
pub(super) fn server(tool: &Tool) -> Option<&str> {
    served(tool).map(|(server, _)| server)
}

/// The same, with a name for the tools without a server.
pub(super) fn server_or_other(tool: &Tool) -> &str {
    server(tool).unwrap_or(OTHER)
}

/// The server of a tool and its name there.
fn served(tool: &Tool) -> Option<(&str, &str)> {
    if let Origin::Server { server, tool } = tool.origin() {
        return Some((server, tool));
    }
    let name = tool.name().as_str();
    tool.namespaced().or_else(|| split_server(name).filter(|_| name.contains("__")))
}

fn entry<'t>(tool: &'t Tool, assigned: &'t Assigned) -> Entry<'t> {
    let served = served(tool);
    let (server, short) = match served.or_else(|| split_server(tool.name().as_str())) {
        Some((server, short)) => (server, Some(short)),
        None => ("", None),
    };
    let ParameterTexts { labels, details } = ParameterTexts::of(tool);
    let mut entry = Entry::new(tool.name().as_str(), tool.description());
    (entry.labels, entry.details) = (labels, details);
    entry.words = assigned.words.iter().map(String::as_str).collect();
    (entry.short, entry.server, entry.has_origin) = (short, server, served.is_some());
    entry
}

/// The texts of one tool's parameters.
#[derive(Default)]
struct ParameterTexts<'t> {
    /// The names of the parameters.
    labels: Vec<&'t str>,
    /// The descriptions and the text values, also of nested parameters.
    details: Vec<&'t str>,
}

impl<'t> ParameterTexts<'t> {
    fn of(tool: &'t Tool) -> Self {
        let root = tool.parameters();
        let mut texts = Self::default();
        let mut referenced: HashSet<*const Value> = HashSet::new();
        let mut labelled: HashSet<&str> = HashSet::new();
        let mut open: Vec<(&'t Value, usize)> = vec![(root, 0)];
        while let Some((schema, depth)) = open.pop() {
            if depth > 0 {
                texts.details.extend(text_member(schema, "description"));
                texts.details.extend(list_member(schema, "enum").iter().filter_map(Value::as_str));
            }
            let parameters = if depth < MAX_DEPTH { object_member(schema, "properties") } else { None };
            for (name, parameter) in parameters.into_iter().flatten() {
                if depth == 0 && labelled.insert(name) {
                    texts.labels.push(name);
                }
                open.push((parameter, depth + 1));
            }
            if let Some(items) = schema.get("items") {
                open.push((items, depth));
            }
            for key in ["allOf", "anyOf", "oneOf"] {
                for branch in list_member(schema, key) {
                    open.push((branch, depth));
                }
            }
            // Each definition is read once, so cycles end.
            if let Some(target) = reference(schema).and_then(|reference| pointed_at(root, reference))
                && referenced.insert(std::ptr::from_ref(target))
            {
                open.push((target, depth));
            }
        }
        texts
    }
}
