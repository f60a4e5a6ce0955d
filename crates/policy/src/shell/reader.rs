//! The reader of shell commands: it makes a tree of a text, and notes whether the text is in the
//! strict grammar.
//!
//! The **strict grammar** is small, and right by inspection: it holds what `bash -c` and `dash -c`
//! both read the same way. It has words of plain, single-quoted and double-quoted text without
//! expansions; `&&`, `||`, `;`, `|`, `&` and new lines; redirections to words; assignments; `( …
//! )`, `{ …; }`, `if`, `for`, `while` and `until`; here-documents whose mark is a name, and whose
//! body has no expansion. No rule for single commands allows a text outside it: such a call is put
//! before a person.
//!
//! The reader reads most of what is outside the grammar as well, so that denies see its commands
//! and files: expansions, functions, `case`, `[[ … ]]`, arithmetic. [`Parsed::refused`] then names
//! the first such part. What the reader cannot read is an error, and only heuristics search that
//! text.

mod compound;
mod documents;
mod expansions;
mod lexer;
pub(super) mod tree;
mod words;

use self::lexer::{Lexer, Token};
use self::tree::{AndOr, Draft, List, Node, Part, Pipeline, Redirect, Target, Text};
use super::dialects;
use super::formats::{self, Assigns, assigns};
use crate::argv::{Word, text_at};
use crate::dialect::Dialect;

/// The deepest nesting of groups, branches and loops in the strict grammar.
const MAX_DEPTH: usize = 16;

/// Why a text is outside the grammar: what is not read, in words that complete "it has …".
pub(crate) type Refused = &'static str;

/// A text that was read.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) list: List,
    /// The first part outside the strict grammar.
    pub(super) refused: Option<Refused>,
    /// The number of characters in the data of here-documents.
    pub(super) data: usize,
    /// Why the shell that runs the text may read it in another way.
    pub(super) doubt: Option<Refused>,
}

/// Reads the commands of a shell.
///
/// # Errors
/// What cannot be read. Linear in the length of the text, for a given nesting.
pub(super) fn read(text: &str, dialect: Dialect) -> Result<Parsed, Refused> {
    crate::counted::count(0, 1);
    read_within(text, dialect, 0)
}

/// The same of a text so deep within another.
fn read_within(text: &str, dialect: Dialect, depth: usize) -> Result<Parsed, Refused> {
    let mut lexer = Lexer::new(text, dialect);
    lexer.depth = depth;
    let mut reader = Reader::new(lexer);
    let list = reader.list(&[])?;
    match reader.next()? {
        Token::End => {
            let doubt = reader.doubt.or_else(|| reader.lexer.history());
            Ok(Parsed { list, refused: reader.lexer.refused, data: reader.lexer.data, doubt })
        }
        _ => Err("an operator or a keyword without its beginning"),
    }
}

/// Reads a text that is expanded and not split: a here-document, a default value, arithmetic.
pub(super) fn expanded(text: &str) -> Result<Text, Refused> {
    let mut word = Draft { expands: true, ..Draft::default() };
    Lexer::new(text, Dialect::BASH).expanded(&mut word)?;
    Ok(word.finish(text))
}

struct Reader<'t> {
    lexer: Lexer<'t>,
    doubt: Option<Refused>,
    ahead: Option<Token>,
}

impl<'t> Reader<'t> {
    fn new(lexer: Lexer<'t>) -> Self {
        Self { lexer, doubt: None, ahead: None }
    }

    fn next(&mut self) -> Result<Token, Refused> {
        if let Some(token) = self.ahead.take() { Ok(token) } else { self.lexer.next() }
    }

    fn peek(&mut self) -> Result<&Token, Refused> {
        match &mut self.ahead {
            Some(token) => Ok(token),
            none => Ok(none.insert(self.lexer.next()?)),
        }
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
        let Token::Word(word) = self.peek()? else { return Ok(None) };
        let text = match &*word.source {
            // `[[` is a keyword here, and a pattern elsewhere.
            "[[" => "[[",
            _ if word.quoted || word.open || word.expands => return Ok(None),
            _ => &*word.value,
        };
        let found = keywords.iter().copied().find(|keyword| *keyword == text);
        if found.is_some() {
            self.ahead = None;
        }
        Ok(found)
    }

    fn expect(&mut self, keywords: &[&'static str]) -> Result<&'static str, Refused> {
        self.takes_keyword(keywords)?.ok_or("a branch, a loop or a group without its next keyword")
    }

    fn lines(&mut self) -> Result<(), Refused> {
        while self.takes("\n")? {}
        Ok(())
    }

    /// Commands up to one of these keywords, or to `)`, `;;` or the end, none of which is taken.
    fn list(&mut self, ends: &[&'static str]) -> Result<List, Refused> {
        let mut list = List::default();
        loop {
            self.lines()?;
            let over = match self.peek()? {
                Token::End | Token::Op(")" | ";;" | ";&" | ";;&") => true,
                Token::Word(word) => ends.iter().any(|end| word.is(end)),
                _ => false,
            };
            if over {
                return Ok(list);
            }
            let commands = self.and_or()?;
            let in_background = self.takes("&")?;
            // Most lists have one element, and space for four is large.
            if list.0.is_empty() {
                list.0.reserve_exact(1);
            }
            list.0.push((commands, in_background));
            if !(in_background || self.takes(";")? || self.takes("\n")?) {
                return Ok(list);
            }
        }
    }

    /// A list that is not empty, as groups, branches and loops need one, and the keyword that ends
    /// it: none is `)`.
    fn body(&mut self, ends: &[&'static str]) -> Result<(List, &'static str), Refused> {
        let list = self.list(ends)?;
        if list.0.is_empty() {
            return Err("a group, a branch or a loop without commands");
        }
        if !ends.is_empty() {
            return Ok((list, self.expect(ends)?));
        }
        if self.takes(")")? { Ok((list, ")")) } else { Err("`(` without `)`") }
    }

    fn and_or(&mut self) -> Result<AndOr, Refused> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            let is_or = self.takes("||")?;
            if !is_or && !self.takes("&&")? {
                return Ok(AndOr { first, rest });
            }
            self.lines()?;
            rest.push((is_or, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Refused> {
        self.takes_keyword(&["!"])?;
        // dash has no such keyword: `time` is a program that runs the same command.
        if self.takes_keyword(&["time"])?.is_some() {
            self.options_of_time()?;
        }
        let mut commands = Pipeline { first: self.timed()?, rest: Vec::new() };
        while self.takes("|")? || self.takes("|&")? {
            self.lines()?;
            commands.rest.push(self.timed()?);
        }
        Ok(commands)
    }

    /// A command behind `!` and `time`, which are misplaced there.
    fn timed(&mut self) -> Result<Node, Refused> {
        while self.takes_keyword(&["!", "time"])?.is_some() {
            self.lexer.refuse("a misplaced or unsupported keyword");
            self.options_of_time()?;
        }
        self.command()
    }

    /// `-p` and `--` behind `time`.
    fn options_of_time(&mut self) -> Result<(), Refused> {
        if matches!(self.peek()?, Token::Word(word) if word.value.starts_with('-')) {
            self.lexer.refuse("`time` with an option");
        }
        while self.takes_keyword(&["-p", "--"])?.is_some() {}
        Ok(())
    }

    fn simple(&mut self) -> Result<Node, Refused> {
        let (mut parts, mut argv) = (Vec::with_capacity(2), Lead::default());
        let (mut both, mut redirected) = (false, false);
        loop {
            match self.peek()? {
                Token::Op("(") if argv.first.is_some() && parts.len() == 1 => {
                    self.lexer.refuse("parentheses within a command");
                    return self.function(text_at(argv.words(), 0).to_owned());
                }
                Token::Op("(") => return Err("parentheses within a command"),
                Token::Op(_) | Token::End => break,
                _ => {}
            }
            match self.next()? {
                Token::Redirect { redirect, both: of_both } => {
                    both |= of_both;
                    redirected = true;
                    parts.push(Part::Redirect(self.checked(redirect)));
                }
                Token::Descriptor(name) => parts.push(Part::Descriptor(name)),
                Token::Process(process) => {
                    argv.push(|| Word::unknown("<(…)", true));
                    parts.push(Part::Process(process));
                }
                Token::Word(word) => {
                    // dash starts what is before it in the background, and runs the words behind
                    // it.
                    if both {
                        self.lexer.refuse("words behind `&>`");
                    }
                    let assignment = word.assignment().filter(|_| argv.first.is_none());
                    if let Some(assignment) = assignment {
                        if assignment.appends || assignment.index.is_some() {
                            self.lexer.refuse("an assignment to a part of a variable");
                        }
                        // The value is a word of its own.
                        if self.lexer.dialect.is_zsh() && assignment.value.source.starts_with('=') {
                            self.lexer.refuse("a value that begins with `=`");
                        }
                        parts.push(Part::Assignment(Box::new(assignment)));
                    } else {
                        if argv.first.is_none() {
                            self.begins(&word)?;
                        }
                        argv.push(|| word.word());
                        parts.push(Part::Word(word));
                    }
                }
                Token::Op(_) | Token::End => break,
            }
        }
        if parts.is_empty() {
            return Err("an operator without a command before it");
        }
        if argv.first.is_none() && redirected && self.lexer.dialect.is_zsh() {
            self.lexer.refuse("a redirection without a command, for which zsh runs one");
        }
        if assigns(argv.words()) != Assigns::No {
            self.lexer.refuse("a `printf` that may assign a variable");
        }
        self.doubt = self.doubt.or_else(|| dialects::words(argv.words(), self.lexer.dialect));
        Ok(Node::Simple(parts))
    }

    /// A redirection, refused where its file is a pattern.
    fn checked(&mut self, redirect: Redirect) -> Redirect {
        if let Target::Read(file) | Target::Write(file) = &redirect.target
            && file.open
            && !file.value.starts_with('~')
        {
            self.lexer.refuse("a redirection to a pattern");
        }
        redirect
    }

    /// Refuses what cannot name a program here: a keyword, a pattern.
    fn begins(&mut self, word: &Text) -> Result<(), Refused> {
        if word.open {
            self.lexer.refuse("a program whose name is a pattern");
        }
        if KEYWORDS.iter().any(|keyword| word.is(keyword)) {
            self.lexer.refuse("a misplaced or unsupported keyword");
            if !matches!(&*word.value, "in" | "]]" | "!" | "time") {
                return Err("a misplaced or unsupported keyword");
            }
        }
        Ok(())
    }
}

/// The reserved words of bash 5.2 (its manual, section "Reserved Words") and dash.
const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
];

/// The words of a command as far as they tell how it is read: the first one, and the others where
/// it may assign a variable by them or other shells may read them differently.
#[derive(Default)]
struct Lead {
    first: Option<Word>,
    all: Vec<Word>,
}

impl Lead {
    fn push(&mut self, word: impl FnOnce() -> Word) {
        if !self.all.is_empty() {
            self.all.push(word());
        } else if self.first.is_none() {
            let word = self.first.insert(word());
            if formats::is_lead(word) || dialects::is_lead(word) {
                self.all.push(word.clone());
            }
        }
    }

    fn words(&self) -> &[Word] {
        if self.all.is_empty() { self.first.as_slice() } else { &self.all }
    }
}

/// Whether a word may name a variable.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a word before a redirection names the variable that holds its descriptor: `{NAME}`.
fn names_a_descriptor(word: &str) -> bool {
    word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(is_name)
}
