//! Letters of options: which can be combined, and which long options they abbreviate. Used by asks
//! and denies.

use crate::programs;

/// The letters that an option of a program consists of, including those of long names.
pub(super) fn letters(program: &str, word: &str) -> Option<String> {
    let name = word.split('=').next().unwrap_or(word);
    if let Some(letters) = equivalent(program, name) {
        return Some(letters.to_owned());
    }
    let mut all = String::new();
    for letter in short(word)?.chars() {
        match equivalent(program, &format!("-{letter}")) {
            Some(letters) => all.push_str(letters),
            None => all.push(letter),
        }
    }
    Some(all)
}

/// The letters that an option is equivalent to by the row of its program.
fn equivalent(program: &str, option: &str) -> Option<&'static str> {
    let mut pairs = programs::row(program)?.letters.iter().filter_map(|pair| pair.split_once('='));
    pairs.find(|(long, _)| *long == option).map(|(_, letters)| letters)
}

/// The letters of `-rf`; `None` for `--long`, `-`, `-5`.
fn short(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|l| !l.is_empty() && l.chars().all(|c| c.is_ascii_alphabetic()))
}
