//! Options of patterns: those that a rule allows beside those that the table of programs calls
//! harmless, such as `--kubeconfig=./kube/*`, and letters, which may be combined and abbreviate
//! long options for asks and denies.

use crate::argv::{Word, name_and_value, value_at};
use crate::glob::{glob_inside, is_glob};
use crate::pattern_error::{InvalidValue, invalid};
use crate::programs;

/// An option, and the values that it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OptionPattern {
    name: String,
    value: Option<String>,
}

impl OptionPattern {
    /// Reads `--name`, or `--name=VALUE` with `*` and `?` in the value.
    ///
    /// # Errors
    /// [`InvalidValue`] if it is no option, or if its name is a pattern.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        let (name, value) = name_and_value(text);
        if name.trim_start_matches('-').is_empty() || !name.starts_with('-') {
            return invalid(format!("`{text}` is not an option: write `--name` or `--name=VALUE`"));
        }
        if name.contains(char::is_whitespace) || text.contains(char::is_control) {
            return invalid(format!(
                "`{text}` is more than one word: write `--name=VALUE`, which covers `--name VALUE`"
            ));
        }
        if is_glob(name) {
            return invalid(format!("`{text}` names more than one option: only the value may have `*` or `?`"));
        }
        Ok(Self { name: name.to_owned(), value: value.map(str::to_owned) })
    }

    /// The name of the option, and the pattern of its value.
    pub(crate) fn parts(&self) -> (&str, Option<&str>) {
        (&self.name, self.value.as_deref())
    }

    /// Whether it covers the word at a place of a command: the option as it is spelled here, with
    /// its value attached by `=` or in the next word, or that next word. A `*` covers no `..`, and
    /// one in front of a path no absolute one.
    pub(crate) fn covers(&self, argv: &[Word], at: usize) -> bool {
        let Some(own) = value_at(argv, at) else { return false };
        let Some(pattern) = &self.value else { return own == self.name };
        if own == self.name {
            return matches!(value_at(argv, at + 1), Some(value) if covers_value(pattern, value));
        }
        if matches!(name_and_value(own), (name, Some(value)) if name == self.name && covers_value(pattern, value)) {
            return true;
        }
        at > 0 && value_at(argv, at - 1) == Some(&self.name) && covers_value(pattern, own)
    }
}

/// Whether the pattern of a value covers a value.
fn covers_value(pattern: &str, value: &str) -> bool {
    let is_relative = !value.starts_with(['/', '~']) && !value.contains(':');
    glob_inside(pattern, value) && (is_relative || !pattern.starts_with(['*', '?']) || !pattern.contains('/'))
}

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
    let (_, letters) = pairs.find(|(long, _)| *long == option)?;
    Some(letters)
}

/// The letters of `-rf`; `None` for `--long`, `-`, `-5`.
fn short(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|l| !l.is_empty() && l.chars().all(|c| c.is_ascii_alphabetic()))
}
