//! Compares an array with the provider's limits.

use super::{Limits, NameRule, RenderedFacts, ToolFacts};
use crate::diagnostic::{Diagnostic, Place, visible};
use crate::wire::Wire;

/// The maximum number of tools named per limit; the others are counted.
const MAX_NAMED: usize = 20;

/// The maximum number of parameters named per tool.
const MAX_KEYS: usize = 3;

impl Limits {
    /// Returns what the provider would reject or advises against in an array, each with the limit,
    /// the count, the tool and a fix. None is an error: the array is sent unchanged.
    #[must_use]
    pub fn check(&self, wire: Wire, facts: &RenderedFacts) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if let Some(most) = &self.max_tools
            && facts.entries > most.value
        {
            let message = format!("the array has {} tools, and {wire} takes at most {}", facts.entries, most.value);
            let help = format!("use arm index or auto, or hide tools in the profile; limit: {}", most.source);
            found.push(Diagnostic::warning("too-many-tools", Place::default(), message).help(help));
        }
        let strict = facts.tools.iter().filter(|tool| tool.strict).count();
        if let Some(most) = &self.max_strict
            && strict > most.value
        {
            let message = format!("{strict} tools are strict, and {wire} takes at most {}", most.value);
            let help = format!("leave `strict` to the tools that need it; limit: {}", most.source);
            found.push(Diagnostic::warning("too-many-strict", Place::default(), message).help(help));
        }
        let tools = &facts.tools;
        let help = format!("a name has {}: rename the tool", self.name);
        report(&mut found, "refused-name", tools, &help, |tool| refused_name(tool, wire, &self.name));
        if let Some(rule) = &self.property_key {
            let help = format!(
                "a parameter's name has {}: rename it, or use an arm that folds the tool (stable, index); limit: {}",
                rule.value, rule.source
            );
            report(&mut found, "refused-parameter", tools, &help, |tool| refused_parameters(tool, wire, &rule.value));
        }
        if let Some(most) = &self.max_description {
            let help = format!("shorten it, or use an arm that folds the tool; limit: {}", most.source);
            report(&mut found, "long-description", tools, &help, |tool| long_description(tool, wire, most.value));
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

fn refused_name(tool: &ToolFacts, wire: Wire, rule: &NameRule) -> Option<String> {
    if rule.fits(&tool.name) { None } else { Some(format!("{wire} does not take the name `{}`", tool.name)) }
}

fn refused_parameters(tool: &ToolFacts, wire: Wire, rule: &NameRule) -> Option<String> {
    let refused: Vec<&String> = tool.keys.iter().filter(|key| !rule.fits(key)).collect();
    let named: Vec<String> = refused.iter().take(MAX_KEYS).map(|key| format!("`{}`", visible(key))).collect();
    let keys = match refused.len() {
        0 => return None,
        1 => "parameter",
        _ => "parameters",
    };
    let more = refused.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("tool `{}`: {wire} does not take the {keys} {}{more}", tool.name, named.join(", ")))
}

fn long_description(tool: &ToolFacts, wire: Wire, most: usize) -> Option<String> {
    let has = tool.description;
    if has <= most {
        return None;
    }
    Some(format!("tool `{}`: the description has {has} characters, {wire} takes {most} there", tool.name))
}

/// Adds a warning for each tool with a fault; the first ones are named.
fn report(
    found: &mut Vec<Diagnostic>,
    code: &'static str,
    tools: &[ToolFacts],
    help: &str,
    fault: impl Fn(&ToolFacts) -> Option<String>,
) {
    let mut count = 0;
    for tool in tools {
        let Some(message) = fault(tool) else { continue };
        count += 1;
        if count <= MAX_NAMED {
            found.push(Diagnostic::warning(code, Place::default(), message).help(help));
        }
    }
    if count > MAX_NAMED {
        let message = format!("{} more tools like these are not shown", count - MAX_NAMED);
        found.push(Diagnostic::warning(code, Place::default(), message).help(help));
    }
}
