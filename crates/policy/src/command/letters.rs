//! Letters of options: which can be combined, and which long options they stand for. For ask and deny.

use crate::programs;

/// The letters that an option stands for in a program, including those of long names.
pub(super) fn letters(program: &str, word: &str) -> Option<String> {
    let name = word.split('=').next().unwrap_or(word);
    let same = |option: &str| {
        let own = programs::row(program).into_iter().flat_map(|row| row.letters.iter());
        own.filter_map(|pair| pair.split_once('=')).find(|(long, _)| *long == option).map(|(_, letters)| letters)
    };
    if let Some(letters) = same(name) {
        return Some(letters.to_owned());
    }
    let of = |c: char| same(&format!("-{c}")).map_or_else(|| c.to_string(), str::to_owned);
    short(word).map(|letters| letters.chars().map(of).collect())
}

/// The letters of `-rf`; `None` for `--long`, `-`, `-5`.
fn short(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|l| !l.is_empty() && l.chars().all(|c| c.is_ascii_alphabetic()))
}
