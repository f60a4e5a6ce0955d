//! Parameters under names that a provider accepts.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value;

use super::limits::NameRule;
use super::names::{Names, ascii_words};
use crate::catalog::{Catalog, Tool};
use crate::diagnostic::{Diagnostic, Place, visible};
use crate::schema;

/// The maximum number of parameters of a tool that a note names.
const MAX_NAMED: usize = 8;

/// The tools with a parameter that the rule refuses, each with its index and under names that it
/// accepts. Calls are converted back by [`Arguments::own_input`](super::Arguments::own_input).
pub(crate) fn with_accepted_parameters(catalog: &Catalog, rule: &NameRule) -> Vec<(usize, Tool)> {
    let mut found = Vec::new();
    for (index, tool) in catalog.iter().enumerate() {
        if let Some(tool) = accepted(tool, rule) {
            found.push((index, tool));
        }
    }
    found
}

fn accepted(tool: &Tool, rule: &NameRule) -> Option<Tool> {
    let own = schema::parameters(tool.parameters())?;
    if own.keys().all(|name| rule.fits(name)) {
        return None;
    }
    let names: Vec<&str> = own.keys().copied().collect();
    let words = |name: &str| {
        let description = own.get(name).and_then(|schema| schema.get("description")).and_then(Value::as_str);
        ascii_words(description.unwrap_or_default())
    };
    let sent = Names::mangle(rule, &[], &BTreeSet::new(), &names, &words);
    let sent: IndexMap<&str, &str> = sent.iter().collect();
    tool.with_parameter_names(&sent)
}

/// A note about the tool's parameters that are sent under other names.
pub(super) fn renamed_parameters(tool: &Tool, wire: impl std::fmt::Display) -> Option<Diagnostic> {
    let renamed = &tool.input().renamed;
    if renamed.is_empty() {
        return None;
    }
    let mut pairs: Vec<String> = Vec::new();
    for (shown, own) in renamed.iter().take(MAX_NAMED) {
        pairs.push(format!("`{}` as `{shown}`", visible(own)));
    }
    if renamed.len() > MAX_NAMED {
        pairs.push(format!("{} more", renamed.len() - MAX_NAMED));
    }
    let message = format!("tool `{}`: {wire} refuses names of parameters, sent are {}", tool.name(), pairs.join(", "));
    Some(Diagnostic::note("renamed-parameter", Place::default(), message))
}
