//! Warnings about valid tools.

use serde_json::Value;

use super::notes::{MAX_DIAGNOSTICS, caution};
use crate::diagnostic::{Diagnostic, hidden_in};
use crate::name::ToolName;
use crate::schema::{self, Target};

/// Warns about a name that some provider would reject, before the request fails. Source: OpenAI
/// `^[a-zA-Z0-9_-]{1,64}$`.
pub(super) fn portable(name: &ToolName) -> Option<Diagnostic> {
    let text = name.as_str();
    let fits = text.len() <= 64 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (!fits).then(|| {
        caution("unportable-name", format!("OpenAI refuses the tool name `{name}`"))
            .help("its names have at most 64 ASCII letters, digits, `_` and `-`")
    })
}

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

/// Warns about a schema that does not describe an object.
pub(super) fn check_type(name: &ToolName, root: &Value) -> Option<Diagnostic> {
    let other = schema::top(root).get("type").filter(|own| own.as_str() != Some("object"))?;
    let message = format!("tool `{name}`: the arguments' type is {other}, not \"object\"");
    Some(caution("not-an-object", message).help("providers refuse such a schema"))
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
