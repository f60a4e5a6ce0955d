//! Arguments that no record declares: what they may name, so that neither a deny nor an allow
//! depends on their names.

use crate::argv::is_listed;
use serde_json::Value;

use super::capability::{Family, ToolCapability};
use super::path::names_parent;

/// The longest text that is taken for a path or a host, in bytes: `PATH_MAX` of Linux.
const MAX_TEXT: usize = 4_096;

/// The most texts of one call that are looked at.
const MAX_TEXTS: usize = 1_000;

/// Arguments of shell tools that do not change what a command does: its description and its
/// timeout. Source: the tools `Bash` of Claude Code 2.0, `run_shell_command`
/// of Gemini CLI 0.20 and `shell` of Codex 0.60.
const OF_SHELLS: &str = "background description explanation is_background justification run_in_background timeout \
    timeout_ms max_output_tokens yield_time_ms";

/// Arguments that hold text for people, models or files, whatever it looks like. Source: the tools
/// of Claude Code 2.0, Gemini CLI 0.20 and the MCP reference servers, as of 2026-11.
const OF_TEXT: &str = "body content contents description explanation file_text insert_text instruction instructions \
    message new_source new_str new_string newText oldText old_str old_string prompt query subject text title";

/// The texts in undeclared arguments of a call that may name a path or a host. `recorded`: the tool
/// has a record that describes its arguments, so that only texts in the form of a path or a host
/// count. Empty for a tool with a command, where each undeclared argument requires approval.
pub(super) fn texts<'a>(arguments: &'a Value, capability: &ToolCapability, recorded: bool) -> Vec<&'a str> {
    let mut found = Vec::new();
    if capability.command.is_some() {
        return found;
    }
    let Value::Object(map) = arguments else { return found };
    for (name, value) in map {
        if capability.declares(name) || capability.ignore.contains(name) || recorded && is_listed(OF_TEXT, name) {
            continue;
        }
        let before = found.len();
        collect(value, &mut found);
        if recorded {
            // A pattern over texts has dots and backslashes, too.
            let is_place = if name == "pattern" { is_elsewhere } else { may_be_place };
            let own = found.split_off(before);
            found.extend(own.into_iter().filter(|text| is_place(text)));
        }
    }
    found
}

/// The texts of a call in arguments that do not hold text for people, models or files.
pub(super) fn places(arguments: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let Value::Object(map) = arguments else { return found };
    for (name, value) in map {
        if !is_listed(OF_TEXT, name) {
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

/// Whether a text looks like a path or a URL: it leads out of the folder, has several segments, or
/// is a name with an ending.
fn may_be_place(text: &str) -> bool {
    if is_elsewhere(text) || text.contains(char::is_whitespace) {
        return is_elsewhere(text);
    }
    let (name, ending) = text.rsplit_once('.').unwrap_or((text, ""));
    let has_ending = !name.contains('@') && ending.starts_with(|c: char| c.is_ascii_alphabetic()) && ending.len() < 12;
    text.contains(['/', '\\']) || text.starts_with('.') || has_ending
}

/// Whether a text leads out of the working folder, if it is a path.
fn is_elsewhere(text: &str) -> bool {
    text.starts_with(['/', '~', '$']) || text.contains("://") || names_parent(text)
}

/// An undeclared argument of a tool that runs commands, other than a number or a switch that is
/// off. `own`: the record without the additions of a project; only its command and folder count as
/// declared.
pub(super) fn of_a_shell<'a>(arguments: &'a Value, record: &ToolCapability, own: &ToolCapability) -> Option<&'a str> {
    if record.command.is_none() && record.family != Some(Family::Shell) {
        return None;
    }
    let judged = [&record.command, &record.workdir].into_iter().flatten().flat_map(|names| names.split('|'));
    let known: Vec<&str> = own.declared().chain(judged).collect();
    for (name, value) in arguments.as_object()? {
        let acts = matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_) | Value::Bool(true));
        if acts && !known.contains(&name.as_str()) && !own.ignore.contains(name) && !is_listed(OF_SHELLS, name) {
            return Some(name);
        }
    }
    None
}
