//! Texts that a program may take for code or for files, where nothing is known of it: enough to
//! ask, never to deny.

use std::cell::LazyCell;
use std::sync::Arc;

use super::argv::{base_name, unquoted};
use super::shell::{FileEffect, SideEffects};

/// The most parts of all texts together that are taken for files.
const MAX_PARTS: usize = 500;

/// The characters between which a part of a text may be a name.
fn is_apart(c: char) -> bool {
    c.is_whitespace() || "\"'`()[]{}<>|;&,=@:!$%?*\\".contains(c)
}

/// Whether a text names a program and its subcommands, each as a whole word of it, also with quotes
/// inside a name.
pub(super) fn names(text: &str, words: &[&str]) -> bool {
    let quoted = text.contains(['\'', '"', '\\']);
    // What `printf` and `echo -e` print, and what a shell makes of it.
    let printed = LazyCell::new(|| text.replace("\\n", " ").replace("\\t", " ").replace("\\r", " "));
    let bare = LazyCell::new(|| unquoted(&printed));
    for word in words {
        if !has_word(text, word) && !(quoted && (has_word(&printed, word) || has_word(&bare, word))) {
            return false;
        }
    }
    !words.is_empty()
}

/// Whether a word is a whole part of a text.
fn has_word(text: &str, word: &str) -> bool {
    text.contains(word) && text.split(is_apart).any(|part| base_name(part) == word)
}

/// The files that texts may name: each as a whole, and each part of it.
pub(super) fn files(texts: &[Arc<str>]) -> Vec<FileEffect> {
    let parts = texts.iter().flat_map(|text| std::iter::once(&**text).chain(text.split(is_apart)));
    let mut found = SideEffects::default();
    for part in parts.filter(|part| !part.is_empty() && part.len() < 300).take(MAX_PARTS) {
        if !found.suspects.iter().any(|file| *file.text == *part) {
            found.suspect(part, false);
        }
    }
    found.suspects
}
