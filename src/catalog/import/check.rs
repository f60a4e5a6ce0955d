//! Warnings about valid tools.

use serde_json::Value;

use super::notes::{MAX_DIAGNOSTICS, caution, note};
use crate::diagnostic::{Diagnostic, hidden_in};
use crate::name::ToolName;
use crate::schema::{self, Target};

/// Warns about invisible characters: a person does not see them but a model reads them, so they can
/// hide instructions.
pub(super) fn hidden_text(name: &ToolName, description: &str, root: &Value) -> Option<Diagnostic> {
    let mut found = hidden_in(description);
    schema::walk(root, &mut |node| {
        let texts = node.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
        found = found.or_else(|| texts.filter_map(hidden_in).next());
    });
    found.map(|c| {
        let message = format!("tool `{name}`: its text hides the invisible character U+{:04X}", u32::from(c));
        caution("hidden-text", message)
            .help("a model reads it and people do not: take it out, or do not trust the tool")
    })
}

/// Reports a schema that does not describe an object.
pub(super) fn check_type(name: &ToolName, root: &Value, is_wrapped: bool) -> Option<Diagnostic> {
    if is_wrapped {
        let message = format!("tool `{name}`: its input is not an object: it is sent as `{{\"value\": …}}`");
        return Some(note("not-an-object", message));
    }
    let other = schema::top(root).get("type").filter(|own| own.as_str() != Some("object"))?;
    let message = format!("tool `{name}`: the arguments' type is {other}, not \"object\"");
    Some(caution("not-an-object", message).help("it is sent as an object, which providers require"))
}

/// Warns about references without a target, which are then left out.
pub(super) fn check_references(name: &ToolName, root: &Value, noticed: &mut Vec<Diagnostic>) {
    let mut seen: Vec<&str> = Vec::new();
    schema::walk(root, &mut |node| {
        let Some(reference) = schema::reference(node) else { return };
        if seen.contains(&reference) || seen.len() >= MAX_DIAGNOSTICS {
            return;
        }
        seen.push(reference);
        let (code, what, help) = match schema::resolve(root, reference) {
            Target::Found(_) => return,
            Target::Remote => ("remote-ref", "points outside its document and is never fetched", "inline it"),
            Target::Missing => ("missing-ref", "points at nothing", "fix the pointer, or add the definition"),
        };
        noticed.push(caution(code, format!("tool `{name}`: `$ref` `{reference}` {what}")).help(help));
    });
}
