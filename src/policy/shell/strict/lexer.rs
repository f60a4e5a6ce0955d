//! The tokens of the strict reader.

use super::{Refused, is_name};
use crate::policy::argv::Word;

/// The longest here-documents, all together, in bytes.
const MAX_DATA: usize = 1 << 20;

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

/// A here-document that begins at the next line.
struct Mark {
    name: String,
    quoted: bool,
    /// `<<-`: tabs in front of lines do not count.
    indented: bool,
}

pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    marks: Vec<Mark>,
    data: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, marks: Vec::new(), data: 0 }
    }

    pub(super) fn data(&self) -> usize {
        self.data
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn takes(&mut self, text: &str) -> bool {
        let is = self.rest().starts_with(text);
        if is {
            self.at += text.len();
        }
        is
    }

    /// What stands before the next character for which this holds, which is taken.
    fn until(&mut self, ends: impl FnMut(char) -> bool) -> &'t str {
        let rest = self.rest();
        let (before, _) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        self.at += before.len();
        before
    }

    fn blanks(&mut self) {
        while self.takes(" ") || self.takes("\t") || (self.marks.is_empty() && self.takes("\\\n")) {}
    }

    /// Whether no more belongs to the word, keyword or descriptor that was read.
    fn ended(&self, ends: &str) -> bool {
        self.peek().is_none_or(|c| ends.contains(c))
    }

    pub(super) fn next(&mut self) -> Result<Token<'t>, Refused> {
        self.blanks();
        if self.peek() == Some('#') {
            self.until(|c| c == '\n');
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
        if redirects.is_some() {
            self.at += usize::from(number);
            return self.redirect();
        }
        match OPERATORS.into_iter().find(|operator| self.takes(operator)) {
            Some(operator) => {
                if operator == "\n" {
                    self.documents()?;
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

    fn document(&mut self) -> Result<Token<'t>, Refused> {
        let indented = self.takes("-");
        self.blanks();
        let mark = self.mark(indented)?;
        if !self.ended(" \t\n;|&><") {
            return Err("a here-document whose mark is not a name");
        }
        self.marks.push(mark);
        Ok(Token::Redirect { file: None, both: false })
    }

    /// The mark of a here-document: a name, plain or quoted as a whole.
    fn mark(&mut self, indented: bool) -> Result<Mark, Refused> {
        let quote = ["'", "\""].into_iter().find(|quote| self.takes(quote));
        let name = self.until(|c| !(c.is_ascii_alphanumeric() || c == '_')).to_owned();
        if quote.is_some_and(|quote| !self.takes(quote)) {
            return Err("a here-document whose mark is not a quoted name");
        }
        if !is_name(&name) {
            return Err("a here-document whose mark is not a name");
        }
        Ok(Mark { name, quoted: quote.is_some(), indented })
    }

    /// The here-documents that begin at this line.
    fn documents(&mut self) -> Result<(), Refused> {
        std::mem::take(&mut self.marks).iter().try_for_each(|mark| self.body(mark).map(drop))
    }

    /// The text of a here-document, up to its mark.
    fn body(&mut self, mark: &Mark) -> Result<&'t str, Refused> {
        let text = self.rest();
        let mut length = 0;
        loop {
            if self.rest().is_empty() {
                return Err("a here-document without its end");
            }
            let line = self.until(|c| c == '\n');
            let ended = usize::from(self.takes("\n"));
            self.data += line.chars().count() + ended;
            if self.data > MAX_DATA {
                return Err("here-documents of more than a megabyte");
            }
            let own = if mark.indented { line.trim_start_matches('\t') } else { line };
            if own == mark.name {
                return Ok(text.get(..length).unwrap_or_default());
            }
            length += line.len() + ended;
            if !mark.quoted && line.contains(['$', '`', '\\']) {
                return Err("a here-document with `$`, a backquote or a backslash, whose mark is not quoted");
            }
            if line.chars().any(|c| c.is_control() && c != '\t') {
                return Err("a control character");
            }
        }
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
                '!' | '#' | '%' | '+' | ',' | '-' | '.' | '/' | ':' | '@' | ']' | '^' | '_' => self.plain(&mut word, c),
                c if c.is_alphanumeric() => self.plain(&mut word, c),
                '$' | '`' => return Err("an expansion"),
                _ => return Err("braces or an unusual character outside quotes"),
            }
        }
        let source = self.text.get(start..self.at).unwrap_or_default();
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

    fn quoted(&self, word: &mut StrictWord<'_>, text: &str) -> Result<(), Refused> {
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

    /// `$(cat <<'E' … E)`, which is how text of several lines is given to an option: the text of the here-document, which
    /// is nothing but text.
    fn text_of_cat(&mut self, word: &mut StrictWord<'_>) -> Result<(), Refused> {
        self.takes("$(cat <<");
        let mark = self.mark(false).map_err(|_| "an expansion")?;
        if !mark.quoted || !self.takes("\n") || !self.marks.is_empty() {
            return Err("an expansion");
        }
        let text = self.body(&mark)?;
        if !self.takes(")") {
            return Err("an expansion");
        }
        self.quoted(word, text.trim_end_matches('\n'))
    }

    /// A backslash outside quotes.
    fn escape(&mut self, word: &mut StrictWord<'_>) -> Result<(), Refused> {
        self.at += 1;
        match self.peek() {
            Some('\n') if self.marks.is_empty() => self.at += 1,
            Some(c) if c.is_ascii_graphic() || c == ' ' => {
                self.plain(word, c);
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
