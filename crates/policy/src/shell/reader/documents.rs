//! Here-documents.

use std::cell::OnceCell;
use std::rc::Rc;

use super::lexer::{Lexer, Token};
use super::tree::{Document, Draft, Redirect, Target};
use super::{Refused, is_name};

/// The longest here-documents, all together, in bytes.
const MAX_DATA: usize = 1 << 20;

/// A here-document that begins at the next line.
pub(super) struct Mark {
    name: String,
    quoted: bool,
    /// `<<-`: tabs in front of lines do not count.
    indented: bool,
    document: Rc<OnceCell<Document>>,
}

impl Lexer<'_> {
    pub(super) fn document(&mut self, input: bool) -> Result<Token, Refused> {
        let indented = self.takes("-");
        self.blanks();
        let start = self.at;
        let mark = match self.mark(indented) {
            Ok(mark) if self.ended(" \t\n;|&><") => mark,
            other => {
                self.refuse(other.err().unwrap_or("a here-document whose delimiter is not a name"));
                self.at = start;
                self.other_mark(indented)?
            }
        };
        let document = Rc::clone(&mark.document);
        self.marks.push(mark);
        Ok(Token::Redirect { redirect: Redirect { input, target: Target::Document(document) }, both: false })
    }

    /// The mark of a here-document: a name, plain or quoted as a whole.
    fn mark(&mut self, indented: bool) -> Result<Mark, Refused> {
        let quote = ["'", "\""].into_iter().find(|quote| self.takes(quote));
        let name = self.until(|c| !(c.is_ascii_alphanumeric() || c == '_')).to_owned();
        if matches!(quote, Some(quote) if !self.takes(quote)) {
            return Err("a here-document whose delimiter is not a quoted name");
        }
        if !is_name(&name) {
            return Err("a here-document whose delimiter is not a name");
        }
        Ok(Mark { name, quoted: quote.is_some(), indented, document: Rc::default() })
    }

    /// A mark that is any other word.
    fn other_mark(&mut self, indented: bool) -> Result<Mark, Refused> {
        let word = self.word(false)?;
        if word.expands || word.source.is_empty() || word.value.contains('\n') {
            return Err("a here-document whose delimiter is not a name");
        }
        Ok(Mark { name: word.value.to_string(), quoted: word.quoted, indented, document: Rc::default() })
    }

    /// The text of a here-document, up to its mark.
    pub(super) fn body(&mut self, mark: &Mark) -> Result<String, Refused> {
        let start = self.at;
        let (mut text, mut continues) = (String::new(), false);
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
            if own == mark.name && !continues {
                self.documents.push(start..self.at - line.len() - usize::from(ended));
                let document = Document { text: text.clone(), expands: !mark.quoted };
                // A mark has one text.
                drop(mark.document.set(document));
                return Ok(text);
            }
            text.push_str(own);
            text.push_str(if ended { "\n" } else { "" });
            if !mark.quoted && line.contains(['$', '`', '\\']) {
                self.refuse("a here-document with `$`, a backquote or a backslash, whose delimiter is not quoted");
                // A backslash joins the next line, which then cannot be the delimiter.
                continues = (line.len() - line.trim_end_matches('\\').len()) % 2 == 1;
            } else {
                continues = false;
            }
            if line.contains(|c: char| c.is_control() && c != '\t') {
                self.refuse("a control character");
            }
        }
    }

    /// `$(cat <<'E' … E)`, which gives text of several lines to an option: the text of the
    /// here-document has no expansion. Returns whether that is here; if not, nothing is taken.
    pub(super) fn text_of_cat(&mut self, word: &mut Draft) -> Result<bool, Refused> {
        let (start, data, documents) = (self.at, self.data, self.documents.len());
        self.takes("$(cat <<");
        if let Ok(mark) = self.mark(false)
            && mark.quoted
            && self.marks.is_empty()
            && self.takes("\n")
            && let Ok(text) = self.body(&mark)
            && self.takes(")")
        {
            self.quoted(word, text.trim_end_matches('\n'))?;
            return Ok(true);
        }
        (self.at, self.data) = (start, data);
        self.documents.truncate(documents);
        Ok(false)
    }
}
