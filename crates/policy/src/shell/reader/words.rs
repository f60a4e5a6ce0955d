//! The words of a command line.

use super::lexer::{ENDS, Lexer};
use super::tree::{Draft, Text};
use super::{Refused, is_name, names_a_descriptor};
use crate::unicode::is_digits;

impl<'t> Lexer<'t> {
    /// A word. `in_test`: of `[[ … ]]`, where only blanks end it.
    pub(super) fn word(&mut self, in_test: bool) -> Result<Text, Refused> {
        let start = self.at;
        let mut word = Draft { value: self.spare.pop().unwrap_or_default(), ..Draft::default() };
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' => break,
                '(' if !in_test && word.value.ends_with('=') && word.ends_before_a_value() => {
                    self.items(&mut word)?;
                    break;
                }
                ';' | '|' | '&' | '<' | '>' | '(' | ')' if !in_test => break,
                '\'' => {
                    let text = self.single()?;
                    self.quoted(&mut word, text)?;
                }
                '"' => {
                    self.at += 1;
                    self.double(&mut word)?;
                }
                '\\' => self.escape(&mut word)?,
                '{' => self.braces(&mut word),
                '}' if self.at == start => {
                    self.plain(&mut word, c);
                    if !self.ended(ENDS) {
                        self.refuse("braces");
                    }
                }
                '~' => self.tilde(&mut word, self.at == start),
                '*' | '?' | '[' => {
                    let first = self.at == start;
                    self.plain(&mut word, c);
                    word.open |= !(c == '[' && first && self.ended(ENDS));
                }
                '=' => self.equals(&mut word, start),
                '!' => {
                    self.plain(&mut word, c);
                    self.note_history("!", false);
                }
                c if is_plain(c) => {
                    let text = self.until(|c| !is_plain(c));
                    word.push(text, false);
                }
                '$' => {
                    self.refuse("an expansion");
                    self.dollar(&mut word, false)?;
                }
                '`' => {
                    self.refuse("an expansion");
                    self.backquoted(&mut word, false)?;
                }
                _ => {
                    self.refuse("braces or an unusual character outside quotes");
                    self.plain(&mut word, c);
                }
            }
        }
        let source = self.text.get(start..self.at).unwrap_or_default();
        self.judge(&word, source);
        let read = word.finish(source);
        // The next word is built in the same place.
        word.value.clear();
        self.spare.push(word.value);
        Ok(read)
    }

    /// Refuses what a word is as a whole.
    fn judge(&mut self, word: &Draft, source: &str) {
        let before_redirection = self.rest().starts_with(['<', '>']);
        if names_a_descriptor(&word.value) && before_redirection {
            self.refuse("a variable in braces before a redirection, which is set to a descriptor");
        }
        // `=ls` is the path of `ls` in zsh.
        if self.dialect.is_zsh() && source.starts_with('=') && source != "=" {
            self.refuse("a word that begins with `=`");
        }
        if is_digits(&word.value) && before_redirection {
            self.refuse("a number before a redirection");
        }
        if word.open && source.contains("\\\n") {
            self.refuse("a pattern over two lines");
        }
    }

    pub(super) fn plain(&mut self, word: &mut Draft, c: char) {
        self.at += c.len_utf8();
        word.push(c.encode_utf8(&mut [0; 4]), false);
    }

    /// `~`: a home folder in front of a word and of the value of an assignment.
    fn tilde(&mut self, word: &mut Draft, first: bool) {
        // After `=` and `:` bash puts the home folder in place of it, dash only sometimes.
        if word.value.ends_with(['=', ':']) {
            self.refuse("`~` behind `=` or `:`");
        }
        if !first && !word.ends_before_a_value() {
            return self.plain(word, '~');
        }
        let of_others = self.rest().get(1..).unwrap_or_default();
        let user = of_others.split([' ', '\t', '\n', '/', ':', ';', '|', '&', '<', '>', '(', ')']).next().unwrap_or("");
        self.at += 1;
        // Of a word that is quoted further on, `~` stays as it is.
        if user.contains(['\'', '"', '\\', '$', '`']) {
            word.push("~", false);
        } else {
            self.at += user.len();
            word.tilde(user);
        }
        word.open = true;
    }

    /// `=`, which may end the name of a variable.
    fn equals(&mut self, word: &mut Draft, start: usize) {
        let source = self.text.get(start..self.at).unwrap_or_default();
        self.plain(word, '=');
        if word.assigns.is_none() && names_a_variable(source) {
            word.assigned(self.at - start);
        }
    }

    /// The values of `NAME=(…)`.
    fn items(&mut self, word: &mut Draft) -> Result<(), Refused> {
        self.refuse("parentheses within a command");
        self.deeper()?;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.until(|c| !c.is_whitespace());
            if self.takes("\\\n") {
                continue;
            }
            if self.takes(")") {
                break;
            }
            if self.peek() == Some('#') {
                self.until(|c| c == '\n');
                continue;
            }
            let item = self.word(false)?;
            if item.source.is_empty() {
                return Err("`(` without `)`");
            }
            items.push(item);
        }
        self.depth -= 1;
        word.expands = true;
        word.items = Some(items);
        Ok(())
    }

    /// The text in single quotes, which begin here.
    pub(super) fn single(&mut self) -> Result<&'t str, Refused> {
        self.at += 1;
        let text = self.until(|c| c == '\'');
        if self.takes("'") { Ok(text) } else { Err("a quote that is not closed") }
    }

    pub(super) fn quoted(&mut self, word: &mut Draft, text: &str) -> Result<(), Refused> {
        if text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
            self.refuse("a control character");
        }
        if text.contains('\n') && !self.marks.is_empty() {
            return Err("a quoted new line before a here-document");
        }
        word.quoted = true;
        word.push(text, true);
        Ok(())
    }

    /// Text in double quotes, behind the opening one: a backslash before `"`, `$`, a backquote,
    /// itself or a new line, and what expands.
    pub(super) fn double(&mut self, word: &mut Draft) -> Result<(), Refused> {
        loop {
            let text = self.until(|c| matches!(c, '"' | '\\' | '$' | '`'));
            self.note_history(text, true);
            self.quoted(word, text)?;
            if self.takes("\"") {
                return Ok(());
            }
            if self.takes("\\") {
                if self.peek() == Some('\n') && !self.marks.is_empty() {
                    return Err("a quoted new line before a here-document");
                }
                self.escaped_in_text(word, "\"\\$`");
            } else if self.rest().starts_with("$(cat <<") && self.text_of_cat(word)? {
            } else if self.peek() == Some('$') {
                // A dollar before none of what begins an expansion is itself.
                let next = self.rest().chars().nth(1);
                if matches!(next, Some('"' | ' ' | '|' | ',' | '.' | ';' | '/' | ')')) {
                    self.at += 1;
                    word.push("$", true);
                } else {
                    self.refuse("an expansion");
                    self.dollar(word, true)?;
                }
            } else if self.peek() == Some('`') {
                self.refuse("an expansion");
                self.backquoted(word, true)?;
            } else {
                return Err("a quote that is not closed");
            }
        }
    }

    /// Text that is expanded and not split, up to its end: here-documents, default values,
    /// arithmetic.
    pub(super) fn expanded(&mut self, word: &mut Draft) -> Result<(), Refused> {
        loop {
            let text = self.until(|c| matches!(c, '\\' | '$' | '`'));
            word.push(text, true);
            match self.peek() {
                None => return Ok(()),
                Some('$') => self.dollar(word, true)?,
                Some('`') => self.backquoted(word, true)?,
                Some(_) => {
                    self.at += 1;
                    self.escaped_in_text(word, "\\$`");
                }
            }
        }
    }

    /// What is behind a backslash in text that is expanded: it hides these characters and a new
    /// line, and is itself before any other.
    fn escaped_in_text(&mut self, word: &mut Draft, hides: &str) {
        match self.peek() {
            Some('\n') => self.at += 1,
            Some(c) if hides.contains(c) => {
                self.at += 1;
                word.push(c.encode_utf8(&mut [0; 4]), true);
            }
            _ => word.push("\\", true),
        }
    }

    /// A backslash outside quotes.
    fn escape(&mut self, word: &mut Draft) -> Result<(), Refused> {
        self.at += 1;
        match self.peek() {
            Some('\n') if self.marks.is_empty() => self.at += 1,
            Some('\n') => return Err("a backslash before a character that is not plain"),
            Some(c) => {
                if !(c.is_ascii_graphic() || c == ' ') {
                    self.refuse("a backslash before a character that is not plain");
                }
                self.at += c.len_utf8();
                word.push(c.encode_utf8(&mut [0; 4]), true);
                self.note_history(if c == '!' { "!" } else { "" }, false);
                word.quoted = true;
            }
            None => {
                self.refuse("a backslash before a character that is not plain");
                word.push("\\", true);
            }
        }
        Ok(())
    }

    /// `{` alone, `{}` and `{1}`: braces that expand to nothing else.
    fn braces(&mut self, word: &mut Draft) {
        let first = word.value.is_empty() && !word.quoted;
        self.plain(word, '{');
        let inner = self.until(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
        word.push(inner, false);
        if first && inner.is_empty() && self.ended(" \t\n") {
            return;
        }
        if self.takes("}") {
            word.push("}", false);
        } else {
            self.refuse("braces");
            word.expands = true;
        }
    }
}

/// Whether a character is itself anywhere in a word, outside of quotes.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "#%+,-./:@]^_".contains(c)
}

/// Whether the text before `=` names a variable, or a part of one: `NAME`, `NAME+`, `NAME[index]`.
fn names_a_variable(source: &str) -> bool {
    let name = source.strip_suffix('+').unwrap_or(source);
    let Some((name, index)) = name.split_once('[') else { return is_name(name) };
    is_name(name) && index.ends_with(']')
}
