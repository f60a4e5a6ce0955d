//! `${…}`: what runs while a parameter is expanded, and what it probably expands to.

use super::reader::tree::{Operator, Parameter};
use super::side_effects::Weight;
use super::walker::Walker;
use super::words::is_variable;
use crate::unicode::is_digits;

/// Walks a parameter expansion. Returns the probable value, from assignments in the line itself.
pub(super) fn parameter(walker: &mut Walker, own: &Parameter) -> Option<String> {
    let Parameter { name, index, indirect, operator, rest } = own;
    let text = "${…}";
    match operator {
        Operator::Substring => rest.split(':').for_each(|part| walker.arithmetic(part)),
        Operator::Transform if rest.contains('P') => walker.found.unknown("prompt-expansion", text, Weight::Code),
        Operator::Assign => walker.sets(name, None),
        _ => {}
    }
    if !rest.is_empty() && *operator != Operator::Substring {
        walker.deeper(|walker| drop(walker.expanded(rest)), rest);
    }
    if *indirect && *operator != Operator::Names {
        walker.found.unknown("indirect-expansion", text, Weight::Code);
    }
    walker.found.unknown("parameter", &shown(own), Weight::Value);
    let plain = *operator == Operator::Plain && !indirect;
    match index.as_deref() {
        Some("@" | "*") if plain => return walker.variables.get(&format!("{name}[@]")).cloned(),
        Some("@" | "*") => return None,
        Some(index) => {
            walker.subscript(index);
            return None;
        }
        None => {}
    }
    let is_named = is_variable(name);
    match operator {
        // `$@` and `$1` of a `bash -c` line are empty unless the line sets them.
        _ if matches!(name.as_str(), "@" | "*") || is_digits(name) => {
            Some(walker.variables.get("@").cloned().unwrap_or_default())
        }
        Operator::Plain if plain && name == "IFS" => Some(" ".to_owned()),
        Operator::Plain if plain && is_named => walker.variables.get(name).cloned(),
        Operator::Default | Operator::Assign if is_named => Some(rest.clone()),
        _ => None,
    }
}

/// Whether an expansion may produce several words even in double quotes: `"$@"`, `"${a[@]}"`.
pub(super) fn is_list(own: &Parameter) -> bool {
    match own.operator {
        Operator::Plain | Operator::Default | Operator::Alternative | Operator::Substring => {
            matches!(own.name.as_str(), "@" | "*") || matches!(own.index.as_deref(), Some("@" | "*"))
        }
        _ => true,
    }
}

/// A parameter, for a person.
fn shown(own: &Parameter) -> String {
    match own.name.as_str() {
        _ if own.operator == Operator::Names => "${!…}".to_owned(),
        name if is_variable(name) || is_digits(name) => format!("${name}"),
        _ => "a special parameter".to_owned(),
    }
}
