//! The options of a command, read as its program reads them, and held against the table of programs.
//!
//! Where it is open how a program reads a word, each way counts: a value that begins with a dash is read as an option,
//! too, and a long option that is cut short is none that was listed as harmless.

use super::given::{Given, RowSays};
use super::meaning::{meaning, suspects};
use super::side_effects::{Role, Unknown, Weight};
use super::walker::Walker;
use crate::argv::{Word, base_name};
use crate::programs::{self, Does, Operands, Order, Program, Style};

mod does;

/// The most words of a subcommand: `aws s3 ls` has two.
const MAX_SUBCOMMANDS: usize = 3;

/// Reads the options of a command that starts another one, whose operands are everything behind them.
pub(super) fn options(
    walker: &mut Walker,
    base: &str,
    program: &'static Program,
    words: &[Word],
    index: usize,
) -> RowSays {
    let mut reader = Reader::new(walker, base, program, words, (index, 0));
    reader.options(1);
    let from = reader.operands.first().copied().unwrap_or(words.len());
    let operands = words.get(from..).unwrap_or_default().to_vec();
    RowSays { options: reader.options, operands, own: Some(program), program: Some(program), ..RowSays::default() }
}

/// Holds the options of a command against its row. `words` are its words, the program first; they begin at `offset` among
/// those of the command at `index`. Returns what its row says of the command as a whole.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word], (index, offset): (usize, usize)) -> RowSays {
    if !programs::is_readable() {
        walker.found.unknown("table", "the table of programs cannot be read", Weight::Code);
    }
    let (Some(name), Some(program)) = (programs::name_of(base), programs::find(base)) else {
        if walker.found.commands.get(index).is_none_or(|own| own.role != Role::Guess) {
            walker.found.file_hints.extend(texts(words));
            walker.found.code_hints.extend(texts(words));
        }
        return RowSays { code: true, ..RowSays::default() };
    };
    let (mut name, mut from) = (name.to_owned(), 1);
    let mut reader = Reader::new(walker, base, program, words, (index, offset));
    for _ in 0..=MAX_SUBCOMMANDS {
        if reader.program.is_broken {
            reader.walker.found.unknown("table", &format!("the row of `{name}` cannot be read"), Weight::Code);
        }
        reader.operands.clear();
        let end = reader.options(from);
        let Some((deeper, at)) = reader.subcommand(&name, end) else { break };
        // Of `gh pr view`, `gh pr` has no row of its own: the options of `gh` stand there.
        if let Some(row) = programs::row(&deeper).filter(|row| row.is_listed) {
            let before = std::mem::replace(&mut reader.program, row);
            reader.above = Some(before).filter(|above| above.global).or(reader.above);
        }
        (name, from, reader.deeper) = (deeper, at + 1, Some(at));
    }
    reader.finish()
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
    /// The row of the program itself, whose options may stand behind the subcommand.
    above: Option<&'static Program>,
    /// Where the operands are.
    operands: Vec<usize>,
    options: Vec<Given>,
    /// Where the subcommand is.
    deeper: Option<usize>,
    /// Where the words begin among those of the command.
    offset: usize,
    /// Whether the command is only guessed at: what it runs and writes counts, and no rule names it.
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
        let guessed = walker.found.commands.get(index).is_some_and(|own| own.role == Role::Guess);
        let (above, deeper, operands, options) = (None, None, Vec::new(), Vec::new());
        Self { base, walker, index, words, own: program, program, above, operands, options, deeper, offset, guessed }
    }

    /// Reads options from a word on. For a program with subcommands it ends at the first operand, else at the end. Where it
    /// ended.
    fn options(&mut self, from: usize) -> usize {
        let (program, mut at) = (self.program, from);
        while let Some(word) = self.words.get(at) {
            let dashed = |text: &str| text.len() > 1 && text.starts_with(['-', '+']);
            let bundles = match word.get() {
                Some(text) if dashed(text) => program.is.shell && !text.starts_with("--"),
                Some(text) => program.is.bundled_letters && at == from && !text.is_empty() && text != "-",
                None => false,
            };
            if bundles {
                at = self.bundled(at);
                continue;
            }
            let known = word.get().is_some();
            let Some(text) = literal(word).filter(|text| text.len() > 1 && text.starts_with(['-', '+'])) else {
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
            // `vim +12 file` begins at that line, `vim +/word file` at that word.
            let starts_at = |place: &str| match place.strip_prefix('/') {
                Some(word) => word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'),
                None => place.bytes().all(|b| b.is_ascii_digit()),
            };
            if text.strip_prefix('+').is_some_and(starts_at) {
                at += 1;
                continue;
            }
            if program.starts_command(text) {
                let rest = self.words.get(at..).unwrap_or_default();
                at += rest.iter().position(|word| word.is(";") || word.is("+")).map_or(rest.len(), |end| end + 1);
                continue;
            }
            let meant = meaning(program, text).or_else(|| self.above.and_then(|above| meaning(above, text)));
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
                Some(_) => Some(Word::unknown(&word.text, true)),
                None => next.cloned(),
            };
            self.apply(last, given.as_ref(), at);
            let stops = program.stops(text);
            self.options.push(Given { name, does: Some(last), value: given });
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

    /// Reads a word of letters that are options, whose values are the next words: `tar xf a.tar`, `bash -euo pipefail`.
    /// Returns where it ended.
    fn bundled(&mut self, from: usize) -> usize {
        let letters = self.words.get(from).and_then(literal).unwrap_or_default().trim_start_matches(['-', '+']);
        let mut at = from + 1;
        for letter in letters.chars() {
            let name = format!("-{letter}");
            let does = self.program.does(&name);
            let value = self.words.get(at).filter(|_| does.is_some_and(Does::takes_value)).cloned();
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
        let word = first.and_then(|first| self.words.get(first)).and_then(Word::get);
        let is_known = |name: &String| programs::is_begun(name) || programs::row(name).is_some_and(|row| row.is_listed);
        // What stands behind `python3.11` has rows behind `python`.
        let names = [name, name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')];
        let deeper = |word: &str| names.iter().map(|name| format!("{name} {word}")).find(is_known);
        let known = word.and_then(deeper);
        if let (Some(known), Some(first)) = (known, first) {
            return Some((known, first));
        }
        // `python -m pytest`: the option and its value name the row.
        let module = self.words.windows(2).enumerate().skip(1).find_map(|(at, pair)| {
            let [option, value] = pair else { return None };
            let option = option.get().filter(|option| program.stops(option))?;
            deeper(&format!("{option} {}", value.get()?)).map(|name| (name, at + 1))
        });
        if module.is_some() {
            return module;
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
        let hands_on = matches!(self.program.operands, Operands::Code | Operands::Write | Operands::None);
        let number =
            |text: &str| text.split_once('=').is_some_and(|(_, value)| value.bytes().all(|b| b.is_ascii_digit()));
        let says_where = |text: &str| text.contains(['/', '=', ':']) && !number(text);
        if hands_on && texts().any(|text| text.starts_with('-')) && texts().any(says_where) {
            self.unlisted("option", from);
        }
    }

    /// What the operands are.
    fn finish(mut self) -> RowSays {
        let program = self.program;
        let first = self.operands.first().copied();
        let text = |at: &usize| self.words.get(*at).and_then(Word::get);
        // A setting that a build tool evaluates: `make 'X=$(shell …)'`, `just 'x=; ls' build`.
        let sets = |at: &usize| {
            text(at).is_some_and(|text| text.contains('=') && text.contains(['$', '`', ';', '|', '&', '\n']))
        };
        let asked = match program.operands {
            Operands::None => first,
            Operands::Inline => self.operands.iter().copied().find(|at| text(at).is_some_and(|text| !is_name(text))),
            // Who allows a program has not allowed what its subcommand starts.
            Operands::Command => first.and(self.deeper),
            Operands::Code => self.operands.iter().copied().find(sets),
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
        let acts = |(place, at): (usize, &usize)| operand_acts(program, text(at)?, place).map(|what| (what, *at));
        if let Some(((kind, weight), at)) = self.operands.iter().enumerate().find_map(acts) {
            self.doubt(kind, at, weight, None);
        }
        // What another program reads, and what no row lists, may be code or name a file.
        let unlisted = |part: &Unknown| part.option.is_some_and(|(of, at)| of == self.index && at >= self.offset);
        let unlisted = self.walker.found.unknowns.iter().any(unlisted);
        let code = unlisted
            || !program.is_listed
            || matches!(program.operands, Operands::Code | Operands::Command | Operands::Inline | Operands::None);
        if code && !self.guessed {
            // The name of a target or a script is no code.
            let names = program.operands == Operands::Code && !unlisted;
            self.walker.found.code_hints.extend(texts(self.words).filter(|text| !names || !is_name(text)));
        }
        if (code || program.operands == Operands::Other) && !self.guessed {
            self.walker.found.file_hints.extend(texts(self.words));
        }
        // What it starts has options of its own.
        if program.operands == Operands::Command
            && let Some(first) = first
            && let Some(inner) = text(&first).map(base_name)
        {
            let rest = self.words.get(first..).unwrap_or_default();
            inspect(self.walker, inner, rest, (self.index, self.offset + first));
        }
        let needs_write = program.needs_write && program.in_place.is_empty();
        let operands = self.operands.iter().filter_map(|at| self.words.get(*at)).cloned().collect();
        RowSays { code, needs_write, own: Some(self.own), program: Some(program), options: self.options, operands }
    }
}

/// What an operand does beyond being one, with its weight, where the row says that operands may.
fn operand_acts(program: &Program, text: &str, place: usize) -> Option<(&'static str, Weight)> {
    let is = program.is;
    // `gcc @file`: the file holds options, of any kind.
    if is.response_files && text.len() > 1 && text.starts_with('@') {
        return Some(("response-file", Weight::Code));
    }
    // A name of a file that is a command: `convert '|ls' x`, `png:|ls`.
    if is.pipe_operands && (text.starts_with('|') || text.contains(":|")) {
        return Some(("executing-option", Weight::Code));
    }
    // A shell elsewhere reads the words again, joined by blanks.
    if is.remote_words && place > 0 && text.contains([';', '&', '|', '$', '`', '<', '>', '(', ')', '\n']) {
        return Some(("executing-option", Weight::Code));
    }
    // `msbuild /p:x=y`, but not `/folder/file`.
    let slash = || text.strip_prefix('/').map(|rest| rest.split(':').next().unwrap_or(rest));
    if is.slash_options && slash().is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphabetic())) {
        return Some(("option", Weight::Value));
    }
    // `just folder/recipe` runs what another folder says.
    (is.path_operands && text.contains('/')).then_some(("option-for-another-place", Weight::Value))
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
