//! From the name a model called to the tool it meant.

use crate::catalog::{Catalog, Tool};
use crate::name::nearest;

/// What a name stands for.
#[derive(Debug)]
pub(super) enum Resolved<'c> {
    /// This tool.
    Tool(&'c Tool),
    /// No tool; the nearest names, at most five.
    Unknown(Vec<&'c str>),
}

/// The tool of a name: exact, or the only one that is the same after folding case, `-` and `_`, and a server's prefix.
///
/// A folded name is taken for a tool only if its server says that it is read-only: a guess must never change anything.
pub(super) fn resolve<'c>(catalog: &'c Catalog, name: &str) -> Resolved<'c> {
    if let Some(tool) = catalog.get(name) {
        return Resolved::Tool(tool);
    }
    let wanted = fold(name);
    if !wanted.is_empty() && name.len() <= 4 * crate::name::MAX_NAME_CHARS {
        let mut same = catalog.iter().filter(|tool| alike(&fold(tool.name().as_str()), &wanted));
        if let (Some(tool), None) = (same.next(), same.next())
            && tool.annotations().and_then(|hints| hints.read_only_hint) == Some(true)
        {
            return Resolved::Tool(tool);
        }
    }
    Resolved::Unknown(nearest(name, catalog.names().map(AsRef::as_ref), 5))
}

/// A name in lower case with one kind of joint, cut at server prefixes.
fn fold(name: &str) -> Vec<String> {
    let folded = name.to_lowercase().replace('-', "_").replace("__", ".").replace([':', '/'], ".");
    folded.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Whether one of two folded names is the other's end: `server.tool` and `tool`.
fn alike(one: &[String], other: &[String]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    !short.is_empty() && long.ends_with(short)
}
