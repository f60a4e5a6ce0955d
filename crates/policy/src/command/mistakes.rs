//! Command patterns that are written as a shell or a regular expression would have them. A pattern
//! is compared with the words of one command at a time, after the shell has read them: what it does
//! not see there, it never matches.

use super::lexed;
use super::variables::name_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// An operator or a redirection: commands are compared one by one, without them.
    Operator,
    /// `NAME=value` in front of an ask or a deny: a variable is no word of a command.
    Environment,
    /// `{a,b}` or `(a|b)`: no word has this form once it is read.
    Alternatives,
    /// `^` or `.*`, as in a regular expression.
    Regex,
    /// `git:push`, or `:*` that is not at the end.
    Colon,
    /// `$HOME`, `$(…)`: a parsed command contains their value.
    Expansion,
    /// `[a-z]`, `[!x]`, `[ab]*`: a class of a shell's globs.
    Class,
}

impl Mistake {
    /// Whether a pattern with it never matches. If not, it only matches less than its author may
    /// think.
    pub(crate) fn never(self) -> bool {
        !matches!(self, Self::Expansion | Self::Class)
    }

    /// What is wrong, and what to write instead.
    pub(crate) fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Operator => (
                "commands are compared one by one, without operators and redirections",
                "write one rule for each command: `Bash(curl:*)`, `Bash(sh:*)`; quote a character that is part of a word",
            ),
            Self::Environment => (
                "a leading variable assignment is not part of a command",
                "write the command alone: the rule applies with any variable",
            ),
            Self::Alternatives => {
                ("a list of alternatives is not a word of a command", "write one rule for each of them")
            }
            Self::Regex => (
                "a pattern is not a regular expression: `^`, `.` and `$` are literal",
                "write words, `*` for any characters of one, and `:*` at the end for any further words",
            ),
            Self::Colon => {
                ("a `:` is part of a word unless `:*` ends the pattern", "separate words by blanks: `git push:*`")
            }
            Self::Expansion => (
                "an expansion is literal in a pattern, and a parsed command contains its value",
                "write the expanded text: `~/…` for a path in the home folder",
            ),
            Self::Class => (
                "`[` and `]` are literal in a pattern",
                "write `?` for one character and `*` for any, or one rule for each name; quote brackets that are meant",
            ),
        }
    }

    /// The mistake in a pattern as it is written, if it has one.
    pub(super) fn find(text: &str) -> Option<Self> {
        let body = text.trim();
        let body = body.strip_suffix(":*").unwrap_or(body);
        // Every word with its characters, and whether each is outside of quotes.
        let words = lexed(body)?;
        // The characters of each outside of quotes, and the words that have no quotes: an empty
        // text for one that has.
        let (mut bare, mut whole) = (Vec::new(), Vec::new());
        for word in &words {
            let outside: String = word.iter().filter(|(_, bare)| *bare).map(|(c, _)| *c).collect();
            let has_quotes = outside.chars().count() < word.len();
            whole.push(if has_quotes { String::new() } else { outside.clone() });
            bare.push(outside);
        }
        let first = whole.first().map_or("", String::as_str);
        if name_of(words.first()?).is_some() {
            return Some(Self::Environment);
        }
        if whole.iter().any(|text| is_operator(text)) {
            return Some(Self::Operator);
        }
        if bare.iter().any(|text| has_alternatives(text)) {
            return Some(Self::Alternatives);
        }
        if first.starts_with('^') || first.contains(".*") || first.ends_with('$') && first.len() > 1 {
            return Some(Self::Regex);
        }
        if whole.iter().any(|text| text == ":*") || first.contains(':') && !first.contains(['/', '\\']) {
            return Some(Self::Colon);
        }
        if bare.iter().any(|text| expands(text)) {
            return Some(Self::Expansion);
        }
        if whole.iter().any(|text| has_class(text)) { Some(Self::Class) } else { None }
    }
}

fn expands(text: &str) -> bool {
    let mut behind_dollars = text.split('$').skip(1);
    text.contains('`') || behind_dollars.any(|rest| rest.starts_with(|c: char| c.is_alphabetic() || "_{(".contains(c)))
}

/// Whether a word is an operator or a redirection, or has an operator within it that no program's
/// argument has.
fn is_operator(word: &str) -> bool {
    let redirects = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with(['<', '>']);
    matches!(word, "|" | "||" | "&" | "&&" | ";" | "|&" | ";;")
        || redirects
        || word.contains("&&")
        || word.contains("||")
        || word.len() > 1 && word.ends_with(';')
}

/// `{a,b}`, `{1..3}` or `(a|b)`.
fn has_alternatives(word: &str) -> bool {
    let braces = between(word, '{', '}');
    braces.contains(',') || braces.contains("..") || between(word, '(', ')').contains('|')
}

/// `[a-z]`, `[!x]`, or brackets beside a wildcard; but not `.[dev]`, an extra of a Python package.
fn has_class(word: &str) -> bool {
    let inner = between(word, '[', ']');
    let is_range = matches!(inner.as_bytes(), [from, b'-', to, ..] if from < to);
    !inner.is_empty() && (is_range || inner.starts_with(['!', '^']) || word.contains(['*', '?']))
}

/// What a word has between two characters.
fn between(word: &str, open: char, close: char) -> &str {
    let (_, rest) = word.split_once(open).unwrap_or_default();
    let (inner, _) = rest.split_once(close).unwrap_or_default();
    inner
}
