//! The names under which a model sees tools and categories.
//!
//! A provider may have no room for a tool's own name, or another tool may have a meta-tool's. What is said to the model
//! uses the names that it sees, and what it writes is understood by them. This layer only asks; who talks to a provider
//! answers.

use super::{Bridge, EXPAND_TOOLS};
use crate::catalog::Catalog;

/// How names are shown to a model, and read back.
pub trait Naming {
    /// The name under which a tool is shown. `index` is its place in the catalogue, `own` its name there.
    fn tool<'n>(&'n self, index: usize, own: &'n str) -> &'n str;

    /// The tool that is shown under a name; a tool's own name is understood too.
    fn find_tool(&self, catalog: &Catalog, shown: &str) -> Option<usize>;

    /// The name under which a category is shown.
    fn category<'n>(&'n self, own: &'n str) -> &'n str {
        own
    }

    /// The category that is shown under a name; any other text is given back.
    fn find_category<'n>(&'n self, shown: &'n str) -> &'n str {
        shown
    }

    /// The name of the meta-tool that opens categories.
    fn expand_tools(&self) -> &str {
        EXPAND_TOOLS
    }

    /// Whether tools that are not in the array are called through a meta-tool for each kind of effect.
    fn tells_effects_apart(&self) -> bool {
        false
    }

    /// The name of a meta-tool that calls what is not in the array.
    fn bridge(&self, bridge: Bridge) -> &str {
        bridge.name()
    }
}

/// Everything under its own name.
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
