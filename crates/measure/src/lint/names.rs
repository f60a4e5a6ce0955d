//! Names that a model confuses.

use indexmap::IndexMap;

use toolfold::catalog::Catalog;

use super::found::Found;
use super::rules::{COLLIDING, SPELLINGS};
use super::shapes::folded;
use super::view::first_names;

/// The maximum number of parameters whose spellings are reported individually.
const MOST: usize = 20;

pub(super) fn check_names(found: &mut Found<'_>, catalog: &Catalog) {
    let mut tools: IndexMap<String, Vec<&str>> = IndexMap::new();
    let mut parameters: IndexMap<String, IndexMap<&str, usize>> = IndexMap::new();
    for tool in catalog.iter() {
        tools.entry(folded(tool.name().as_str())).or_default().push(tool.name().as_str());
        for (name, _) in toolfold::schema::properties(tool.parameters()).into_iter().flatten() {
            *parameters.entry(folded(name)).or_default().entry(name.as_str()).or_default() += 1;
        }
    }
    found.begin_list();
    for names in tools.values().filter(|names| names.len() > 1) {
        found.add_finding(&COLLIDING, "", format!("{} differ only in case or separators", first_names(names)));
    }
    let several = parameters.values().filter(|spellings| spellings.len() > 1);
    for spellings in several.take(MOST) {
        let said: Vec<String> = spellings.iter().map(|(name, n)| format!("`{name}` ({n})")).collect();
        found.add_finding(&SPELLINGS, "", format!("the same parameter is spelled {}", said.join(" and ")));
    }
}
