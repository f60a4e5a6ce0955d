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
    let own_search = || client.and_then(|client| client.search_tools().find(|name| catalog.get(name).is_some()));
    let search_entry = || {
        let searches = |label: &&str| label.starts_with("tool_search");
        catalog.foreign().map(crate::catalog::Foreign::label).find(searches)
    };
    let marked = || {
        let tools = catalog.iter().any(|tool| tool.extra().any(|(key, text)| key == "defer_loading" && text == "true"));
        (tools || catalog.foreign().any(|entry| entry.deferred)).then_some("defer_loading")
    };
    let by = own_search().or_else(search_entry).or_else(marked)?;
    Some(Deferral { client: client.map(ClientProfile::name), by: by.to_owned() })
}
