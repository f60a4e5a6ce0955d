//! `lint`: finds problems in a tool list, with the cost of each finding.
//!
//! A rule is a row of [`RULES`]; a [`Finding`] is one violation. Every rule is for the owner of a
//! list, who must be able to act on it: a rule that is right only most of the time is a note, and
//! one that cannot be decided with confidence from words or names is not included.
//!
//! Provider restrictions are not defined here: the wires of the library report them for the array
//! that they would send
//! ([`Conversation::diagnostics`](toolfold::conversation::Conversation::diagnostics)).

mod against;
mod annotations;
mod find;
mod fix;
mod found;
mod github;
mod list;
mod names;
mod narrowed;
mod providers;
mod rules;
mod schemas;
mod secrets;
mod shapes;
mod strict;
mod suspicious;
#[cfg(test)]
mod tests;
mod texts;
mod view;
mod words;

pub use fix::{Fixed, fix};
pub use found::{Edit, Finding, Lint, Total};
pub use github::lint_github;
pub use rules::{Group, RULES, Rule};

use toolfold::catalog::Catalog;
use toolfold::diagnostic::{Diagnostic, Severity};
use toolfold::profile::Assignment;
use toolfold::tokens::CountError;
use toolfold::wire::{Capabilities, Wire};

use self::found::Found;
use self::view::View;
use crate::parts::Measurer;

/// The name of the contract, in every answer.
pub const CONTRACT: &str = "toolfold.lint/1";

/// The context of a lint run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Options<'o> {
    /// The API: what it rejects is an error. Without one, what any API rejects is a warning.
    pub wire: Option<Wire>,
    /// The model, for the limits of its provider.
    pub model: Option<&'o str>,
    /// The capability table.
    pub capabilities: &'o Capabilities,
    /// The assignment of the tools by a profile.
    pub assignment: Option<&'o Assignment>,
    /// The previous list, for comparison.
    pub before: Option<&'o Catalog>,
    /// Whether tools that a model will confuse are reported: each is searched by its own words.
    pub pairs: bool,
    /// Diagnostics from reading the list.
    pub noticed: &'o [Diagnostic],
    /// Rules that are disabled.
    pub allow: &'o [String],
    /// Rules whose findings are always errors.
    pub deny: &'o [String],
}

impl Options<'_> {
    /// No options: every wire, no profile, no previous list.
    #[must_use]
    pub fn new() -> Self {
        Options {
            wire: None,
            model: None,
            capabilities: Capabilities::builtin(),
            assignment: None,
            before: None,
            pairs: false,
            noticed: &[],
            allow: &[],
            deny: &[],
        }
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// Finds problems in a list, in catalog order, those of the list as a whole last. The same list
/// always gives the same findings.
///
/// # Errors
/// Returns a [`CountError`] if the meter cannot count a tool.
pub fn lint(measurer: &Measurer<'_>, catalog: &Catalog, options: &Options<'_>) -> Result<Lint, CountError> {
    let found = findings(catalog, options);
    found::measured(measurer, catalog, found)
}

pub(crate) fn findings(catalog: &Catalog, options: &Options<'_>) -> Vec<Finding> {
    let mut found = Found::new(options);
    find::unread(&mut found, options.noticed);
    let facts = list::Facts::of_catalog(catalog);
    for (at, tool) in catalog.iter().enumerate() {
        let view = View::of_tool(at, tool);
        found.begin_tool(view.tool);
        texts::check_texts(&mut found, &view, &facts);
        words::check_words(&mut found, &view);
        suspicious::check_suspicious(&mut found, &view);
        secrets::check_secrets(&mut found, &view);
        shapes::check_shapes(&mut found, &view);
        schemas::check_schema(&mut found, &view);
        strict::check_strict(&mut found, &view, options.wire);
        annotations::check_annotations(&mut found, &view);
    }
    found.begin_list();
    providers::check_providers(&mut found, catalog, options);
    names::check_names(&mut found, catalog);
    list::check_list(&mut found, catalog, &facts, options.assignment);
    if options.pairs {
        list::check_pairs(&mut found, catalog, options.assignment);
    }
    if let Some(before) = options.before {
        against::check_against(&mut found, before, catalog);
    }
    found.sorted(catalog)
}

/// Returns the rule with an id.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// The table of rules in Markdown, by group, as in `docs/lint.md`.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::new();
    for group in RULES.chunk_by(|a, b| a.group == b.group) {
        let title = group.first().map_or("", |first| first.group.title());
        out.push_str(&format!("### {title}\n\n| rule | severity | finds | what to do |\n|---|---|---|---|\n"));
        for rule in group {
            let fixed = if rule.fixable { " (`--fix`)" } else { "" };
            out.push_str(&format!("| `{}` | {} | {} | {}{fixed} |\n", rule.id, rule.severity, rule.finds, rule.fix));
        }
        out.push('\n');
    }
    out
}

/// A number with the word for a severity: `1 error`, `2 errors`.
#[must_use]
pub fn counted(n: usize, severity: Severity) -> String {
    format!("{n} {severity}{}", if n == 1 { "" } else { "s" })
}
