//! The words of tool names, and what their verbs do.

/// Verbs that change something: those of one row do the same. Words that can be nouns (`update`,
/// `set`, `post`) count only where a name has its verb.
const CHANGES: [&[&str]; 10] = [
    &["add", "append", "create", "insert", "install"],
    &["delete", "destroy", "drop", "erase", "purge", "remove", "truncate", "uninstall"],
    &["edit", "modify", "overwrite", "replace", "set", "update", "write"],
    &["move", "transfer"],
    &["rename"],
    &["send", "publish", "upload"],
    &["cancel", "revoke"],
    &["archive"],
    &["merge"],
    &["createorupdate", "upsert"],
];

/// Verbs that state no more than that something is read.
const READS: [&str; 16] = [
    "check", "describe", "details", "fetch", "find", "get", "info", "list", "locate", "lookup", "preview", "query",
    "read", "retrieve", "search", "validate",
];

/// What a verb does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Read,
    /// A row of the table: equal for verbs that do the same.
    Change(usize),
}

/// What a word of a name does, if it is a verb. Words are in lower case.
pub(crate) fn action(word: &str) -> Option<Action> {
    if READS.contains(&word) {
        return Some(Action::Read);
    }
    CHANGES.iter().position(|row| row.contains(&word)).map(Action::Change)
}

/// The words of a text in lower case, with camel case names split.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        if !c.is_alphanumeric() {
            before = ' ';
            continue;
        }
        let begins = !before.is_alphanumeric() || before.is_lowercase() && c.is_uppercase();
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words
}
