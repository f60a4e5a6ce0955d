//! Launchers: programs that start another program named in their arguments, and where its name may
//! be. For guesses: what may be denied is searched for after all of them.
//!
//! The end of a launcher's own options is not known here. Wrappers, whose grammar matters for an
//! allow, are read elsewhere.

use crate::argv::{Word, arguments, base_name};
use crate::programs;

/// Where the command that a launcher may run begins. `None` for other programs.
pub(crate) fn behind(words: &[Word]) -> Option<usize> {
    let base = base_name(words.first()?.get()?);
    let row = programs::known(base);
    if !row.behind.is_empty() {
        let mut next = words.iter().skip(1).take(8);
        let mark = next.position(|word| matches!(word.get(), Some(text) if row.behind.has(text)))?;
        return Some(mark + 2);
    }
    if row.is.launcher || row.is.shell { Some(1) } else { None }
}

/// Whether a program runs what follows this word: `conda run`.
pub(crate) fn hands_on(base: &str, word: &str) -> bool {
    programs::known(base).behind.has(word)
}

/// Whether a program may start another program at all.
pub(crate) fn is_launcher(base: &str) -> bool {
    let kinds = programs::kinds(base);
    kinds.launcher || kinds.starter
}

/// The words that may be command lines, whole or behind `=`: `-c 'rm x'`, `--run='rm x'`.
pub(crate) fn texts(words: &[Word]) -> impl Iterator<Item = &str> {
    let parts = arguments(words).flat_map(|text| [Some(text), text.split_once('=').map(|(_, value)| value)]);
    parts.flatten().filter(|text| text.contains(char::is_whitespace))
}
