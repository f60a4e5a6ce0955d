//! Writes a profile as a file, as a starting point for editing.

use std::collections::BTreeMap;

use super::{Tier, ToolProfile};
use crate::catalog::Catalog;

impl ToolProfile {
    /// The profile as TOML. Patterns are replaced by the names of the catalog's tools that they
    /// match.
    #[must_use]
    pub fn to_toml(&self, catalog: &Catalog) -> String {
        let assignment = self.assign(catalog).value;
        let mut core: Vec<&str> = Vec::new();
        let mut members: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, assigned) in catalog.names().zip(assignment.tools.iter()) {
            members.entry(assigned.category.as_str()).or_default().push(name.as_str());
            if assigned.tier == Tier::Core {
                core.push(name.as_str());
            }
        }
        let mut out = format!("name = {}\n\n", toml_string(&self.name));
        out.push_str(
            "# What the agent calls first and most: a few tools, chosen by use. Always in the richest detail.\n",
        );
        if core.is_empty() {
            out.push_str("core = []\n");
        } else {
            out.push_str(&format!("core = [\n{}]\n", quoted_lines(&core)));
        }
        out.push_str(&format!("unlisted = \"{}\"\n", self.unlisted.name()));
        for (category, description) in assignment.categories() {
            out.push_str(&format!("\n[category.{}]\n", toml_string(category.as_str())));
            out.push_str(&format!("description = {}\n", toml_string(description)));
            let words = self.categories.get(category).map_or(&[][..], |own| &own.words);
            if !words.is_empty() {
                out.push_str(&format!("words = {}\n", quoted_list(words)));
            }
            let tools = members.get(category.as_str()).map_or(&[][..], Vec::as_slice);
            out.push_str(&format!("tools = [\n{}]\n", quoted_lines(tools)));
        }
        if !self.words.is_empty() {
            out.push_str("\n[words]\n");
        }
        for (name, (words, _)) in &self.words {
            out.push_str(&format!("{} = {}\n", toml_string(name.as_str()), quoted_list(words)));
        }
        out
    }
}

/// Names as the elements of a TOML array, one a line.
fn quoted_lines(names: &[&str]) -> String {
    names.iter().map(|name| format!("  {},\n", toml_string(name))).collect()
}

/// Words as a TOML array on one line.
fn quoted_list(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| toml_string(word)).collect();
    format!("[{}]", quoted.join(", "))
}

/// A basic TOML string, which has the same escapes as JSON.
fn toml_string(text: &str) -> String {
    let mut out = String::new();
    crate::catalog::write_string(&mut out, text);
    out.replace('\u{7f}', "\\u007f")
}
