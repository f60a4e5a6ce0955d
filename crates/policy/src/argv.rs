//! The words of a command line, as far as they are known before it runs.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

/// One word of a command. A copy of it shares its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Word {
    /// Its value without quotes, if that is certain.
    pub value: Option<Arc<str>>,
    /// The word as written in the source.
    pub text: Arc<str>,
    /// Whether it becomes exactly one argument, whatever its value.
    pub one: bool,
    /// What it probably becomes: possibly several arguments after splitting. Used only to find what
    /// is denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guess: Vec<String>,
    /// `~/…` with nothing else unknown: the text, with the tilde.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tilde: Option<Arc<str>>,
}

impl Word {
    pub(crate) fn known(value: &str) -> Self {
        let value = Arc::from(value);
        Self::written(Arc::clone(&value), value)
    }

    /// A word with a certain value, and as it is written.
    pub(crate) fn written(value: Arc<str>, text: Arc<str>) -> Self {
        Self { value: Some(value), text, one: true, guess: Vec::new(), tilde: None }
    }

    pub(crate) fn unknown(text: impl Into<Arc<str>>, one: bool) -> Self {
        Self { value: None, text: text.into(), one, guess: Vec::new(), tilde: None }
    }

    pub(crate) fn get(&self) -> Option<&str> {
        self.value.as_deref()
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.get() == Some(text)
    }

    /// The value, or the text of a word that begins with the home folder.
    pub(crate) fn path(&self) -> Option<&str> {
        self.get().or(self.tilde.as_deref())
    }

    /// Whether its value is known and begins with one of these characters.
    pub(crate) fn begins<const N: usize>(&self, with: [char; N]) -> bool {
        self.get().is_some_and(|text| text.starts_with(with))
    }
}

/// The values of those words that are known.
pub(crate) fn known(words: &[Word]) -> impl Iterator<Item = &str> + Clone {
    words.iter().filter_map(Word::get)
}

/// The values of those arguments of a command that are known.
pub(crate) fn arguments(words: &[Word]) -> impl Iterator<Item = &str> + Clone {
    known(behind_first(words))
}

/// The value of the first word, if it is known.
pub(crate) fn first(words: &[Word]) -> Option<&str> {
    words.first()?.get()
}

/// The value of the word at a place, if it is known.
pub(crate) fn value_at(words: &[Word], at: usize) -> Option<&str> {
    words.get(at)?.get()
}

/// The word at a place as written; empty where there is none.
pub(crate) fn text_at(words: &[Word], at: usize) -> &str {
    if let Some(word) = words.get(at) { &word.text } else { "" }
}

/// The first word that is known only when the command runs.
pub(crate) fn unknown(words: &[Word]) -> Option<&Word> {
    words.iter().find(|word| word.get().is_none())
}

/// The place of the first word with this value.
pub(crate) fn place_of(words: &[Word], text: &str) -> Option<usize> {
    words.iter().position(|word| word.is(text))
}

/// The words behind the first: the arguments of a command.
pub(crate) fn behind_first(words: &[Word]) -> &[Word] {
    words.get(1..).unwrap_or_default()
}

/// `name=value`, or a name without a value.
pub(crate) fn name_and_value(text: &str) -> (&str, Option<&str>) {
    if let Some((name, value)) = text.split_once('=') { (name, Some(value)) } else { (text, None) }
}

/// The letters of an option that may be several: `rf` of `-rf`, also behind one dash alone.
pub(crate) fn cluster(text: &str) -> Option<&str> {
    if text.starts_with("--") { None } else { text.strip_prefix('-') }
}

/// Whether a table of words, separated by blanks, has this word.
pub(crate) fn is_listed(table: &str, word: &str) -> bool {
    table.split_whitespace().any(|own| own == word)
}

/// Whether a text contains one of these.
pub(crate) fn contains_any(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.contains(part))
}

/// A text without quotes and backslashes.
pub(crate) fn unquoted(text: &str) -> String {
    text.replace(['\'', '"', '\\'], "")
}

/// The values of words, if all of them are known.
pub(crate) fn all_known(words: &[Word]) -> Option<Vec<&str>> {
    words.iter().map(Word::get).collect()
}

/// The name of the program of a command, if that is known.
pub(crate) fn program(words: &[Word]) -> Option<&str> {
    first(words).map(base_name)
}

/// The last segment of a program's path, without `.exe`.
pub(crate) fn base_name(program: &str) -> &str {
    let slash = program.bytes().rposition(|b| b == b'/');
    let base = slash.and_then(|at| program.get(at + 1..)).unwrap_or(program);
    base.strip_suffix(".exe").unwrap_or(base)
}

/// A command line for a person to read: known words quoted where necessary, unknown words as
/// written.
pub(crate) fn display(words: &[Word]) -> String {
    words.iter().map(|w| w.get().map_or_else(|| w.text.to_string(), quote)).collect::<Vec<_>>().join(" ")
}

/// The same for words that are all known.
#[must_use]
pub fn display_known(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// A word, quoted where a shell would take it for something else.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
