//! Detects arrays that already defer tools.

use std::fmt;

use super::{ClientProfile, may_be_own};
use crate::catalog::Catalog;

/// How an array already defers tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Deferral {
    /// The client that sent the array, if known.
    pub client: Option<&'static str>,
    /// The evidence: the name or type of the search tool, or `defer_loading`.
    pub by: String,
}

impl fmt::Display for Deferral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the array ")?;
        if let Some(client) = self.client {
            write!(f, "of {client} ")?;
        }
        write!(f, "already defers its tools with {}: it is unchanged", self.by)
    }
}

/// Whether a tool array already defers tools: it has a tool search of its client or its provider,
/// or tools marked `defer_loading`. Folding such an array as well would hide tools twice, so a
/// derived profile makes all of its tools core.
#[must_use]
pub(crate) fn already_defers(catalog: &Catalog) -> Option<Deferral> {
    let client = ClientProfile::detect(catalog);
    let by = evidence(catalog, client)?.to_owned();
    Some(Deferral { client: client.map(|client| client.name.as_str()), by })
}

fn evidence<'c>(catalog: &'c Catalog, client: Option<&'c ClientProfile>) -> Option<&'c str> {
    if let Some(name) = client.and_then(|client| client.search_tools().find(|name| may_be_own(catalog, name))) {
        return Some(name);
    }
    if may_be_own(catalog, "tool_search") && may_be_own(catalog, "tool_call") {
        return Some("tool_search");
    }
    if let Some(entry) = catalog.foreign().find(|entry| entry.label.starts_with("tool_search")) {
        return Some(&entry.label);
    }
    let marked = catalog.iter().any(|tool| tool.extra().any(|(key, text)| key == "defer_loading" && text == "true"));
    (marked || catalog.foreign().any(|entry| entry.deferred)).then_some("defer_loading")
}
