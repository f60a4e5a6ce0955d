//! Command patterns that are written as a shell or a regular expression would have them. A pattern is compared with the words
//! of one command at a time, after the shell has read them: what it does not see there, it never matches.

use super::lexed;

/// What is wrong with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// An operator or a redirection: commands are compared one by one, without them.
    Operator,
    /// `NAME=value` in front: a variable is no word of a command.
    Environment,
    /// `{a,b}` or `(a|b)`: no word has this form once it is read.
    Alternatives,
    /// `^` or `.*`, as in a regular expression.
    Regex,
    /// `git:push`, or `:*` that is not at the end.
    Colon,
    /// `$HOME`, `$(…)`: a command has what they stand for.
    Expansion,
}

impl Mistake {
    /// Whether a pattern with it never matches. If not, it only matches less than its author may think.
    pub(crate) fn never(self) -> bool {
        self != Self::Expansion
    }

    /// What is wrong, and what to write instead.
    pub(crate) fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Operator => (
                "commands are compared one by one, without operators and redirections",
                "write one rule for each command: `Bash(curl:*)`, `Bash(sh:*)`; quote a character that is part of a word",
            ),
            Self::Environment => (
                "a variable in front is no word of a command",
                "write the command alone: it is judged with any variable",
            ),
            Self::Alternatives => ("a list of alternatives is no word of a command", "write one rule for each of them"),
            Self::Regex => (
                "a pattern is no regular expression: `^`, `.` and `$` stand for themselves",
                "write words, `*` for any characters of one, and `:*` at the end for any further words",
            ),
            Self::Colon => {
                ("a `:` is part of a word unless `:*` ends the pattern", "separate words by blanks: `git push:*`")
            }
            Self::Expansion => (
                "an expansion stands for itself: a command has what it becomes",
                "write the text that it becomes: `~/…` for a path at home",
            ),
        }
    }

    /// The mistake in a pattern as it is written, if it has one.
    pub(super) fn find(text: &str) -> Option<Self> {
        let body = text.trim();
        let body = body.strip_suffix(":*").unwrap_or(body);
        // Every word with its characters, and whether each stands outside of quotes.
        let words = lexed(body)?;
        let bare = |word: &[(char, bool)]| word.iter().filter(|(_, bare)| *bare).map(|(c, _)| *c).collect::<String>();
        let whole = |word: &[(char, bool)]| word.iter().all(|(_, bare)| *bare);
        let texts: Vec<(String, bool)> = words.iter().map(|word| (bare(word), whole(word))).collect();
        let first = texts.first().filter(|(_, whole)| *whole).map(|(text, _)| text.as_str()).unwrap_or_default();
        let any = |test: &dyn Fn(&str) -> bool| texts.iter().any(|(text, whole)| *whole && test(text));
        if is_assignment(words.first()?) {
            return Some(Self::Environment);
        }
        if any(&is_operator) {
            return Some(Self::Operator);
        }
        if texts.iter().any(|(text, _)| has_alternatives(text)) {
            return Some(Self::Alternatives);
        }
        if first.starts_with('^') || first.contains(".*") || first.ends_with('$') && first.len() > 1 {
            return Some(Self::Regex);
        }
        if any(&|text| text == ":*") || first.contains(':') && !first.contains(['/', '\\']) {
            return Some(Self::Colon);
        }
        let expands = |text: &str| {
            let dollar = text.match_indices('$').any(|(at, _)| {
                let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
                next.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '{' | '('))
            });
            dollar || text.contains('`')
        };
        texts.iter().any(|(text, _)| expands(text)).then_some(Self::Expansion)
    }
}

/// `NAME=value`, with a name outside of quotes.
fn is_assignment(word: &[(char, bool)]) -> bool {
    let name: Vec<_> = word.iter().take_while(|(c, _)| *c != '=').collect();
    let ok = |(at, (c, bare)): (usize, &&(char, bool))| {
        *bare && (c.is_ascii_alphabetic() || *c == '_' || at > 0 && c.is_ascii_digit())
    };
    !name.is_empty() && name.len() < word.len() && name.iter().enumerate().all(ok)
}

/// Whether a word is an operator or a redirection, or has an operator within it that no program's argument has.
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
    let between = |open: char, close: char| {
        let (_, rest) = word.split_once(open)?;
        rest.split_once(close).map(|(inner, _)| inner)
    };
    between('{', '}').is_some_and(|inner| inner.contains(',') || inner.contains(".."))
        || between('(', ')').is_some_and(|inner| inner.contains('|'))
}
