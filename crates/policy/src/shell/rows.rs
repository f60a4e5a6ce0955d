//! The options of a command, read as its program reads them, and held against the table of
//! programs.
//!
//! Where it is open how a program reads a word, each way counts: a value that begins with a dash is
//! read as an option, too, and a long option that is cut short is none that was listed as harmless.

use std::borrow::Cow;
use std::sync::Arc;

use super::given::{Given, RowSays};
use super::meaning::{meaning, suspects};
use super::side_effects::{Role, Weight};
use super::walker::Walker;
use crate::argv::{Word, base_name, behind_first, known, value_at};
use crate::programs::{self, Operands, Order, Program, Style};
use crate::unicode::is_digits;

pub(super) use self::does::is_toolchain;
use self::operands::{is_evaluated, is_name, operand_acts};

mod does;
mod operands;

/// The most words of a subcommand: `aws s3 ls` has two.
const MAX_SUBCOMMANDS: usize = 3;

/// Reads the options of a command that starts another one, whose operands are everything behind
/// them. `place`: as for [`inspect`].
pub(super) fn options(
    walker: &mut Walker,
    base: &str,
    row: &'static Program,
    words: &[Word],
    place: (usize, usize),
) -> RowSays {
    let mut reader = Reader::new(walker, base, row, words, place);
    reader.options(1);
    let from = reader.operands.first().copied().unwrap_or(words.len());
    let operands = words.get(from..).unwrap_or_default().to_vec();
    RowSays { options: reader.options, operands, own: Some(row), program: Some(row), ..RowSays::default() }
}

/// Compares the options of a command with its row. `words` are its words, the program first; they
/// begin at `offset` among those of the command at `index`. Returns the properties that its
/// row gives the whole command.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word], (index, offset): (usize, usize)) -> RowSays {
    let from = walker.found.unknowns.len();
    inspect_from(walker, base, words, (index, offset), from)
}

/// The same. `unknowns`: the number of those before the whole command.
fn inspect_from(
    walker: &mut Walker,
    base: &str,
    words: &[Word],
    (index, offset): (usize, usize),
    unknowns: usize,
) -> RowSays {
    if !programs::is_readable() {
        walker.found.unknown("table", "the table of programs cannot be read", Weight::Code);
    }
    let Some((name, program)) = programs::named(base) else {
        if !is_guessed(walker, index) {
            walker.found.file_hints.extend(texts(words));
            walker.found.code_hints.extend(texts(words));
        }
        return RowSays { code: true, ..RowSays::default() };
    };
    let (mut name, mut from) = (Cow::Borrowed(name), 1);
    let mut reader = Reader::new(walker, base, program, words, (index, offset));
    for _ in 0..=MAX_SUBCOMMANDS {
        if reader.program.is_broken {
            reader.walker.found.unknown("table", &format!("the row of `{name}` cannot be read"), Weight::Code);
        }
        reader.operands.clear();
        let end = reader.options(from);
        let Some((deeper, at)) = reader.subcommand(&name, end) else { break };
        // Of `gh pr view`, `gh pr` has no row of its own: the options of `gh` stand there.
        let row = programs::row_or_empty(&deeper);
        if row.is_listed {
            let before = std::mem::replace(&mut reader.program, row);
            reader.above = if before.global { Some(before) } else { reader.above };
        }
        (name, from, reader.deeper) = (Cow::Owned(deeper), at + 1, Some(at));
    }
    reader.finish(unknowns)
}

/// Whether a command is only guessed at.
fn is_guessed(walker: &Walker, index: usize) -> bool {
    matches!(walker.found.commands.get(index), Some(own) if own.role == Role::Guess)
}

struct Reader<'r, 'w> {
    /// The program, without its folder.
    base: &'r str,
    walker: &'r mut Walker,
    /// The place of the command among those that were found.
    index: usize,
    words: &'w [Word],
    own: &'static Program,
    /// The row, that of the subcommand where there is one.
    program: &'static Program,
    /// The row of the program itself, whose options may follow the subcommand.
    above: Option<&'static Program>,
    /// Where the operands are.
    operands: Vec<usize>,
    options: Vec<Given>,
    /// Where the subcommand is.
    deeper: Option<usize>,
    /// Where the words begin among those of the command.
    offset: usize,
    /// Whether the command is only guessed at: what it runs and writes counts, and no rule names
    /// it.
    guessed: bool,
}

impl<'r, 'w> Reader<'r, 'w> {
    fn new(
        walker: &'r mut Walker,
        base: &'r str,
        program: &'static Program,
        words: &'w [Word],
        (index, offset): (usize, usize),
    ) -> Self {
        let guessed = is_guessed(walker, index);
        let (above, deeper, operands, options) = (None, None, Vec::new(), Vec::new());
        Self { base, walker, index, words, own: program, program, above, operands, options, deeper, offset, guessed }
    }

    /// Reads options from a word on. For a program with subcommands it ends at the first operand,
    /// else at the end. Where it ended.
    fn options(&mut self, from: usize) -> usize {
        let (program, mut at) = (self.program, from);
        while let Some(word) = self.words.get(at) {
            let bundles = match word.get() {
                Some(text) if is_dashed(text) => program.is.shell && !text.starts_with("--"),
                Some(text) => program.is.bundled_letters && at == from && !text.is_empty() && text != "-",
                None => false,
            };
            if bundles {
                at = self.bundled(at);
                continue;
            }
            let known = word.get().is_some();
            let Some(text) = literal(word).filter(|text| is_dashed(text)) else {
                self.operands.push(at);
                if program.subcommands {
                    return at;
                }
                if program.order == Order::First {
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
            if matches!(text.strip_prefix('+'), Some(place) if is_place(place)) {
                at += 1;
                continue;
            }
            if program.starts_command(text) {
                let rest = self.words.get(at..).unwrap_or_default();
                at += 1 + rest.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(rest.len());
                continue;
            }
            let meant = meaning(program, text).or_else(|| meaning(self.above?, text));
            let Some(mut meant) = meant else {
                // `cargo +nightly test`: the subcommand follows.
                match text.starts_with('+') {
                    true if !program.subcommands => self.operands.push(at),
                    true => self.unlisted("option", at),
                    false => self.suspected(text, at),
                }
                at += 1;
                continue;
            };
            let Some((name, last, value)) = meant.pop() else { break };
            for (name, does, _) in meant {
                self.apply(does, None, at);
                self.options.push(Given { name, does: Some(does), value: None });
            }
            let next = if last.takes_value() && value.is_none() { self.words.get(at + 1) } else { None };
            let given = match value {
                Some(value) if known => Some(Word::known(value)),
                Some(_) => Some(Word::unknown(Arc::clone(&word.text), true)),
                None => next.cloned(),
            };
            self.apply(last, given.as_ref(), at);
            let stops = program.stops(text);
            self.options.push(Given { name, does: Some(last), value: given });
            // A value that looks like an option may be one, where a program reads its line
            // differently.
            let text_of_next = if let Some(next) = next { next.get().unwrap_or_default() } else { "" };
            let rest = text_of_next.strip_prefix('-').unwrap_or_default();
            let number = program.style == Style::Word && rest.starts_with(|c: char| c.is_ascii_digit());
            let dashed = !rest.is_empty() && !number;
            at += if next.is_some() && !dashed { 2 } else { 1 };
            if stops {
                at += usize::from(dashed);
                break;
            }
        }
        self.operands.extend(at.max(self.operands.last().map_or(0, |last| last + 1))..self.words.len());
        self.words.len()
    }

    /// An option that no row lists, and what it may be.
    fn suspected(&mut self, text: &str, at: usize) {
        self.unlisted("option", at);
        self.options.extend(Given::unlisted(text));
        for (does, value) in suspects(self.program, text) {
            match value {
                Some(value) => self.apply(does, Some(&Word::known(value)), at),
                None => self.apply(does, self.words.get(at + 1), at),
            }
        }
    }

    /// Reads a word of letters that are options, whose values are the next words: `tar xf a.tar`,
    /// `bash -euo pipefail`. Returns where it ended.
    fn bundled(&mut self, from: usize) -> usize {
        let letters = self.words.get(from).and_then(literal).unwrap_or_default().trim_start_matches(['-', '+']);
        let mut at = from + 1;
        for letter in letters.chars() {
            let name = format!("-{letter}");
            let does = self.program.does(&name);
            let takes_value = matches!(does, Some(does) if does.takes_value());
            let value = if takes_value { self.words.get(at).cloned() } else { None };
            at += usize::from(value.is_some());
            match does {
                Some(does) => self.apply(does, value.as_ref(), from),
                None => self.unlisted("option", from),
            }
            self.options.push(Given { name, does, value });
        }
        at
    }

    /// The row of the subcommand at a place.
    fn subcommand(&mut self, name: &str, at: usize) -> Option<(String, usize)> {
        let program = self.program;
        let first = self.operands.first().copied().filter(|first| *first == at || !program.subcommands);
        if let Some(first) = first
            && let Some(word) = value_at(self.words, first)
            && let Some(known) = row_behind(name, word)
        {
            return Some((known, first));
        }
        // `python -m pytest`: the option and its value name the row.
        for (at, pair) in self.words.windows(2).enumerate().skip(1) {
            let [Word { value: Some(option), .. }, Word { value: Some(module), .. }] = pair else { continue };
            if program.stops(option)
                && let Some(name) = row_behind(name, &format!("{option} {module}"))
            {
                return Some((name, at + 1));
            }
        }
        if program.subcommands
            && let Some(first) = first
        {
            let script = value_at(self.words, first).filter(|word| program.runs_script(word));
            if let Some(run) = script.and_then(|_| row_behind(name, "run")) {
                return Some((run, first));
            }
            self.unlisted("subcommand", first);
        }
        None
    }

    /// Words behind `--` that another program gets: an option among them with a path or a setting
    /// may be any of its own.
    fn behind(&mut self, from: usize) {
        let rest = self.words.get(from..).unwrap_or_default();
        let mut texts = known(rest);
        let hands_on = matches!(self.program.operands, Operands::Code | Operands::Write | Operands::None);
        if hands_on && texts.clone().any(|text| text.starts_with('-')) && texts.any(names_a_place) {
            self.unlisted("option", from);
        }
    }

    /// What the operands are.
    fn finish(mut self, unknowns: usize) -> RowSays {
        let program = self.program;
        let first = self.operands.first().copied();
        let asked = match program.operands {
            Operands::None => first,
            Operands::Inline => self.operand_that(|text| !is_name(text)),
            // Read as a wrapper, unless an option is before the subcommand.
            Operands::Toolchain if program.is.wrapper => first,
            Operands::Toolchain => self.operand_that(|text| !is_toolchain(text)),
            // Who allows a program has not allowed what its subcommand starts.
            Operands::Command => first.and(self.deeper),
            Operands::Code => self.operand_that(is_evaluated),
            Operands::Data
            | Operands::Read
            | Operands::PatternRead
            | Operands::Write
            | Operands::Copy
            | Operands::Move
            | Operands::ReadWrite
            | Operands::Host
            | Operands::Other => None,
        };
        if let Some(at) = asked {
            self.unlisted("operand", at);
        }
        if let Some((at, kind, weight)) = self.acting_operand() {
            self.doubt(kind, at, weight, None);
        }
        // What another program reads, and what no row lists, may be code or name a file.
        let mut parts = self.walker.found.unknowns.iter().skip(unknowns);
        let unlisted = parts.any(|part| matches!(part.option, Some((of, at)) if of == self.index && at >= self.offset));
        let code = unlisted
            || !program.is_listed
            || matches!(program.operands, Operands::Code | Operands::Command | Operands::Inline | Operands::None);
        if code && !self.guessed {
            // The name of a target or a script is no code.
            let names = program.operands == Operands::Code && !unlisted;
            self.walker.found.code_hints.extend(texts(self.words).filter(|text| !names || !is_name(text)));
        }
        if (code || program.operands == Operands::Other || program.is.loads_files) && !self.guessed {
            self.walker.found.file_hints.extend(texts(self.words));
        }
        // What it starts has options of its own.
        if program.operands == Operands::Command
            && let Some(first) = first
            && let Some(inner) = value_at(self.words, first)
        {
            let rest = self.words.get(first..).unwrap_or_default();
            inspect_from(self.walker, base_name(inner), rest, (self.index, self.offset + first), unknowns);
        }
        let needs_write = program.needs_write && program.in_place.is_empty();
        let mut operands = Vec::with_capacity(self.operands.len());
        operands.extend(self.operands.iter().filter_map(|at| self.words.get(*at)).cloned());
        RowSays { code, needs_write, own: Some(self.own), program: Some(program), options: self.options, operands }
    }

    /// The place of the first operand that does more than being one, and what that is.
    fn acting_operand(&self) -> Option<(usize, &'static str, Weight)> {
        for (place, at) in self.operands.iter().copied().enumerate() {
            let Some(text) = value_at(self.words, at) else { continue };
            if let Some((kind, weight)) = operand_acts(self.program, text, place) {
                return Some((at, kind, weight));
            }
        }
        None
    }

    /// The place of the first operand whose text is of some kind.
    fn operand_that(&self, is: fn(&str) -> bool) -> Option<usize> {
        let mut operands = self.operands.iter().copied();
        operands.find(|at| matches!(value_at(self.words, *at), Some(text) if is(text)))
    }
}

/// The name of the row of a word behind a program. What is behind `python3.11` has rows behind
/// `python`.
fn row_behind(name: &str, word: &str) -> Option<String> {
    let versionless = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let mut names = [name, versionless].map(|name| format!("{name} {word}")).into_iter();
    names.find(|name| programs::is_begun(name) || programs::row_or_empty(name).is_listed)
}

/// Whether a text may be an option, or several.
fn is_dashed(text: &str) -> bool {
    text.len() > 1 && text.starts_with(['-', '+'])
}

/// Whether a program begins at a place: `vim +12 file` at that line, `vim +/word file` at that
/// word.
fn is_place(text: &str) -> bool {
    match text.strip_prefix('/') {
        Some(word) => word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'),
        None => is_digits(text),
    }
}

/// Whether a text has a path or a setting in it that is no number.
fn names_a_place(text: &str) -> bool {
    // `clippy::all` is a name.
    let text = &text.replace("::", "");
    let (_, value) = text.split_once('=').unwrap_or(("", text));
    let is_number = text.contains('=') && is_digits(value);
    text.contains(['/', '=', ':']) && !is_number
}

/// The certain part of a word: all of it, or what precedes the first expansion of an option.
fn literal(word: &Word) -> Option<&str> {
    if let Some(text) = word.get() {
        return Some(text);
    }
    let text = word.text.trim_start_matches(['"', '\'']);
    let end = text.find(['$', '`', '*', '?', '[', '{', '~', '"', '\'', '\\']).unwrap_or(text.len());
    let front = text.get(..end)?;
    if front.len() > 1 && front.starts_with('-') { Some(front) } else { None }
}

/// The words of a command as texts.
fn texts(words: &[Word]) -> impl Iterator<Item = Arc<str>> {
    behind_first(words).iter().filter_map(|word| word.value.clone())
}
