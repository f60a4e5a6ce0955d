//! The tokens of the strict reader.

use std::ops::Range;

use super::documents::Mark;
use super::{Refused, is_name, names_a_descriptor};
use crate::policy::argv::Word;
use crate::policy::dialect::{Dialect, Shell};
use crate::policy::shell::dialects;

/// The operators, longer ones first.
const OPERATORS: [&str; 8] = ["&&", "||", ";", "|", "&", "(", ")", "\n"];

/// Operators that are not read, and what is said of them.
const REFUSED: [(&str, Refused); 6] = [
    ("((", "`((`"),
    (";;", "`;;` or `;&`"),
    (";&", "`;;` or `;&`"),
    ("|&", "`|&`"),
    ("<<<", "`<<<` or `<>`"),
    ("<>", "`<<<` or `<>`"),
];

/// Before what a word, a keyword or a descriptor ends.
const ENDS: &str = " \t\n;|&<>)";

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Word(StrictWord<'t>),
    Op(&'static str),
    /// A redirection, with its file if it names one. `both`: of both outputs, `&>`, which dash does not know.
    Redirect {
        file: Option<StrictWord<'t>>,
        both: bool,
    },
    End,
}

/// A word as this reader takes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StrictWord<'t> {
    /// The word without its quotes.
    pub(super) value: String,
    /// The word as written.
    source: &'t str,
    /// Whether the shell makes other words of it: a pattern over file names, or `~` in front.
    pub(super) open: bool,
    /// Whether any part was quoted or escaped: such a word is never a keyword.
    pub(super) quoted: bool,
    /// For `NAME=value` with an unquoted name: the length of the name.
    pub(super) assigns: Option<usize>,
}

impl StrictWord<'_> {
    pub(super) fn is(&self, keyword: &str) -> bool {
        !self.quoted && !self.open && self.value == keyword
    }

    /// The word as others hold it.
    pub(super) fn word(self) -> Word {
        match self.open {
            true => Word { guess: vec![self.value], ..Word::unknown(self.source, false) },
            false => Word { text: self.source.to_owned(), ..Word::known(&self.value) },
        }
    }
}

pub(super) struct Lexer<'t> {
    text: &'t str,
    pub(super) at: usize,
    pub(super) marks: Vec<Mark>,
    pub(super) data: usize,
    dialect: Dialect,
    /// Where the data of here-documents is.
    pub(super) documents: Vec<Range<usize>>,
    /// Whether a `!` was read that the shell replaces by an earlier command.
    expands: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, dialect: Dialect) -> Self {
        Self { text, at: 0, marks: Vec::new(), data: 0, dialect, documents: Vec::new(), expands: false }
    }

    /// Why the shell may replace a part of what was read by an earlier command.
    pub(super) fn history(&self) -> Option<Refused> {
        let is_document = |at| self.documents.iter().any(|own| own.contains(&at));
        dialects::history(self.text, self.expands, is_document, self.dialect)
    }

    fn is_zsh(&self) -> bool {
        self.dialect.shell == Some(Shell::Zsh)
    }

    /// Notes which `!` of a text, which ends here, the shell replaces.
    fn note_history(&mut self, text: &str, in_double: bool) {
        let start = self.at - text.len();
        let expanded = |at: usize| {
            let rest = self.text.get(start + at + 1..).unwrap_or_default();
            dialects::expands(rest, in_double, self.dialect)
        };
        self.expands |= text.match_indices('!').any(|(at, _)| expanded(at));
    }

    pub(super) fn data(&self) -> usize {
        self.data
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn takes(&mut self, text: &str) -> bool {
        let is = self.rest().starts_with(text);
        if is {
            self.at += text.len();
        }
        is
    }

    /// What stands before the next character for which this holds, which is taken.
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

    pub(super) fn next(&mut self) -> Result<Token<'t>, Refused> {
        self.blanks();
        if self.peek() == Some('#') {
            if self.is_zsh() && self.dialect.interactive {
                return Err("a comment, which an interactive zsh runs");
            }
            let comment = self.until(|c| c == '\n');
            self.note_history(comment, false);
        }
        let rest = self.rest();
        if rest.is_empty() {
            return if self.marks.is_empty() { Ok(Token::End) } else { Err("a here-document without lines") };
        }
        if rest.starts_with(['(', ')']) && !self.marks.is_empty() {
            return Err("a here-document within parentheses");
        }
        if self.takes("&>") {
            self.takes(">");
            return self.target(true);
        }
        let number = rest.starts_with(|c: char| c.is_ascii_digit());
        let redirects = rest.get(usize::from(number)..).filter(|rest| rest.starts_with(['<', '>']));
        let refused = REFUSED.iter().find(|(operator, _)| redirects.unwrap_or(rest).starts_with(operator));
        if let Some((_, why)) = refused {
            return Err(why);
        }
        if let Some(rest) = redirects {
            if self.is_zsh() && dialects::is_range(rest) {
                return Err("a pattern over numbers");
            }
            self.at += usize::from(number);
            return self.redirect();
        }
        match OPERATORS.into_iter().find(|operator| self.takes(operator)) {
            Some(operator) => {
                if operator == "\n" {
                    self.documents_of_line()?;
                }
                Ok(Token::Op(operator))
            }
            None => self.word().map(Token::Word),
        }
    }

    /// A redirection, behind the number of its descriptor.
    fn redirect(&mut self) -> Result<Token<'t>, Refused> {
        if self.takes("<<") {
            return self.document();
        }
        if self.takes(">&") || self.takes("<&") {
            self.blanks();
            let copied = self.until(|c| !c.is_ascii_digit());
            let one = copied.len() == 1 || (copied.is_empty() && self.takes("-"));
            return if one && self.ended(" \t\n;|&)") {
                Ok(Token::Redirect { file: None, both: false })
            } else {
                Err("`>&` before something else than a digit")
            };
        }
        let _ = self.takes(">>") || self.takes(">|") || self.takes(">") || self.takes("<");
        self.target(false)
    }

    fn target(&mut self, both: bool) -> Result<Token<'t>, Refused> {
        self.blanks();
        if self.ended("\n;|&<>()#") {
            return Err("a redirection without a file");
        }
        self.word().map(|word| Token::Redirect { file: Some(word), both })
    }

    fn word(&mut self) -> Result<StrictWord<'t>, Refused> {
        let start = self.at;
        let mut word = StrictWord::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    self.at += 1;
                    let text = self.until(|c| c == '\'');
                    if !self.takes("'") {
                        return Err("a quote that is not closed");
                    }
                    self.quoted(&mut word, text)?;
                }
                '"' => self.double(&mut word)?,
                '\\' => self.escape(&mut word)?,
                '{' => self.braces(&mut word)?,
                '}' if self.at == start => {
                    self.at += 1;
                    word.value.push('}');
                    if !self.ended(ENDS) {
                        return Err("braces");
                    }
                }
                '~' => {
                    // After `=` and `:` bash puts the home folder in place of it, dash only sometimes.
                    if word.value.ends_with(['=', ':']) {
                        return Err("`~` behind `=` or `:`");
                    }
                    word.open |= self.at == start;
                    self.plain(&mut word, c);
                }
                '*' | '?' | '[' => {
                    let first = self.at == start;
                    self.plain(&mut word, c);
                    word.open |= !(c == '[' && first && self.ended(ENDS));
                }
                '=' => {
                    if word.assigns.is_none() && !word.quoted && is_name(&word.value) {
                        word.assigns = Some(word.value.len());
                    }
                    self.plain(&mut word, c);
                }
                '!' => {
                    self.plain(&mut word, c);
                    self.note_history("!", false);
                }
                '#' | '%' | '+' | ',' | '-' | '.' | '/' | ':' | '@' | ']' | '^' | '_' => self.plain(&mut word, c),
                c if c.is_alphanumeric() => self.plain(&mut word, c),
                '$' | '`' => return Err("an expansion"),
                _ => return Err("braces or an unusual character outside quotes"),
            }
        }
        let source = self.text.get(start..self.at).unwrap_or_default();
        if names_a_descriptor(&word.value) && self.rest().starts_with(['<', '>']) {
            return Err("a variable in braces before a redirection, which is set to a descriptor");
        }
        if self.is_zsh() {
            dialects::zsh_word(source).map_or(Ok(()), Err)?;
        }
        if word.value.bytes().all(|b| b.is_ascii_digit()) && self.rest().starts_with(['<', '>']) {
            return Err("a number before a redirection");
        }
        if word.open && source.contains("\\\n") {
            return Err("a pattern over two lines");
        }
        Ok(StrictWord { source, ..word })
    }

    fn plain(&mut self, word: &mut StrictWord<'_>, c: char) {
        self.at += c.len_utf8();
        word.value.push(c);
    }

    pub(super) fn quoted(&self, word: &mut StrictWord<'_>, text: &str) -> Result<(), Refused> {
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            return Err("a control character");
        }
        if text.contains('\n') && !self.marks.is_empty() {
            return Err("a quoted new line before a here-document");
        }
        word.quoted = true;
        word.value.push_str(text);
        Ok(())
    }

    /// Text in double quotes: a backslash before `"`, `$`, a backquote, itself or a new line, and nothing that expands.
    fn double(&mut self, word: &mut StrictWord<'_>) -> Result<(), Refused> {
        self.at += 1;
        loop {
            let text = self.until(|c| matches!(c, '"' | '\\' | '$' | '`'));
            self.note_history(text, true);
            self.quoted(word, text)?;
            if self.takes("\"") {
                return Ok(());
            }
            if self.takes("\\") {
                match self.peek() {
                    Some('\n') if !self.marks.is_empty() => {
                        return Err("a quoted new line before a here-document");
                    }
                    Some('\n') => self.at += 1,
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.plain(word, c),
                    _ => word.value.push('\\'),
                }
            } else if self.rest().starts_with("$(cat <<") {
                self.text_of_cat(word)?;
            } else if self.takes("$") {
                // A dollar before none of what begins an expansion is itself.
                if !self.peek().is_some_and(|c| matches!(c, '"' | ' ' | '|' | ',' | '.' | ';' | '/' | ')')) {
                    return Err("an expansion");
                }
                word.value.push('$');
            } else {
                return Err(if self.peek().is_some() { "an expansion" } else { "a quote that is not closed" });
            }
        }
    }

    /// A backslash outside quotes.
    fn escape(&mut self, word: &mut StrictWord<'_>) -> Result<(), Refused> {
        self.at += 1;
        match self.peek() {
            Some('\n') if self.marks.is_empty() => self.at += 1,
            Some(c) if c.is_ascii_graphic() || c == ' ' => {
                self.plain(word, c);
                self.note_history(if c == '!' { "!" } else { "" }, false);
                word.quoted = true;
            }
            _ => return Err("a backslash before a character that is not plain"),
        }
        Ok(())
    }

    /// `{` alone, `{}` and `{1}`: braces that expand to nothing else.
    fn braces(&mut self, word: &mut StrictWord<'_>) -> Result<(), Refused> {
        let first = word.value.is_empty() && !word.quoted;
        self.plain(word, '{');
        let inner = self.until(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
        word.value.push_str(inner);
        let alone = first && inner.is_empty() && self.ended(" \t\n");
        if alone {
            return Ok(());
        }
        if !self.takes("}") {
            return Err("braces");
        }
        word.value.push('}');
        Ok(())
    }
}
