//! The names under which a model sees tools and categories.
//!
//! A provider may not support a tool's own name, or a tool may have the name of a meta-tool. Texts
//! for the model use the names that it sees, and its calls are resolved by them. This layer only
//! defines the trait; the wire side implements it.

use std::collections::BTreeSet;

use super::{Bridge, EXPAND_TOOLS};
use crate::catalog::Catalog;
use crate::name::MAX_NAME_CHARS;

/// Maps names to those that a model sees, and back.
pub trait Naming {
    /// The name under which a tool is shown. `index` is its index in the catalog, `own` its catalog
    /// name.
    fn tool<'n>(&'n self, index: usize, own: &'n str) -> &'n str;

    /// The tool shown under a name. A tool's own name is accepted too.
    fn find_tool(&self, catalog: &Catalog, shown: &str) -> Option<usize>;

    /// The name under which a category is shown.
    fn category<'n>(&'n self, own: &'n str) -> &'n str {
        own
    }

    /// The category shown under a name; any other text is returned unchanged.
    fn find_category<'n>(&'n self, shown: &'n str) -> &'n str {
        shown
    }

    /// The name of the meta-tool that opens categories.
    fn expand_tools(&self) -> &str {
        EXPAND_TOOLS
    }

    /// Whether tools outside the array are called through one meta-tool per kind of effect.
    fn tells_effects_apart(&self) -> bool {
        false
    }

    /// The name of a meta-tool that calls tools outside the array.
    fn bridge(&self, bridge: Bridge) -> &str {
        bridge.name()
    }
}

/// Shows everything under its own name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CatalogNames;

impl Naming for CatalogNames {
    fn tool<'n>(&'n self, _index: usize, own: &'n str) -> &'n str {
        own
    }

    fn find_tool(&self, catalog: &Catalog, shown: &str) -> Option<usize> {
        catalog.position(shown)
    }
}

/// The tools that a name written by a model can refer to, in catalog order: the tool with this
/// name; otherwise those with this [short name](with_short_name); otherwise those whose names end
/// with it after a separator, because a host may join the server and the name with `_`.
pub(crate) fn named_by(catalog: &Catalog, naming: &dyn Naming, written: &str) -> Vec<usize> {
    if let Some(at) = naming.find_tool(catalog, written) {
        return vec![at];
    }
    let short = with_short_name(catalog, naming, written);
    if !short.is_empty() || written.is_empty() {
        return short;
    }
    let mut found = Vec::new();
    for (at, own) in catalog.names().enumerate() {
        let before = own.as_str().strip_suffix(written);
        if before.is_some_and(|before| before.ends_with(['_', '-', '.', '/', ':'])) {
            found.push(at);
        }
    }
    found
}

/// The tools with a short name, in catalog order: `name` or `server.name` for `server__name`,
/// `server.name`, `server:name` and `server/name`. Case, and `-` or `_`, do not matter. A server
/// that the catalog's name does not contain is ignored.
pub(crate) fn with_short_name(catalog: &Catalog, naming: &dyn Naming, written: &str) -> Vec<usize> {
    let wanted = name_parts(written);
    if wanted.is_empty() || written.len() > 4 * MAX_NAME_CHARS {
        return Vec::new();
    }
    let mut found = BTreeSet::new();
    for (at, own) in catalog.names().enumerate() {
        let shown = naming.tool(at, own.as_str());
        if ends_alike(own.as_str(), &wanted) || (shown != own.as_str() && ends_alike(shown, &wanted)) {
            found.insert(at);
        }
    }
    found.into_iter().collect()
}

/// Whether the parts of one name end with those of the other.
fn ends_alike(name: &str, wanted: &[String]) -> bool {
    // Most names differ in their last letter.
    let last = wanted.last().and_then(|part| part.bytes().next_back());
    if name.bytes().next_back().is_some_and(|byte| byte.is_ascii_lowercase() && Some(byte) != last) {
        return false;
    }
    let parts = name_parts(name);
    let (short, long) = if parts.len() <= wanted.len() { (&parts[..], wanted) } else { (wanted, &parts[..]) };
    !short.is_empty() && long.ends_with(short)
}

/// A name in lower case with uniform separators, split after each server.
fn name_parts(name: &str) -> Vec<String> {
    let name = name.to_lowercase().replace('-', "_").replace("__", ".").replace([':', '/'], ".");
    name.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CatalogNames, named_by, with_short_name};
    use crate::catalog::Catalog;

    #[test]
    fn short_names_have_candidates() {
        let names = ["github__create_issue", "gitlab.create_issue", "mcp__slack__post-message", "draw", "a_b_draw_all"];
        let tools = json!(names.map(|name| json!({"name": name, "input_schema": {"type": "object"}})));
        let catalog = Catalog::from_anthropic(&tools.to_string()).unwrap();
        for (written, short, named) in [
            ("draw", &[3][..], &[3][..]),
            ("create_issue", &[0, 1], &[0, 1]),
            ("Create-Issue", &[0, 1], &[0, 1]),
            ("gitlab:create_issue", &[1], &[1]),
            ("github.create_issue", &[0], &[0]),
            ("post_message", &[2], &[2]),
            ("slack/post_message", &[2], &[2]),
            ("other__draw", &[3], &[3]),
            ("draw_all", &[], &[4]),
            ("issue", &[], &[0, 1]),
            ("raw", &[], &[]),
            ("", &[], &[]),
        ] {
            assert_eq!(with_short_name(&catalog, &CatalogNames, written), short, "{written}");
            assert_eq!(named_by(&catalog, &CatalogNames, written), named, "{written}");
        }
    }
}
