//! Here-documents of the strict reader.

use super::lexer::{Lexer, StrictWord, Token};
use super::{Refused, is_name};

/// The longest here-documents, all together, in bytes.
const MAX_DATA: usize = 1 << 20;

/// A here-document that begins at the next line.
pub(super) struct Mark {
    name: String,
    quoted: bool,
    /// `<<-`: tabs in front of lines do not count.
    indented: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn document(&mut self) -> Result<Token<'t>, Refused> {
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
    pub(super) fn documents_of_line(&mut self) -> Result<(), Refused> {
        std::mem::take(&mut self.marks).iter().try_for_each(|mark| self.body(mark).map(drop))
    }

    /// The text of a here-document, up to its mark.
    fn body(&mut self, mark: &Mark) -> Result<&'t str, Refused> {
        let (text, start) = (self.rest(), self.at);
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
                self.documents.push(start..start + length);
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

    /// `$(cat <<'E' … E)`, which is how text of several lines is given to an option: the text of the here-document, which
    /// is nothing but text.
    pub(super) fn text_of_cat(&mut self, word: &mut StrictWord<'_>) -> Result<(), Refused> {
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
}
