//! Detects arrays that already defer tools.

use super::ClientProfile;
use crate::catalog::Catalog;

/// How an array already defers tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deferral {
    /// The client that sent the array, if known.
    pub client: Option<&'static str>,
    /// The evidence: the name or type of the search tool, or `defer_loading`.
    pub by: String,
}

/// Whether a tool array already defers tools: it has a tool search of its client or its provider,
/// or tools marked `defer_loading`. Folding such an array as well would hide tools twice.
#[must_use]
pub fn already_defers(catalog: &Catalog) -> Option<Deferral> {
    let client = ClientProfile::detect(catalog);
    let by = evidence(catalog, client)?.to_owned();
    Some(Deferral { client: client.map(ClientProfile::name), by })
}

fn evidence<'c>(catalog: &'c Catalog, client: Option<&'c ClientProfile>) -> Option<&'c str> {
    if let Some(name) = client.and_then(|client| client.search_tools().find(|name| catalog.get(name).is_some())) {
        return Some(name);
    }
    if let Some(entry) = catalog.foreign().find(|entry| entry.label().starts_with("tool_search")) {
        return Some(entry.label());
    }
    let marked = catalog.iter().any(|tool| tool.extra().any(|(key, text)| key == "defer_loading" && text == "true"));
    (marked || catalog.foreign().any(|entry| entry.deferred)).then_some("defer_loading")
}
