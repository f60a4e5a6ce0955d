//! Front matter keys found in practice, and the detection of misspelled keys.

use crate::name::nearest;

/// Keys with a meaning here. They are read into [`Fields`](super::fields::Fields) in any spelling
/// (`allowed_tools`, `allowedTools`).
pub(crate) const TYPED: [&str; 21] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "disable-model-invocation",
    "user-invocable",
    "model",
    "context",
    "agent",
    "argument-hint",
    "arguments",
    "mode",
    "version",
    "author",
    "tags",
    "triggers",
    "priority",
    "dangerous",
    "confirm",
];

/// Keys that other systems or registries write. They are stored as data without a diagnostic.
const SEEN: [&str; 47] = [
    "about",
    "authors",
    "categories",
    "category",
    "color",
    "created",
    "date",
    "dependencies",
    "disallowed-tools",
    "display-name",
    "effort",
    "examples",
    "file-patterns",
    "framework",
    "globs",
    "homepage",
    "hooks",
    "icon",
    "id",
    "inputs",
    "keywords",
    "labels",
    "language",
    "last-updated",
    "maintainer",
    "outputs",
    "paths",
    "permissions",
    "platforms",
    "repository",
    "requirements",
    "requires",
    "resources",
    "role",
    "scope",
    "shell",
    "short-description",
    "slug",
    "source",
    "status",
    "summary",
    "timeout",
    "title",
    "tools",
    "type",
    "url",
    "when-to-use",
];

/// Keys that restrict a skill in other systems and have no effect here. They are reported, because
/// an author may rely on them. Source: Claude Code's page on skills (`disallowed-tools`, `hooks`,
/// `paths`), and the skill files of other agents.
pub(crate) const WITHOUT_EFFECT: [&str; 5] = ["disallowed-tools", "hooks", "paths", "permissions", "timeout"];

/// Keys sometimes used for a description that the reader does not use.
pub(crate) const DESCRIPTION_LIKE: [&str; 5] = ["summary", "short-description", "about", "when-to-use", "desc"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// A key with a meaning here, in its standard spelling.
    Typed(&'static str),
    /// A key with a meaning here, in another spelling (`allowed_tools`).
    Spelled(&'static str),
    /// A key similar to one with a meaning, and so probably a mistake.
    Near(&'static str),
    /// Anything else.
    Other,
}

pub(crate) fn kind(key: &str) -> KeyKind {
    if let Some(known) = TYPED.iter().find(|k| **k == key) {
        return KeyKind::Typed(known);
    }
    let folded = fold(key);
    if let Some(known) = TYPED.iter().find(|k| **k == folded) {
        return KeyKind::Spelled(known);
    }
    if SEEN.contains(&folded.as_str()) {
        return KeyKind::Other;
    }
    // Parts of a key (`invocable`, `model-invocation`) refer to the same guard.
    let part = TYPED.iter().find(|known| part_of_guard(&folded, known));
    match misspelled(&folded).or(part.copied()) {
        Some(known) => KeyKind::Near(known),
        None => KeyKind::Other,
    }
}

/// The key with a meaning of which a key is probably a misspelling.
fn misspelled(folded: &str) -> Option<&'static str> {
    let mut closest: Option<((usize, bool), &'static str)> = None;
    for known in TYPED {
        let distance = strsim::damerau_levenshtein(folded, known);
        let rank = (distance, !folded.starts_with(known));
        if distance <= 2 && distance * 4 <= known.len() && closest.is_none_or(|(best, _)| rank < best) {
            closest = Some((rank, known));
        }
    }
    closest.map(|(_, known)| known)
}

/// Whether a key contains the distinctive words of one of the two guards.
fn part_of_guard(folded: &str, known: &str) -> bool {
    match known {
        "disable-model-invocation" => folded.contains("model-invo") || folded == "disable-invocation",
        "user-invocable" => folded.contains("user-invo") || folded == "invocable",
        "allowed-tools" => matches!(folded, "allow-tools" | "tools-allowed" | "allowed-tool"),
        _ => false,
    }
}

/// Converts to lower case, replaces `_` and spaces by `-`, and splits camel case.
pub(crate) fn fold(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    let mut lower_before = false;
    for c in key.trim().chars() {
        if c.is_uppercase() && lower_before {
            out.push('-');
        }
        lower_before = c.is_lowercase() || c.is_ascii_digit();
        if matches!(c, '_' | ' ') {
            out.push('-');
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// The closest of some allowed values, for a help text.
pub(crate) fn closest_value<'a>(value: &str, allowed: &[&'a str]) -> Option<&'a str> {
    nearest(value, allowed.iter().copied(), 1).into_iter().next()
}
