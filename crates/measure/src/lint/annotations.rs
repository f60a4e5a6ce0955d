//! Annotations that contradict each other or the tool's name.

use super::found::Found;
use super::rules::{HINTS_DISAGREE, READ_ONLY};
use super::view::View;
use crate::name_words::{Action, action, split};

pub(super) fn check_annotations(found: &mut Found<'_>, view: &View<'_>) {
    let Some(hints) = view.tool.annotations() else { return };
    if hints.read_only_hint != Some(true) {
        return;
    }
    if hints.destructive_hint == Some(true) {
        found.add_finding(&HINTS_DISAGREE, "/annotations", "`readOnlyHint` and `destructiveHint` are both true");
    }
    let name = view.tool.name().as_str();
    let own = name.rsplit("__").next().unwrap_or(name);
    let words = split(own);
    // The server's prefix may precede the verb. What adds numbers changes nothing.
    let changes = |word: &&String| matches!(action(word), Some(Action::Change(_))) && *word != "add";
    let verb = words.iter().take(2).find(changes);
    let looks = words
        .iter()
        .any(|word| ["get", "list", "search", "find", "check", "validate", "preview"].contains(&word.as_str()));
    if let Some(verb) = verb.filter(|_| !looks) {
        found.add_finding(
            &READ_ONLY,
            "/annotations/readOnlyHint",
            format!("`readOnlyHint` is true, but the name contains `{verb}`"),
        );
    }
}
