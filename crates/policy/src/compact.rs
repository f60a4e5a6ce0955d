//! The compact rule form of other systems: `Bash(git log:*)`, `Edit(src/**)`, `WebFetch(domain:x)`,
//! `mcp__server__tool`, `Read`.

use super::capability::{Family, ToolCapability};
use super::command::CommandPattern;
use super::decision::Effect;
use super::host::HostPattern;
use super::path::PathPattern;
use super::pattern_error::{InvalidValue, invalid};
use super::rule::{Access, Rule, ToolPattern};
use super::unicode::is_word;

/// Reads a compact rule. `capability` looks up the record of a tool in the policy file.
///
/// # Errors
/// [`InvalidValue`], which says what is wrong. Such a text is not a rule.
pub fn compact(
    effect: Effect,
    text: &str,
    capability: impl Fn(&str) -> Option<ToolCapability>,
) -> Result<Rule, InvalidValue> {
    let text = text.trim();
    let (name, body) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some("") => return invalid("the parentheses are empty"),
            Some(body) => (name, Some(body)),
            None if rest.contains(')') => return invalid("text follows the closing parenthesis"),
            None => return invalid("the parenthesis is not closed"),
        },
    };
    if name.contains(')') {
        return invalid("a closing parenthesis has no opening one");
    }
    if name.contains(' ') {
        return invalid("` ` is not allowed in a tool's name here: write a [[rule]], or `?` in its place");
    }
    let mut rule = Rule::new(effect, ToolPattern::parse(name)?, text);
    rule.family = Family::of_name(name);
    let capability = capability(name).or_else(|| ToolCapability::builtin(name)).unwrap_or_default();
    let family = rule.family.or(capability.family);
    let Some(body) = body else { return Ok(rule) };
    if capability.command.is_some() || family == Some(Family::Shell) {
        rule.command = Some(CommandPattern::parse(body)?.of(effect)?);
    } else if matches!(family, Some(Family::Read | Family::Edit)) {
        let access = if family == Some(Family::Read) { Access::Read } else { Access::Write };
        // For an allow, `**` is what lies below the working folder, as in any path pattern.
        let blanket = body == "//**" || (effect != Effect::Allow && matches!(body, "*" | "**"));
        rule.path = if blanket { None } else { Some((PathPattern::parse(body)?, Some(access))) };
    } else if family == Some(Family::Fetch) || !capability.hosts.is_empty() {
        rule.host = match body.strip_prefix("domain:").unwrap_or(body) {
            "*" if effect == Effect::Allow => None,
            host => Some(HostPattern::parse(host.split("://").last().unwrap_or(host).trim_end_matches("/*"))?),
        };
    } else {
        match body.split_once(':') {
            Some((arg, pattern)) if capability.target.is_none() && is_word(arg) => {
                rule.args.push((arg.to_owned(), pattern.to_owned()));
            }
            _ => rule.target = Some(body.to_owned()),
        }
    }
    Ok(rule)
}
