//! What begins with a dollar or a backquote. The strict grammar has none of it; the reader reads it
//! for denies.

use super::Refused;
use super::lexer::Lexer;
use super::tree::{Draft, Kind, Operator, Parameter};
use crate::shell::ansi;
use crate::unicode::is_digits;

impl<'t> Lexer<'t> {
    /// An expansion, at its dollar. `quoted`: in double quotes, or in a text that is not split.
    pub(super) fn dollar(&mut self, word: &mut Draft, quoted: bool) -> Result<(), Refused> {
        self.at += 1;
        let rest = self.rest();
        if rest.starts_with("((")
            && let Some(inside) = self.arithmetic(2)
        {
            word.expand(Kind::Arithmetic(inside.to_owned()), quoted);
        } else if self.takes("(") {
            let start = self.at;
            let list = self.inner()?;
            let source = self.text.get(start..self.at - 1).unwrap_or_default();
            word.expand(Kind::Substitution(source.to_owned(), list), quoted);
        } else if self.takes("{") {
            let kind = self.parameter(quoted)?;
            word.expand(kind, quoted);
        } else if self.takes("[") {
            let inside = self.until(|c| c == ']');
            if !self.takes("]") {
                return Err("an expansion");
            }
            word.expand(Kind::Arithmetic(inside.to_owned()), quoted);
        } else if !quoted && self.takes("'") {
            self.ansi(word)?;
        } else if !quoted && self.takes("\"") {
            // The language of the user may put another text in its place.
            word.expand(Kind::Unsure("translation", "$\"…\"".to_owned()), true);
            self.double(word)?;
        } else {
            let name = self.parameter_name().to_owned();
            if name.is_empty() {
                word.push("$", quoted);
                // What may be an expansion all the same is known only when it runs.
                word.expands = true;
            } else {
                word.expand(Kind::Parameter(Box::new(Parameter { name, ..Parameter::default() })), quoted);
            }
        }
        Ok(())
    }

    /// The name of a variable, or one digit or special character; empty where none is here.
    fn parameter_name(&mut self) -> &'t str {
        let rest = self.rest();
        match rest.chars().next() {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.until(|c| !(c.is_ascii_alphanumeric() || c == '_')),
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                rest.get(..1).unwrap_or_default()
            }
            _ => "",
        }
    }

    /// The text up to a character that no backslash precedes, and which is taken.
    fn up_to(&mut self, end: char, missing: Refused) -> Result<&'t str, Refused> {
        let start = self.at;
        loop {
            self.until(|c| c == end || c == '\\');
            match self.peek() {
                None => return Err(missing),
                Some('\\') => self.skip(true)?,
                Some(_) => {
                    self.at += end.len_utf8();
                    return Ok(self.text.get(start..self.at - end.len_utf8()).unwrap_or_default());
                }
            }
        }
    }

    /// `$'…'`, behind its quote.
    fn ansi(&mut self, word: &mut Draft) -> Result<(), Refused> {
        let text = self.up_to('\'', "a quote that is not closed")?;
        if text.contains('\n') && !self.marks.is_empty() {
            return Err("a quoted new line before a here-document");
        }
        word.quoted = true;
        match ansi::decode(text) {
            Some(text) => word.push(&text, true),
            None => word.expand(Kind::Unsure("ansi-c-quoting", text.to_owned()), true),
        }
        word.expands = true;
        Ok(())
    }

    /// A command substitution in backquotes, at the first one. A backslash in them is removed
    /// before the text is read.
    pub(super) fn backquoted(&mut self, word: &mut Draft, quoted: bool) -> Result<(), Refused> {
        self.at += 1;
        let source = self.up_to('`', "an expansion")?;
        if !self.marks.is_empty() {
            return Err("a here-document within parentheses");
        }
        let source = source.replace("\\`", "`").replace("\\\\", "\\").replace("\\$", "$");
        let source = if quoted { source.replace("\\\"", "\"") } else { source };
        self.deeper()?;
        let inner = super::read_within(&source, self.dialect, self.depth)?;
        self.depth -= 1;
        word.expand(Kind::Substitution(source, inner.list), quoted);
        Ok(())
    }

    /// The text of an arithmetic expression in two parentheses, which begin here, and which are
    /// taken. `None`, with nothing taken, where they do not end in two.
    pub(super) fn arithmetic(&mut self, open: usize) -> Option<&'t str> {
        let inside = self.rest().get(open..)?;
        let (mut depth, mut escaped, mut quote) = (0_usize, false, None);
        for (at, c) in inside.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if quote != Some('\'') => escaped = true,
                c if quote == Some(c) => quote = None,
                _ if quote.is_some() => {}
                '\'' | '"' => quote = Some(c),
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                ')' => {
                    let closes = inside.get(at + 1..)?.starts_with(')');
                    self.at += if closes { open + at + 2 } else { 0 };
                    return if closes { inside.get(..at) } else { None };
                }
                _ => {}
            }
        }
        None
    }

    /// `${…}`, behind its brace.
    fn parameter(&mut self, quoted: bool) -> Result<Kind, Refused> {
        let start = self.at;
        let mut own = Parameter::default();
        let closes = matches!(self.rest().get(1..), Some(rest) if rest.starts_with('}'));
        if self.rest().starts_with('#') && !closes && !self.rest().starts_with("##}") {
            self.at += 1;
            own.operator = Operator::Length;
        } else if self.rest().starts_with('!') && !closes {
            self.at += 1;
            own.indirect = true;
        }
        own.name = self.parameter_name().to_owned();
        if is_digits(&own.name) && !own.name.is_empty() {
            own.name += self.until(|c| !c.is_ascii_digit());
        }
        if self.takes("[") {
            own.index = Some(self.index()?);
        }
        let rest = self.rest();
        let operator = rest.strip_prefix(':').filter(|rest| rest.starts_with(['-', '=', '+', '?'])).unwrap_or(rest);
        let (kind, length) = match operator.chars().next() {
            Some('}') => (own.operator, 0),
            Some('-') => (Operator::Default, 1),
            Some('=') => (Operator::Assign, 1),
            Some('+' | '?') => (Operator::Alternative, 1),
            Some('@' | '*') if own.indirect && operator.get(1..2) == Some("}") => (Operator::Names, 1),
            Some('@') => (Operator::Transform, 1),
            Some(':') => (Operator::Substring, 1),
            Some('#' | '%' | '/' | '^' | ',') => (Operator::Pattern, 1),
            _ => (Operator::Plain, 0),
        };
        let is_list = matches!(own.index.as_deref(), Some("@" | "*"));
        own.operator = if kind == Operator::Plain && own.indirect && is_list { Operator::Names } else { kind };
        self.at += rest.len() - operator.len() + length;
        // In double quotes a single quote is itself, but not in a pattern: `"${x#'"'}"`.
        own.rest = self.braced(quoted && own.operator != Operator::Pattern)?;
        // `${ command; }` of newer shells, and what is an error in this one.
        let is_odd = own.name.is_empty() || own.operator == Operator::Plain && !own.rest.is_empty();
        let source = self.text.get(start..self.at).unwrap_or_default();
        Ok(if is_odd { Kind::Unread(source.to_owned()) } else { Kind::Parameter(Box::new(own)) })
    }

    /// The subscript behind a `[`, without the bracket that ends it.
    fn index(&mut self) -> Result<String, Refused> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            self.until(|c| matches!(c, '[' | ']' | '$' | '`' | '\\' | '\'' | '"'));
            match self.peek() {
                Some(']') if depth == 0 => {
                    let index = self.text.get(start..self.at).unwrap_or_default().to_owned();
                    self.at += 1;
                    return Ok(index);
                }
                Some(']') => depth -= 1,
                Some('[') => depth += 1,
                _ => {
                    self.skip(true)?;
                    continue;
                }
            }
            self.at += 1;
        }
    }

    /// The rest of `${…}`, without the brace that ends it.
    fn braced(&mut self, quoted: bool) -> Result<String, Refused> {
        let start = self.at;
        loop {
            self.until(|c| matches!(c, '}' | '$' | '`' | '\\' | '\'' | '"'));
            if self.takes("}") {
                let rest = self.text.get(start..self.at - 1).unwrap_or_default();
                if rest.contains('\n') && !self.marks.is_empty() {
                    return Err("a quoted new line before a here-document");
                }
                return Ok(rest.to_owned());
            }
            self.skip(quoted)?;
        }
    }

    /// Passes over a quote, an escaped character or an expansion. `quoted`: single quotes are none.
    fn skip(&mut self, quoted: bool) -> Result<(), Refused> {
        let mut passed = Draft::default();
        match self.peek() {
            Some('\\') => {
                self.at += 1;
                self.at += self.peek().map_or(0, char::len_utf8);
            }
            Some('\'') if !quoted => drop(self.single()?),
            Some('\'') => self.at += 1,
            Some('$') => {
                self.deeper()?;
                self.dollar(&mut passed, quoted)?;
                self.depth -= 1;
            }
            Some('`') => self.backquoted(&mut passed, quoted)?,
            Some('"') => {
                self.at += 1;
                self.deeper()?;
                self.double(&mut passed)?;
                self.depth -= 1;
            }
            Some(_) => self.at += 1,
            None => return Err("an expansion"),
        }
        Ok(())
    }
}
