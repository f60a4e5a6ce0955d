//! The tokens of a command line.

use std::ops::Range;

use super::documents::Mark;
use super::tree::{List, Process, Redirect, Target, Text};
use super::{Reader, Refused};
use crate::dialect::Dialect;
use crate::shell::dialects;

/// The deepest nesting of what is read: groups, branches, loops, substitutions.
pub(super) const MAX_NESTING: usize = 24;

/// The operators, longer ones first.
const OPERATORS: [&str; 12] = ["&&", "||", ";;&", ";;", ";&", "|&", ";", "|", "&", "(", ")", "\n"];

/// Operators outside the strict grammar, and what is said of them.
const REFUSED: [(&str, Refused); 8] = [
    ("((", "`((`"),
    (";;", "`;;` or `;&`"),
    (";&", "`;;` or `;&`"),
    ("|&", "`|&`"),
    ("<<<", "`<<<` or `<>`"),
    ("<>", "`<<<` or `<>`"),
    ("<(", "a process substitution"),
    (">(", "a process substitution"),
];

/// Before what a word, a keyword or a descriptor ends.
pub(super) const ENDS: &str = " \t\n;|&<>)";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Text),
    Op(&'static str),
    /// A redirection. `both`: of both outputs, `&>`, which dash does not know.
    Redirect {
        redirect: Redirect,
        both: bool,
    },
    /// `{NAME}` directly before a redirection.
    Descriptor(String),
    Process(Process),
    End,
}

#[derive(Default)]
pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) marks: Vec<Mark>,
    /// The number of characters in here-documents.
    pub(super) data: usize,
    pub(super) dialect: Dialect,
    /// Where the data of here-documents is.
    pub(super) documents: Vec<Range<usize>>,
    /// Whether a `!` was read that the shell replaces by an earlier command.
    pub(super) expands: bool,
    /// How deep what is read is nested.
    pub(super) depth: usize,
    pub(super) refused: Option<Refused>,
    /// Space in which words are built.
    pub(super) spare: Vec<String>,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, dialect: Dialect) -> Self {
        Self { text, dialect, ..Self::default() }
    }

    /// Notes a part outside the strict grammar: what is read from here on allows nothing.
    pub(super) fn refuse(&mut self, why: Refused) {
        self.refused.get_or_insert(why);
    }

    /// Why the shell may replace a part of what was read by an earlier command.
    pub(super) fn history(&self) -> Option<Refused> {
        let documents = &self.documents;
        dialects::history(self.text, self.expands, |at| documents.iter().any(|own| own.contains(&at)), self.dialect)
    }

    /// Notes which `!` of a text, which ends here, the shell replaces.
    pub(super) fn note_history(&mut self, text: &str, in_double: bool) {
        let start = self.at - text.len();
        for (at, _) in text.match_indices('!') {
            let rest = self.text.get(start + at + 1..).unwrap_or_default();
            self.expands |= dialects::expands(rest, in_double, self.dialect);
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn takes(&mut self, text: &str) -> bool {
        let is = self.rest().starts_with(text);
        if is {
            self.at += text.len();
        }
        is
    }

    /// The text up to, and without, the next character for which the test holds.
    pub(super) fn until(&mut self, ends: impl FnMut(char) -> bool) -> &'t str {
        let rest = self.rest();
        let (before, _) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        self.at += before.len();
        before
    }

    pub(super) fn blanks(&mut self) {
        while self.takes(" ") || self.takes("\t") || (self.marks.is_empty() && self.takes("\\\n")) {}
    }

    /// Whether no more belongs to the word, keyword or descriptor that was read.
    pub(super) fn ended(&self, ends: &str) -> bool {
        self.peek().is_none_or(|c| ends.contains(c))
    }

    pub(super) fn next(&mut self) -> Result<Token, Refused> {
        self.blanks();
        if self.peek() == Some('#') {
            if self.dialect.is_zsh() && self.dialect.interactive {
                self.refuse("a comment, which an interactive zsh runs");
            }
            let comment = self.until(|c| c == '\n');
            self.note_history(comment, false);
        }
        let rest = self.rest();
        let Some(first) = rest.bytes().next() else {
            return if self.marks.is_empty() { Ok(Token::End) } else { Err("a here-document without lines") };
        };
        // Most tokens are words, and begin with no character of an operator.
        if !matches!(first, b'&' | b';' | b'|' | b'<' | b'>' | b'(' | b')' | b'\n' | b'{' | b'0'..=b'9') {
            return self.word(false).map(Token::Word);
        }
        if rest.starts_with(['(', ')']) && !self.marks.is_empty() {
            return Err("a here-document within parentheses");
        }
        if self.takes("&>") {
            self.takes(">");
            return self.target(false, true, Target::Write);
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let redirects = rest.get(digits..).filter(|rest| rest.starts_with(['<', '>']));
        let refused = REFUSED.iter().find(|(operator, _)| redirects.unwrap_or(rest).starts_with(operator));
        if let Some((_, why)) = refused {
            self.refuse(why);
        }
        if let Some(rest) = redirects {
            if self.dialect.is_zsh() && dialects::is_range(rest) {
                self.refuse("a pattern over numbers");
            }
            if digits > 1 {
                self.refuse("a number before a redirection");
            }
            let number = self.text.get(self.at..self.at + digits).unwrap_or_default();
            self.at += digits;
            if digits == 0 && (rest.starts_with("<(") || rest.starts_with(">(")) {
                return self.process().map(Token::Process);
            }
            return self.redirect(number);
        }
        match OPERATORS.into_iter().find(|operator| self.takes(operator)) {
            Some(operator) => {
                if operator == "\n" {
                    for mark in std::mem::take(&mut self.marks) {
                        self.body(&mark)?;
                    }
                }
                Ok(Token::Op(operator))
            }
            None => {
                let word = self.word(false)?;
                let names = super::names_a_descriptor(&word.value) && self.rest().starts_with(['<', '>']);
                Ok(if names { Token::Descriptor(word.value.to_string()) } else { Token::Word(word) })
            }
        }
    }

    /// A redirection, behind the number of its descriptor.
    fn redirect(&mut self, number: &str) -> Result<Token, Refused> {
        let is_input = number.trim_start_matches('0').is_empty();
        if self.takes("<<<") {
            return self.target(is_input, false, Target::Text);
        }
        if self.takes("<<") {
            return self.document(is_input);
        }
        if self.takes("<>") {
            return self.target(is_input, false, Target::ReadWrite);
        }
        let copies_input = self.rest().starts_with("<&");
        if copies_input || self.rest().starts_with(">&") {
            self.at += 2;
            self.blanks();
            let start = self.at;
            let copied = self.until(|c| !c.is_ascii_digit());
            let one = copied.len() == 1 || (copied.is_empty() && self.takes("-"));
            if one && self.ended(" \t\n;|&)") {
                let redirect = Redirect { input: false, target: Target::Descriptor };
                return Ok(Token::Redirect { redirect, both: false });
            }
            self.refuse("`>&` before anything but a digit");
            self.at = start;
            let of = if copies_input { Target::CopyInput } else { Target::CopyOutput };
            return self.target(copies_input && is_input, false, of);
        }
        if self.takes("<") {
            return self.target(is_input, false, Target::Read);
        }
        let _ = self.takes(">>") || self.takes(">|") || self.takes(">");
        self.target(false, false, Target::Write)
    }

    fn target(&mut self, input: bool, both: bool, of: fn(Text) -> Target) -> Result<Token, Refused> {
        self.blanks();
        let target = if self.rest().starts_with("<(") || self.rest().starts_with(">(") {
            self.refuse("a redirection without a file");
            Target::Process(self.process()?)
        } else if self.ended("\n;|&<>()#") {
            return Err("a redirection without a file");
        } else {
            of(self.word(false)?)
        };
        Ok(Token::Redirect { redirect: Redirect { input, target }, both })
    }

    /// `<(…)` and `>(…)`.
    pub(super) fn process(&mut self) -> Result<Process, Refused> {
        let reads = self.rest().starts_with('>');
        self.at += 2;
        Ok(Process { list: self.inner()?, reads })
    }

    /// Commands in parentheses that are part of a word, behind the opening one.
    pub(super) fn inner(&mut self) -> Result<List, Refused> {
        if !self.marks.is_empty() {
            return Err("a here-document within parentheses");
        }
        self.deeper()?;
        let mut lexer = Lexer::new(self.text, self.dialect);
        lexer.at = self.at;
        lexer.depth = self.depth;
        lexer.spare = std::mem::take(&mut self.spare);
        let mut reader = Reader::new(lexer);
        let list = reader.list(&[])?;
        if !reader.takes(")")? {
            return Err("`(` without `)`");
        }
        self.at = reader.lexer.at;
        self.spare = reader.lexer.spare;
        self.data += reader.lexer.data;
        self.expands |= reader.lexer.expands;
        self.documents.append(&mut reader.lexer.documents);
        self.depth -= 1;
        Ok(list)
    }

    pub(super) fn deeper(&mut self) -> Result<(), Refused> {
        if self.depth >= MAX_NESTING {
            return Err("more than 24 groups, branches, loops or expansions within each other");
        }
        self.depth += 1;
        Ok(())
    }
}
