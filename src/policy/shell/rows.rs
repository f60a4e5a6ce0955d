//! The options of a command, read as its program reads them, and held against the table of programs.
//!
//! Where it is open how a program reads a word, each way counts: a value that begins with a dash is read as an option,
//! too, and a long option that is cut short is none that was listed as harmless.

use super::meaning::{Meant, meaning, suspects};
use super::programs::{gives_code, is_plain_setting};
use super::side_effects::{Role, Unknown, Weight};
use super::walker::Walker;
use crate::policy::argv::{Word, base_name};
use crate::policy::programs::{self, Does, Program, Style};
use crate::policy::rule::Access;
use crate::policy::shell::tables::is_interpreter;

/// The most words of a subcommand: `aws s3 ls` has two.
const MAX_SUBCOMMANDS: usize = 3;

/// Holds the options of the command at `index` against its row. `words` are its words, the program first.
/// Returns what its row says of the command as a whole.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word], index: usize) -> RowSays {
    inspect_from(walker, base, words, (index, 0))
}

/// Reads the options of a command that starts another one, up to that.
pub(super) fn options(walker: &mut Walker, base: &str, words: &[Word], index: usize) {
    let guessed = walker.found.commands.get(index).is_some_and(|own| own.role == Role::Guess);
    if let Some(program) = programs::find(base) {
        let mut reader = Reader::new(walker, base, words, (index, 0));
        (reader.program, reader.guessed) = (Some(program), guessed);
        reader.options(program, 1);
    }
}

/// The same for a command that begins at a word of another one.
fn inspect_from(walker: &mut Walker, base: &str, words: &[Word], (index, offset): (usize, usize)) -> RowSays {
    if !programs::is_readable() {
        walker.found.unknown("table", "the table of programs cannot be read", Weight::Code);
    }
    let guessed = walker.found.commands.get(index).is_some_and(|own| own.role == Role::Guess);
    let Some(name) = programs::name_of(base) else {
        if !guessed {
            walker.found.file_hints.extend(texts(words));
            walker.found.code_hints.extend(texts(words));
        }
        return RowSays::unknown();
    };
    let mut name = name.to_owned();
    let mut reader = Reader { guessed, ..Reader::new(walker, base, words, (index, offset)) };
    let mut from = 1;
    for _ in 0..=MAX_SUBCOMMANDS {
        // Of `gh pr view`, `gh pr` has no row of its own: the options of `gh` stand there.
        let program =
            match (programs::row(&name).filter(|row| row.is_listed || reader.program.is_none()), reader.program) {
                (Some(program), before) => {
                    reader.above = before.filter(|above| above.global).or(reader.above);
                    program
                }
                (None, Some(before)) => before,
                (None, None) => return RowSays::unknown(),
            };
        if program.is_broken {
            reader.walker.found.unknown("table", &format!("the row of `{name}` cannot be read"), Weight::Code);
        }
        reader.program = Some(program);
        reader.operands.clear();
        let end = reader.options(program, from);
        match reader.subcommand(program, &name, end) {
            Some((deeper, at)) => {
                (name, from) = (deeper, at + 1);
                reader.deeper = Some(at);
            }
            None => break,
        }
    }
    reader.finish()
}

/// What a row says of a command as a whole.
#[derive(Debug, Default)]
pub(super) struct RowSays {
    /// Whether it may take its words and its input for code.
    pub(super) code: bool,
    /// The operands that it writes, each of which needs an allow of its own.
    pub(super) written: Vec<Word>,
    /// The row, and the operands.
    pub(super) program: Option<&'static Program>,
    pub(super) operands: Vec<Word>,
}

impl RowSays {
    /// What is to be thought of a command of which nothing is known.
    fn unknown() -> Self {
        Self { code: true, ..Self::default() }
    }
}

struct Reader<'r, 'w> {
    /// The program, without its folder.
    base: &'r str,
    walker: &'r mut Walker,
    /// The place of the command among those that were found.
    index: usize,
    words: &'w [Word],
    program: Option<&'static Program>,
    /// The row of the program itself, whose options may stand behind the subcommand.
    above: Option<&'static Program>,
    /// Where the operands are.
    operands: Vec<usize>,
    /// Where the subcommand is.
    deeper: Option<usize>,
    /// Where the words begin among those of the command.
    offset: usize,
    /// Whether the command is only guessed at: what it runs and writes counts, and no rule names it.
    guessed: bool,
}

impl<'r, 'w> Reader<'r, 'w> {
    fn new(walker: &'r mut Walker, base: &'r str, words: &'w [Word], (index, offset): (usize, usize)) -> Self {
        let (program, above, operands, deeper) = (None, None, Vec::new(), None);
        Self { base, walker, index, words, program, above, operands, deeper, offset, guessed: false }
    }
}

impl<'w> Reader<'_, 'w> {
    /// Reads options from a word on. For a program with subcommands it ends at the first operand, else at the end. Where it
    /// ended.
    fn options(&mut self, program: &'static Program, from: usize) -> usize {
        let mut at = from;
        while let Some(word) = self.words.get(at) {
            let known = word.get().is_some();
            let Some(text) = literal(word).filter(|text| text.len() > 1 && text.starts_with(['-', '+'])) else {
                self.operands.push(at);
                if program.subcommands {
                    return at;
                }
                if program.ordered {
                    break;
                }
                at += 1;
                continue;
            };
            if text == "--" {
                if program.does("--").is_some() {
                    self.unlisted("option", at);
                }
                self.behind(at + 1);
                self.operands.extend(at + 1..self.words.len());
                return self.words.len();
            }
            if program.starts_command(text) {
                let rest = self.words.get(at..).unwrap_or_default();
                at += rest.iter().position(|word| word.is(";") || word.is("+")).map_or(rest.len(), |end| end + 1);
                continue;
            }
            let meant = match meaning(program, text) {
                Meant::Unlisted => self.above.map_or(Meant::Unlisted, |above| meaning(above, text)),
                meant => meant,
            };
            if text.starts_with('+') && matches!(meant, Meant::Unlisted) {
                self.operands.push(at);
                at += 1;
                continue;
            }
            let (last, value) = match meant {
                Meant::Unlisted => {
                    self.unlisted("option", at);
                    for (does, value) in suspects(program, text) {
                        match value {
                            Some(value) => self.apply(does, Some(&Word::known(value)), at),
                            None => self.apply(does, self.words.get(at + 1), at),
                        }
                    }
                    at += 1;
                    continue;
                }
                Meant::Option(does, value) => (does, value),
                Meant::Cluster(letters, value) => {
                    let (last, before) = letters.split_last().map_or((Does::Flag, &[][..]), |(l, b)| (*l, b));
                    before.iter().for_each(|does| self.apply(*does, None, at));
                    (last, value)
                }
            };
            let takes = last.takes_value() && value.is_none();
            let next = if takes { self.words.get(at + 1) } else { None };
            match (value, next) {
                (Some(value), _) if known => self.apply(last, Some(&Word::known(value)), at),
                (Some(_), _) => self.apply(last, Some(&Word::unknown(&word.text, true)), at),
                (None, next) => self.apply(last, next, at),
            }
            let option = text.split('=').next().unwrap_or(text);
            let stops = program.stops(option) || stops(program, text);
            // A value that looks like an option may be one, where a program reads its line differently.
            let number = |text: &str| program.style == Style::Word && text.starts_with(|c: char| c.is_ascii_digit());
            let dashed = next.and_then(Word::get).and_then(|text| text.strip_prefix('-'));
            let dashed = dashed.is_some_and(|rest| !rest.is_empty() && !number(rest));
            at += if next.is_some() && !dashed { 2 } else { 1 };
            if stops {
                at += usize::from(dashed);
                break;
            }
        }
        self.operands.extend(at.max(self.operands.last().map_or(0, |last| last + 1))..self.words.len());
        self.words.len()
    }

    /// The row of the subcommand at a place.
    fn subcommand(&mut self, program: &'static Program, name: &str, at: usize) -> Option<(String, usize)> {
        let first = self.operands.first().copied().filter(|first| *first == at || !program.subcommands);
        let word = first.and_then(|first| self.words.get(first)).and_then(Word::get);
        let is_known = |name: &String| programs::is_begun(name) || programs::has_list(name);
        let known = word.map(|word| format!("{name} {word}")).filter(is_known);
        if let (Some(known), Some(first)) = (known, first) {
            return Some((known, first));
        }
        // `python -m pytest`: the option and its value name the row.
        let module = self.words.windows(2).enumerate().skip(1).find_map(|(at, pair)| {
            let [option, value] = pair else { return None };
            let option = option.get().filter(|option| program.stops(option))?;
            Some((format!("{name} {option} {}", value.get()?), at + 1))
        });
        if let Some((deeper, at)) = module
            && programs::has_list(&deeper)
        {
            return Some((deeper, at));
        }
        if program.subcommands
            && let Some(first) = first
        {
            self.unlisted("subcommand", first);
        }
        None
    }

    /// Words behind `--` that another program gets: an option among them with a path or a setting may be any of its own.
    fn behind(&mut self, from: usize) {
        let rest = self.words.get(from..).unwrap_or_default();
        let texts = || rest.iter().filter_map(Word::get);
        let hands_on = self.program.is_some_and(|program| matches!(program.operands, "code" | "write" | "none"));
        let number =
            |text: &str| text.split_once('=').is_some_and(|(_, value)| value.bytes().all(|b| b.is_ascii_digit()));
        let says_where = |text: &str| text.contains(['/', '=', ':']) && !number(text);
        if hands_on && texts().any(|text| text.starts_with('-')) && texts().any(says_where) {
            self.unlisted("option", from);
        }
    }

    /// What is not on the list: a rule that names it covers it, and nothing else does.
    fn unlisted(&mut self, kind: &'static str, at: usize) {
        if !self.guessed && self.program.is_some_and(|program| program.is_listed) {
            self.doubt(kind, at, Weight::Value, None);
        }
    }

    fn doubt(&mut self, kind: &'static str, at: usize, weight: Weight, interpreter: Option<usize>) {
        let text = self.words.get(at).map_or("", |word| word.text.as_str());
        // A guess is no command that a rule names.
        let option = Some((self.index, self.offset + at)).filter(|_| !self.guessed);
        self.walker.found.unknowns.push(Unknown { option, interpreter, ..Unknown::new(kind, text, weight) });
    }

    fn apply(&mut self, does: Does, value: Option<&Word>, at: usize) {
        match does {
            Does::Flag | Does::Value | Does::Optional => {}
            Does::Read => value.into_iter().for_each(|file| {
                self.walker.file(file, Access::Read, false, false);
                // `name=@file`, `@file`
                let parts = file.get().into_iter().flat_map(|text| text.split(['@', '=']).skip(1));
                parts.for_each(|part| self.walker.file(&Word::known(part), Access::Read, false, false));
            }),
            Does::Here => {
                self.walker.file(&Word::unknown("a file named by the server", true), Access::Write, true, false);
                self.unlisted("acting-option", at);
            }
            Does::Write | Does::Make => {
                let plain =
                    |file: &&Word| !matches!(file.get(), Some("-" | "/dev/null" | "/dev/stdout" | "/dev/stderr"));
                for file in value.into_iter().filter(plain) {
                    self.walker.file(file, Access::Write, true, false);
                    if does == Does::Make {
                        self.walker.file(file, Access::Write, false, true);
                    }
                }
                if value.is_none() {
                    self.unlisted("writing-option", at);
                }
            }
            Does::Run => {
                // What is known is searched for what is denied.
                let known = value.and_then(Word::get).is_some_and(|line| self.walker.suppose(line));
                self.doubt("executing-option", at, if known { Weight::Value } else { Weight::Code }, None);
            }
            // Code for an interpreter is judged where it is found.
            Does::Load
                if self.words.get(at).and_then(Word::get).is_some_and(|text| gives_code(self.base, text))
                    && self.program.is_some_and(|program| program.is_listed) => {}
            Does::Load => {
                // A module of an interpreter is code for it: who allows the interpreter allows that.
                let text = self.words.get(at).and_then(Word::get).unwrap_or_default();
                let module = is_interpreter(self.base) && self.program.is_some_and(|program| stops(program, text));
                let plain = value.and_then(Word::get).is_some_and(is_plain_setting);
                value.into_iter().for_each(|file| self.walker.file(file, Access::Read, false, false));
                value.and_then(Word::get).into_iter().for_each(|line| self.suppose_setting(line));
                let weight = if module || plain { Weight::Value } else { Weight::Code };
                self.doubt("loading-option", at, weight, Some(self.index).filter(|_| module));
            }
            Does::Folder => self.unlisted("option-for-another-place", at),
            Does::Into => {
                value.into_iter().for_each(|folder| self.walker.file(folder, Access::Write, false, true));
                self.unlisted("option-for-another-place", at);
            }
            Does::Host => {
                let host = value.and_then(Word::get).map(str::to_owned);
                self.walker.found.hosts.extend(host);
                self.unlisted("option-for-another-host", at);
            }
            Does::Start => self.doubt("executing-option", at, Weight::Code, None),
            Does::Acts => self.unlisted("acting-option", at),
        }
    }

    /// A setting may be a command line, or name one.
    fn suppose_setting(&mut self, line: &str) {
        match line.strip_prefix("alias.").and_then(|alias| alias.split_once('=')) {
            Some((_, own)) if !own.starts_with('!') => self.walker.suppose(&format!("{} {own}", self.base)),
            _ => self.walker.suppose(line),
        };
    }

    /// What the operands are.
    fn finish(mut self) -> RowSays {
        let Some(program) = self.program else { return RowSays::unknown() };
        let operands: Vec<&Word> = self.operands.iter().filter_map(|at| self.words.get(*at)).collect();
        let first = self.operands.first().copied();
        let text = |at: &usize| self.words.get(*at).and_then(Word::get);
        // A setting that a build tool evaluates: `make 'X=$(shell …)'`.
        let sets = |at: &usize| text(at).is_some_and(|text| text.contains('=') && text.contains(['$', '`']));
        let asked = match program.operands {
            "none" => first,
            "inline" => self.operands.iter().copied().find(|at| text(at).is_some_and(|text| !is_name(text))),
            // Who allows a program has not allowed what its subcommand starts.
            "command" => first.and(self.deeper),
            "code" => self.operands.iter().copied().find(sets),
            _ => None,
        };
        if let Some(at) = asked {
            self.unlisted("operand", at);
        }
        // `gcc @file`: the file holds options, of any kind.
        let response = |at: &usize| text(at).is_some_and(|text| text.len() > 1 && text.starts_with('@'));
        if program.is("response-files")
            && let Some(at) = self.operands.iter().copied().find(response)
        {
            self.doubt("response-file", at, Weight::Code, None);
        }
        // A name of a file that is a command: `convert '|ls' x`, `png:|ls`.
        let piped = |at: &usize| text(at).is_some_and(|text| text.starts_with('|') || text.contains(":|"));
        if program.is("pipe-operands")
            && let Some(at) = self.operands.iter().copied().find(piped)
        {
            self.doubt("executing-option", at, Weight::Code, None);
        }
        // What another program reads, and what no row lists, may be code or name a file.
        let unlisted = |part: &Unknown| part.option.is_some_and(|(of, at)| of == self.index && at >= self.offset);
        let unlisted = self.walker.found.unknowns.iter().any(unlisted);
        let code = unlisted || !program.is_listed || matches!(program.operands, "code" | "command" | "inline" | "none");
        if code && !self.guessed {
            // The name of a target or a script is no code.
            let names = program.operands == "code" && !unlisted;
            self.walker.found.code_hints.extend(texts(self.words).filter(|text| !names || !is_name(text)));
        }
        if (code || program.operands == "other") && !self.guessed {
            self.walker.found.file_hints.extend(texts(self.words));
        }
        // What it starts has options of its own.
        if program.operands == "command"
            && let Some(first) = first
            && let Some(inner) = text(&first).map(base_name)
        {
            let rest = self.words.get(first..).unwrap_or_default();
            inspect_from(self.walker, inner, rest, (self.index, self.offset + first));
        }
        let written = match program.files() {
            "copy" | "read-write" => operands.get(1..).unwrap_or_default().last().copied().into_iter().collect(),
            _ => operands.clone(),
        };
        let needs = program.needs_write || program.files() == "read-write";
        let written = if needs { written.into_iter().cloned().collect() } else { Vec::new() };
        let operands = operands.into_iter().cloned().collect();
        RowSays { code, written, program: Some(program), operands }
    }
}

/// The certain part of a word: all of it, or what precedes the first expansion of an option.
fn literal(word: &Word) -> Option<&str> {
    if let Some(text) = word.get() {
        return Some(text);
    }
    let text = word.text.trim_start_matches(['"', '\'']);
    let end = text.find(['$', '`', '*', '?', '[', '{', '~', '"', '\'', '\\']).unwrap_or(text.len());
    text.get(..end).filter(|t| t.len() > 1 && t.starts_with('-'))
}

/// The words of a command as texts.
fn texts(words: &[Word]) -> impl Iterator<Item = String> {
    words.iter().skip(1).filter_map(Word::get).map(str::to_owned)
}

/// Whether a text is the name of a file or of a thing, and no code.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '~') || (c == '.' && text.contains('/')))
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.' | '~' | '+' | '@'))
        || text == ":memory:"
}

/// Whether an option, or a letter of a cluster such as `-Ic`, is one behind which everything belongs to something else.
fn stops(program: &Program, text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-') && program.style != Style::Word);
    program.stops(text)
        || letters.is_some_and(|letters| letters.chars().any(|letter| program.stops(&format!("-{letter}"))))
}
