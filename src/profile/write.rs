//! Writes a profile as a file, as a starting point for editing.

use super::{Tier, ToolProfile};
use crate::catalog::Catalog;

impl ToolProfile {
    /// The profile as TOML. Patterns are replaced by the names of the catalog's tools that they
    /// match.
    #[must_use]
    pub fn to_toml(&self, catalog: &Catalog) -> String {
        let assignment = self.assign(catalog).value;
        let core: Vec<&str> = catalog
            .names()
            .zip(assignment.iter())
            .filter(|(_, assigned)| assigned.tier == Tier::Core)
            .map(|(name, _)| name.as_str())
            .collect();
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
            let members = catalog.names().zip(assignment.iter());
            let members: Vec<&str> =
                members.filter(|(_, own)| own.category == *category).map(|(name, _)| name.as_str()).collect();
            out.push_str(&format!("\n[category.{}]\n", toml_string(category.as_str())));
            out.push_str(&format!("description = {}\n", toml_string(description)));
            if let Some(own) = self.categories.get(category).filter(|own| !own.words.is_empty()) {
                out.push_str(&format!("words = {}\n", quoted_list(&own.words)));
            }
            out.push_str(&format!("tools = [\n{}]\n", quoted_lines(&members)));
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
