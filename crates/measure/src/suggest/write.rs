//! A draft of a profile, and its file form.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::profile::{Tier, ToolProfile, own_tools};

use super::SuggestError;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DraftCategory {
    pub(super) description: String,
    /// Indices in the catalog, including core tools.
    pub(super) tools: Vec<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Draft {
    /// Indices in the catalog, ascending.
    pub(super) core: Vec<usize>,
    pub(super) categories: IndexMap<String, DraftCategory>,
    /// Tools that the current profile hides; they stay hidden.
    pub(super) hidden: BTreeSet<usize>,
    pub(super) summaries: IndexMap<String, String>,
}

impl Draft {
    /// The parts of the current profile that every suggestion keeps: an agent's own tools as core,
    /// hidden tools, and summaries.
    pub(super) fn from_today(catalog: &Catalog, today: &ToolProfile) -> Self {
        let assignment = today.assign(catalog).value;
        let mut draft = Self::default();
        for (at, (assigned, is_own)) in assignment.tools.iter().zip(own_tools(catalog)).enumerate() {
            if is_own {
                draft.core.push(at);
            }
            if assigned.tier == Tier::Hidden {
                draft.hidden.insert(at);
            }
        }
        for (name, text) in today.summaries() {
            if catalog.get(name).is_some() {
                draft.summaries.insert(name.to_owned(), text.to_owned());
            }
        }
        draft
    }

    pub(super) fn visible(&self, catalog: &Catalog) -> Vec<usize> {
        (0..catalog.len()).filter(|tool| !self.hidden.contains(tool)).collect()
    }

    pub(super) fn profile(&self, catalog: &Catalog) -> Result<ToolProfile, SuggestError> {
        let loaded = ToolProfile::parse(&self.to_toml(catalog, &[]), "suggested.toml");
        match loaded.diagnostics.first() {
            Some(diagnostic) => Err(SuggestError::Unsound(diagnostic.message.clone())),
            None => Ok(loaded.value),
        }
    }

    /// The draft as a file, with `head` as comments at the top.
    pub(super) fn to_toml(&self, catalog: &Catalog, head: &[String]) -> String {
        let mut out = String::new();
        for line in head {
            out.push_str(&format!("# {line}\n"));
        }
        out.push_str("name = \"suggested\"\n\n");
        let core = lines(catalog, self.core.iter());
        if core.is_empty() {
            out.push_str("core = []\n");
        } else {
            out.push_str(&format!("core = [\n{core}]\n"));
        }
        out.push_str(&format!("unlisted = \"{}\"\n", if self.hidden.is_empty() { "extended" } else { "hidden" }));
        let core: BTreeSet<usize> = self.core.iter().copied().collect();
        for (category, own) in &self.categories {
            let tools = lines(catalog, own.tools.iter().filter(|tool| !core.contains(tool)));
            if tools.is_empty() {
                continue;
            }
            let description = toml_string(&own.description);
            let bare = category.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            let name = if bare { category.clone() } else { toml_string(category) };
            out.push_str(&format!("\n[category.{name}]\ndescription = {description}\ntools = [\n{tools}]\n"));
        }
        if !self.summaries.is_empty() {
            out.push_str("\n[summary]\n");
        }
        for (tool, summary) in &self.summaries {
            out.push_str(&format!("{} = {}\n", toml_string(tool), toml_string(summary)));
        }
        out
    }
}

/// The names of tools, one per line.
fn lines<'t>(catalog: &Catalog, tools: impl Iterator<Item = &'t usize>) -> String {
    let mut out = String::new();
    for tool in tools.filter_map(|at| catalog.at(*at)) {
        out.push_str(&format!("  {},\n", toml_string(tool.name().as_str())));
    }
    out
}

/// A basic TOML string, which has the same escapes as JSON.
pub(crate) fn toml_string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
