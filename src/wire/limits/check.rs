//! Compares an array with the provider's limits.

use super::{Limits, RenderedFacts, ToolFacts};
use crate::diagnostic::{Diagnostic, Place, visible};
use crate::wire::{Capabilities, Wire};

/// The maximum number of tools named per limit; the others are counted.
const MAX_NAMED: usize = 20;

/// The maximum number of parameters named per tool.
const MAX_KEYS: usize = 3;

impl Capabilities {
    /// Like [`Limits::check`], with the limits in this table for a wire and model.
    #[must_use]
    pub fn check(&self, wire: Wire, model: Option<&str>, facts: &RenderedFacts) -> Vec<Diagnostic> {
        self.limits(wire, model).check(wire, facts)
    }
}

impl Limits {
    /// Returns what the provider would reject or advises against in an array, each with the limit,
    /// the count, the tool and a fix. None is an error: the array is sent unchanged.
    #[must_use]
    pub fn check(&self, wire: Wire, facts: &RenderedFacts) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if let Some(most) = self.max_tools.as_ref().filter(|most| facts.entries > most.value) {
            let message = format!("the array has {} tools, and {wire} takes at most {}", facts.entries, most.value);
            let help = format!("use arm index or auto, or hide tools in the profile; limit: {}", most.source);
            found.push(Diagnostic::warning("too-many-tools", Place::default(), message).help(help));
        }
        let strict = facts.tools.iter().filter(|tool| tool.strict).count();
        if let Some(most) = self.max_strict.as_ref().filter(|most| strict > most.value) {
            let message = format!("{strict} tools are strict, and {wire} takes at most {}", most.value);
            let help = format!("leave `strict` to the tools that need it; limit: {}", most.source);
            found.push(Diagnostic::warning("too-many-strict", Place::default(), message).help(help));
        }
        let name = |tool: &ToolFacts| {
            (!self.name.fits(&tool.name)).then(|| format!("{wire} does not take the name `{}`", tool.name))
        };
        each(&mut found, "refused-name", facts, name, &format!("a name has {}: rename the tool", self.name));
        if let Some(rule) = &self.property_key {
            let help = format!(
                "a parameter's name has {}: rename it, or use an arm that folds the tool (stable, index); limit: {}",
                rule.value, rule.source
            );
            let key = |tool: &ToolFacts| {
                let refused: Vec<&str> =
                    tool.keys.iter().map(String::as_str).filter(|key| !rule.value.fits(key)).collect();
                let named = refused.iter().take(MAX_KEYS).map(|key| format!("`{}`", visible(key))).collect::<Vec<_>>();
                let more = refused.len().saturating_sub(MAX_KEYS);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let keys = if refused.len() == 1 { "parameter" } else { "parameters" };
                (!refused.is_empty()).then(|| {
                    format!("tool `{}`: {wire} does not take the {keys} {}{more}", tool.name, named.join(", "))
                })
            };
            each(&mut found, "refused-parameter", facts, key, &help);
        }
        if let Some(most) = &self.max_description {
            let long = |tool: &ToolFacts| {
                let has = tool.description;
                (has > most.value).then(|| {
                    format!(
                        "tool `{}`: the description has {has} characters, {wire} takes {} there",
                        tool.name, most.value
                    )
                })
            };
            let help = format!("shorten it, or use an arm that folds the tool; limit: {}", most.source);
            each(&mut found, "long-description", facts, long, &help);
        }
        if let Some(most) = &self.max_namespace {
            for (name, count) in facts.namespaces.iter().filter(|(_, count)| *count > most.value).take(MAX_NAMED) {
                let message = format!("namespace `{name}` has {count} functions; up to {} are recommended", most.value);
                let help = format!("split the category; advice: {}", most.source);
                found.push(Diagnostic::note("large-namespace", Place::default(), message).help(help));
            }
        }
        found
    }
}

/// A warning for each tool that violates a limit; the first ones are named.
fn each(
    found: &mut Vec<Diagnostic>,
    code: &'static str,
    facts: &RenderedFacts,
    fault: impl Fn(&ToolFacts) -> Option<String>,
    help: &str,
) {
    let faults: Vec<String> = facts.tools.iter().filter_map(fault).collect();
    let more = faults.len().saturating_sub(MAX_NAMED);
    let warning = |message: String| Diagnostic::warning(code, Place::default(), message).help(help);
    found.extend(faults.into_iter().take(MAX_NAMED).map(warning));
    if more > 0 {
        found.push(warning(format!("{more} more tools like these are not shown")));
    }
}
