//! The tokens of the strict reader.

use super::{Refused, StrictWord, is_name};

/// The longest here-documents, all together, in bytes.
const MAX_DATA: usize = 1 << 20;

/// An operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    And,
    Or,
    Semicolon,
    Pipe,
    Background,
    Newline,
    Open,
    Close,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(StrictWord),
    Op(Op),
    /// A redirection, with its file if it names one.
    Redirect(Option<StrictWord>),
    /// One of both outputs, `&>`, which dash does not know.
    RedirectBoth(Option<StrictWord>),
    End,
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

    pub(super) fn next(&mut self) -> Result<Token, Refused> {
        self.blanks();
        if self.peek() == Some('#') {
            self.until(|c| c == '\n');
        }
        let Some(c) = self.peek() else {
            return if self.marks.is_empty() { Ok(Token::End) } else { Err("a here-document without lines") };
        };
        match c {
            '\n' => {
                self.at += 1;
                self.documents()?;
                Ok(Token::Op(Op::Newline))
            }
            '(' if self.marks.is_empty() => {
                self.at += 1;
                if self.peek() == Some('(') { Err("`((`") } else { Ok(Token::Op(Op::Open)) }
            }
            ')' if self.marks.is_empty() => {
                self.at += 1;
                Ok(Token::Op(Op::Close))
            }
            '(' | ')' => Err("a here-document within parentheses"),
            ';' => {
                self.at += 1;
                if self.rest().starts_with([';', '&']) {
                    return Err("`;;` or `;&`");
                }
                Ok(Token::Op(Op::Semicolon))
            }
            '|' => {
                self.at += 1;
                if self.takes("&") {
                    return Err("`|&`");
                }
                Ok(Token::Op(if self.takes("|") { Op::Or } else { Op::Pipe }))
            }
            '&' if self.rest().starts_with("&>") => {
                self.at += 2;
                self.takes(">");
                match self.target()? {
                    Token::Redirect(target) => Ok(Token::RedirectBoth(target)),
                    other => Ok(other),
                }
            }
            '&' => {
                self.at += 1;
                Ok(Token::Op(if self.takes("&") { Op::And } else { Op::Background }))
            }
            '<' | '>' => self.redirect(),
            '0'..='9' if self.rest().get(1..2).is_some_and(|c| matches!(c, "<" | ">")) => {
                self.at += 1;
                self.redirect()
            }
            _ => self.word().map(Token::Word),
        }
    }

    /// A redirection, behind the number of its descriptor.
    fn redirect(&mut self) -> Result<Token, Refused> {
        if self.takes("<<<") || self.takes("<>") {
            return Err("`<<<` or `<>`");
        }
        if self.takes("<<") {
            return self.mark();
        }
        if self.takes(">&") || self.takes("<&") {
            self.blanks();
            let copied = self.until(|c| !c.is_ascii_digit());
            let one = copied.len() == 1 || (copied.is_empty() && self.takes("-"));
            let over = self.peek().is_none_or(|c| " \t\n;|&)".contains(c));
            return if one && over {
                Ok(Token::Redirect(None))
            } else {
                Err("`>&` before something else than a digit")
            };
        }
        let _ = self.takes(">>") || self.takes(">|") || self.takes(">") || self.takes("<");
        self.target()
    }

    fn target(&mut self) -> Result<Token, Refused> {
        self.blanks();
        match self.peek() {
            None | Some('\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '#') => Err("a redirection without a file"),
            _ => self.word().map(|word| Token::Redirect(Some(word))),
        }
    }

    /// The mark of a here-document: a name, plain or quoted as a whole.
    fn mark(&mut self) -> Result<Token, Refused> {
        let indented = self.takes("-");
        self.blanks();
        let quote = self.peek().filter(|c| matches!(c, '\'' | '"'));
        self.at += quote.map_or(0, char::len_utf8);
        let name = self.until(|c| !(c.is_ascii_alphanumeric() || c == '_')).to_owned();
        if let Some(quote) = quote
            && !self.takes(quote.encode_utf8(&mut [0; 4]))
        {
            return Err("a here-document whose mark is not a quoted name");
        }
        if !is_name(&name) || !self.peek().is_none_or(|c| " \t\n;|&><".contains(c)) {
            return Err("a here-document whose mark is not a name");
        }
        self.marks.push(Mark { name, quoted: quote.is_some(), indented });
        Ok(Token::Redirect(None))
    }

    /// The here-documents that begin at this line.
    fn documents(&mut self) -> Result<(), Refused> {
        for mark in std::mem::take(&mut self.marks) {
            loop {
                if self.rest().is_empty() {
                    return Err("a here-document without its end");
                }
                let line = self.until(|c| c == '\n');
                let ended = self.takes("\n");
                self.data += line.chars().count() + usize::from(ended);
                if self.data > MAX_DATA {
                    return Err("here-documents of more than a megabyte");
                }
                let own = if mark.indented { line.trim_start_matches('\t') } else { line };
                if own == mark.name {
                    break;
                }
                if !mark.quoted && line.contains(['$', '`', '\\']) {
                    return Err("a here-document with `$`, a backquote or a backslash, whose mark is not quoted");
                }
                if line.chars().any(|c| c.is_control() && c != '\t') {
                    return Err("a control character");
                }
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<StrictWord, Refused> {
        let start = self.at;
        let mut word =
            StrictWord { value: String::new(), source: String::new(), open: false, quoted: false, assigns: None };
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
                    if self.peek().is_some_and(|c| !" \t\n;|&<>)".contains(c)) {
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
                    let alone =
                        c == '[' && self.at == start && self.rest().get(1..2).is_none_or(|c| " \t\n;|&<>)".contains(c));
                    word.open |= !alone;
                    self.plain(&mut word, c);
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
        self.text.get(start..self.at).unwrap_or_default().clone_into(&mut word.source);
        if word.value.bytes().all(|b| b.is_ascii_digit()) && self.rest().starts_with(['<', '>']) {
            return Err("a number before a redirection");
        }
        if word.open && word.source.contains("\\\n") {
            return Err("a pattern over two lines");
        }
        Ok(word)
    }

    fn plain(&mut self, word: &mut StrictWord, c: char) {
        self.at += c.len_utf8();
        word.value.push(c);
    }

    fn quoted(&self, word: &mut StrictWord, text: &str) -> Result<(), Refused> {
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
    fn double(&mut self, word: &mut StrictWord) -> Result<(), Refused> {
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
    fn text_of_cat(&mut self, word: &mut StrictWord) -> Result<(), Refused> {
        self.takes("$(cat <<");
        let Some(quote) = self.peek().filter(|c| matches!(c, '\'' | '"')) else { return Err("an expansion") };
        self.at += 1;
        let name = self.until(|c| !(c.is_ascii_alphanumeric() || c == '_'));
        if !is_name(name) || !self.takes(quote.encode_utf8(&mut [0; 4])) || !self.takes("\n") || !self.marks.is_empty()
        {
            return Err("an expansion");
        }
        let mut text = String::new();
        loop {
            let line = self.until(|c| c == '\n');
            if !self.takes("\n") {
                return Err("a here-document without its end");
            }
            if line == name {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        if !self.takes(")") {
            return Err("an expansion");
        }
        self.data += text.chars().count();
        self.quoted(word, text.trim_end_matches('\n'))
    }

    /// A backslash outside quotes.
    fn escape(&mut self, word: &mut StrictWord) -> Result<(), Refused> {
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
    fn braces(&mut self, word: &mut StrictWord) -> Result<(), Refused> {
        let first = word.value.is_empty() && !word.quoted;
        self.plain(word, '{');
        let inner = self.until(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
        word.value.push_str(inner);
        let alone = first && inner.is_empty() && self.peek().is_none_or(|c| " \t\n".contains(c));
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
