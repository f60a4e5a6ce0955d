//! The names under which a model sees tools and categories.
//!
//! A provider may not support a tool's own name, or a tool may have the name of a meta-tool. Texts
//! for the model use the names that it sees, and its calls are resolved by them. This layer only
//! defines the trait; the wire side implements it.

use super::{Bridge, EXPAND_TOOLS};
use crate::catalog::Catalog;

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

/// The separators between a server's name and that of its tool.
const SERVER_SEPARATORS: [&str; 4] = ["__", ".", "/", ":"];

/// The only tool with this name on any server: `list` for `files__list`. `None` if there is none,
/// or more than one. A name that a server states for itself does not count: it could be that of
/// another server's tool (`files_list`).
#[must_use]
pub(crate) fn find_short_name(catalog: &Catalog, short: &str) -> Option<usize> {
    let is_short_for = |own: &str| {
        let server = own.strip_suffix(short).filter(|_| !short.is_empty());
        server.is_some_and(|server| SERVER_SEPARATORS.iter().any(|separator| server.ends_with(separator)))
    };
    let mut found = catalog.names().enumerate().filter(|(_, own)| is_short_for(own.as_str()));
    found.next().filter(|_| found.next().is_none()).map(|(at, _)| at)
}
