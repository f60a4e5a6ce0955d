//! Arguments that no record declares: what they may name, so that a deny does not depend on their names.

use serde_json::Value;

use super::capability::{Family, ToolCapability};

/// The longest text that is taken for a path or a host, in bytes: `PATH_MAX` of Linux.
const MAX_TEXT: usize = 4_096;

/// The most texts of one call that are looked at.
const MAX_TEXTS: usize = 1_000;

/// Arguments of shell tools that change nothing of what a command does: what a person is told of it, and how long it may
/// take. Source: the tools `Bash` of Claude Code 2.0, `run_shell_command` of Gemini CLI 0.20 and `shell` of Codex 0.60.
const OF_SHELLS: [&str; 10] = [
    "background",
    "description",
    "explanation",
    "is_background",
    "justification",
    "run_in_background",
    "timeout",
    "timeout_ms",
    "max_output_tokens",
    "yield_time_ms",
];

/// The texts of a call that may name a path or a host, where nobody wrote a record: of a tool that has none, every text
/// anywhere in its arguments; of one whose record is the built-in one, those that it does not declare; none of a shell tool,
/// whose command says all.
pub(super) fn texts<'a>(arguments: &'a Value, capability: &ToolCapability) -> Vec<&'a str> {
    let mut found = Vec::new();
    if capability.command.is_some() {
        return found;
    }
    let Value::Object(map) = arguments else { return found };
    for (name, value) in map {
        if !capability.declared().any(|known| known == name) {
            collect(value, &mut found);
        }
    }
    found
}

fn collect<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    if found.len() >= MAX_TEXTS {
        return;
    }
    match value {
        Value::String(text) if text.len() <= MAX_TEXT && !text.contains('\n') => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => map.values().for_each(|value| collect(value, found)),
        _ => {}
    }
}

/// An argument of a shell tool that the built-in record does not know, and that is more than a number or a switch that is off.
pub(super) fn of_a_shell<'a>(arguments: &'a Value, capability: &ToolCapability) -> Option<&'a str> {
    if capability.family != Some(Family::Shell) {
        return None;
    }
    let unknown = |name: &str| !OF_SHELLS.contains(&name) && !capability.declared().any(|known| known == name);
    let acts =
        |value: &Value| matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_) | Value::Bool(true));
    arguments.as_object()?.iter().find(|(name, value)| unknown(name) && acts(value)).map(|(name, _)| name.as_str())
}
