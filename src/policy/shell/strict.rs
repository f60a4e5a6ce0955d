//! The strict reader: a small grammar of shell commands that is right by inspection.
//!
//! It reads what `bash -c` and `dash -c` both read the same way: words of plain, single-quoted and double-quoted text
//! without expansions; `&&`, `||`, `;`, `|`, `&` and new lines; redirections to words; assignments; `( … )`, `{ …; }`,
//! `if`, `for`, `while` and `until`; here-documents whose mark is a name, and whose body has no expansion. Everything
//! else it refuses, and what it refuses no rule allows: a call that needs a larger grammar is put before a person.
//!
//! What it returns is compared with what the other reader found; see [`Line::agrees`].

mod documents;
mod lexer;

use self::lexer::{Lexer, StrictWord, Token};
use super::dialects;
use super::formats::{Assigns, assigns};
use super::side_effects::Line;
use crate::policy::dialect::{Dialect, Shell};

/// The deepest nesting of groups, branches and loops.
const MAX_DEPTH: usize = 16;

/// Why a line is outside the grammar: what is not read, in words that complete "it has …".
pub(crate) type Refused = &'static str;

/// A line that was read.
#[derive(Debug)]
pub(super) struct Read {
    /// The commands, files and variables of the line.
    pub(super) line: Line,
    /// The number of characters in the data of here-documents.
    pub(super) data: usize,
    /// Why the shell that runs the line may read it in another way.
    pub(super) doubt: Option<Refused>,
}

/// Reads a line of a shell.
///
/// # Errors
/// What is outside the grammar. Linear in the length of the text.
pub(super) fn read(text: &str, dialect: Dialect) -> Result<Read, Refused> {
    let mut reader =
        Reader { lexer: Lexer::new(text, dialect), line: Line::default(), ahead: None, depth: 0, dialect, doubt: None };
    reader.list(&[])?;
    match reader.next()? {
        Token::End => {
            let doubt = reader.doubt.or_else(|| reader.lexer.history());
            Ok(Read { line: reader.line, data: reader.lexer.data(), doubt })
        }
        _ => Err("an operator or a keyword without its beginning"),
    }
}

struct Reader<'t> {
    lexer: Lexer<'t>,
    dialect: Dialect,
    doubt: Option<Refused>,
    line: Line,
    ahead: Option<Token<'t>>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn is_zsh(&self) -> bool {
        self.dialect.shell == Some(Shell::Zsh)
    }

    fn next(&mut self) -> Result<Token<'t>, Refused> {
        match self.ahead.take() {
            Some(token) => Ok(token),
            None => self.lexer.next(),
        }
    }

    fn peek(&mut self) -> Result<&Token<'t>, Refused> {
        let token = self.next()?;
        Ok(self.ahead.insert(token))
    }

    /// Whether the next token is this operator, which is then taken.
    fn takes(&mut self, op: &str) -> Result<bool, Refused> {
        let is = matches!(self.peek()?, Token::Op(own) if *own == op);
        if is {
            self.ahead = None;
        }
        Ok(is)
    }

    /// Whether the next token is one of these keywords, which is then taken.
    fn takes_keyword(&mut self, keywords: &[&'static str]) -> Result<Option<&'static str>, Refused> {
        let found = match self.peek()? {
            Token::Word(word) => keywords.iter().copied().find(|keyword| word.is(keyword)),
            _ => None,
        };
        if found.is_some() {
            self.ahead = None;
        }
        Ok(found)
    }

    fn expect(&mut self, keywords: &[&'static str]) -> Result<&'static str, Refused> {
        match self.takes_keyword(keywords)? {
            Some(keyword) => Ok(keyword),
            None => Err("a branch, a loop or a group without its next keyword"),
        }
    }

    fn lines(&mut self) -> Result<(), Refused> {
        while self.takes("\n")? {}
        Ok(())
    }

    /// Commands up to one of these keywords, or to `)` or the end, none of which is taken.
    fn list(&mut self, ends: &[&'static str]) -> Result<usize, Refused> {
        let mut count = 0;
        loop {
            self.lines()?;
            let over = match self.peek()? {
                Token::End | Token::Op(")") => true,
                Token::Word(word) => ends.iter().any(|end| word.is(end)),
                _ => false,
            };
            if over {
                return Ok(count);
            }
            self.and_or()?;
            count += 1;
            if !(self.takes(";")? || self.takes("&")? || self.takes("\n")?) {
                return Ok(count);
            }
        }
    }

    /// A list that is not empty, as groups, branches and loops need one, and the keyword that ends it: none is `)`.
    fn body(&mut self, ends: &[&'static str]) -> Result<&'static str, Refused> {
        match self.list(ends)? {
            0 => Err("a group, a branch or a loop without commands"),
            _ if !ends.is_empty() => self.expect(ends),
            _ => {
                if self.takes(")")? {
                    Ok(")")
                } else {
                    Err("`(` without `)`")
                }
            }
        }
    }

    fn and_or(&mut self) -> Result<(), Refused> {
        loop {
            self.pipeline()?;
            if !(self.takes("&&")? || self.takes("||")?) {
                return Ok(());
            }
            self.lines()?;
        }
    }

    fn pipeline(&mut self) -> Result<(), Refused> {
        self.takes_keyword(&["!"])?;
        // dash has no such keyword: there it is a program that runs the same command.
        if self.takes_keyword(&["time"])?.is_some()
            && matches!(self.peek()?, Token::Word(word) if word.value.starts_with('-'))
        {
            return Err("`time` with an option");
        }
        loop {
            self.command()?;
            if !self.takes("|")? {
                return Ok(());
            }
            self.lines()?;
        }
    }

    fn command(&mut self) -> Result<(), Refused> {
        if self.takes("(")? {
            return self.nested(|reader| reader.body(&[]));
        }
        match self.takes_keyword(&["{", "if", "for", "while", "until"])? {
            None => self.simple(),
            Some("{") => self.nested(|reader| reader.body(&["}"])),
            Some("if") => self.nested(Self::branches),
            Some("for") => self.nested(Self::for_each),
            Some(_) => self.nested(|reader| {
                reader.body(&["do"])?;
                reader.body(&["done"])
            }),
        }
    }

    /// A compound command one level deeper, with the redirections behind it.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<&'static str, Refused>) -> Result<(), Refused> {
        if self.depth >= MAX_DEPTH {
            return Err("groups, branches or loops more than 16 deep");
        }
        self.depth += 1;
        read(self)?;
        self.depth -= 1;
        while let Token::Redirect { .. } = self.peek()? {
            self.redirect()?;
        }
        match self.peek()? {
            Token::Word(_) => Err("words behind a group, a branch or a loop"),
            _ => Ok(()),
        }
    }

    fn branches(&mut self) -> Result<&'static str, Refused> {
        loop {
            self.body(&["then"])?;
            match self.body(&["elif", "else", "fi"])? {
                "elif" => {}
                "else" => return self.body(&["fi"]),
                end => return Ok(end),
            }
        }
    }

    fn for_each(&mut self) -> Result<&'static str, Refused> {
        match self.next()? {
            Token::Word(name) if !name.quoted && is_name(&name.value) => self.line.assigned.push(name.value),
            _ => return Err("a loop over something that is no name"),
        }
        self.expect(&["in"])?;
        loop {
            match self.next()? {
                Token::Word(_) => {}
                Token::Op(";" | "\n") => break,
                _ => return Err("a list of words that ends in another way than `;`"),
            }
        }
        self.lines()?;
        self.expect(&["do"])?;
        self.body(&["done"])
    }

    fn simple(&mut self) -> Result<(), Refused> {
        let (mut words, mut something, mut both, mut redirected) = (Vec::new(), false, false, false);
        loop {
            match self.peek()? {
                Token::Redirect { both: of_both, .. } => {
                    both |= *of_both;
                    redirected = true;
                    self.redirect()?;
                }
                // dash starts what is before it in the background, and then runs the words behind it.
                Token::Word(_) if both => return Err("words behind `&>`"),
                Token::Word(_) => {
                    let Token::Word(word) = self.next()? else { return Err("a word") };
                    let length = word.assigns.filter(|_| words.is_empty());
                    match length.and_then(|length| word.value.split_at_checked(length)) {
                        // The value is a word of its own.
                        Some((_, value)) if self.is_zsh() && value.starts_with("==") => {
                            return Err("a value that begins with `=`");
                        }
                        Some((name, _)) => self.line.assigned.push(name.to_owned()),
                        None => {
                            if words.is_empty() {
                                begins(&word)?;
                            }
                            words.push(word.word());
                        }
                    }
                }
                Token::Op("(") => return Err("parentheses within a command"),
                Token::Op(_) | Token::End => break,
            }
            something = true;
        }
        if !something {
            return Err("an operator without a command before it");
        }
        if words.is_empty() {
            return if redirected && self.is_zsh() {
                Err("a redirection without a command, for which zsh runs one")
            } else {
                Ok(())
            };
        }
        if assigns(&words) != Assigns::No {
            return Err("a `printf` that may assign a variable");
        }
        self.doubt = self.doubt.or_else(|| dialects::words(&words, self.dialect));
        self.line.commands.push(words);
        Ok(())
    }

    fn redirect(&mut self) -> Result<(), Refused> {
        match self.next()? {
            Token::Redirect { file: Some(file), .. } if file.open && !file.value.starts_with('~') => {
                Err("a redirection to a pattern")
            }
            Token::Redirect { file, .. } => {
                self.line.targets.extend(file.map(StrictWord::word));
                Ok(())
            }
            _ => Err("a redirection"),
        }
    }
}

/// Refuses what cannot name a program here: a keyword, a pattern.
fn begins(word: &StrictWord<'_>) -> Result<(), Refused> {
    if word.open {
        return Err("a program whose name is a pattern");
    }
    if !word.quoted && KEYWORDS.contains(&word.value.as_str()) {
        return Err("a keyword that stands alone or is not read");
    }
    Ok(())
}

/// The reserved words of bash 5.2 (its manual, section "Reserved Words") and dash.
const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
];

/// Whether a word may name a variable.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a word before a redirection names the variable that holds its descriptor: `{NAME}`.
pub(super) fn names_a_descriptor(word: &str) -> bool {
    word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(is_name)
}
