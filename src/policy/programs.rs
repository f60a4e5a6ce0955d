//! The table of programs: one program, one entry.
//!
//! A row is an allow-list, made from a program's own manual: an option that it does not name makes a call ask. The rows
//! stand in `programs/*.toml`, each with the manual that it was made from; the library holds them packed in
//! `programs.bin`, which a test compares with them. A program without a row, or with `listed = false`, has no list: a
//! rule that allows it means what it says.
//!
//! | key | what it says |
//! |---|---|
//! | `names`, `manual`, `date`, `why` | the program, or the program with its subcommand; where the row comes from |
//! | `style`, `order`, `subcommands`, `global`, `stop`, `until` | how options are read |
//! | `flags`, `values`, `optional`, `read`, `write`, `makes`, `here`, `run`, `load`, `code`, `starts`, `folder`, `into`, `host`, `acts` | options, by what they do: see [`Does`] |
//! | `operands`, `files`, `needs_write` | what the operands are; `files` where they are other files than that says |
//! | `recursive`, `in_place`, `makes_folders` | options by which operands are folders, are changed, are made |
//! | `fills` | options by which what `read` names is written |
//! | `unpacks` | where it writes files that no word names: `here`, the same where it is `alone` without operands, in the `tree` of a repository, below `paths` that it names, or the `last` of them, or `anywhere` |
//! | `unpacks_with`, `unpacks_not`, `unpacks_anywhere`, `unpacks_new` | options with which it does so, does not, does so anywhere, and does not where it has no operand |
//! | `is` | words for what a program is to others: `interpreter`, `shell`, `launcher`, `only-reads`, … |
//! | `behind` | words behind which a command stands: `docker run` |
//! | `before` | how many words stand between the options and the command of a wrapper |
//! | `letters` | letters that other options stand for, for ask and deny |
//! | `executes` | the beginnings of words that are commands for it: `exec:` |
//! | `runs_not`, `looks_up` | options with which it does not run its arguments |
//! | `links` | whether it makes links: `always`, or with these options |
//! | `passes_on` | letters with which it prints some of the lines that it reads, and nothing else |
//! | `plain_settings`, `plain_variables` | of `git` and `env`: what may be set and runs nothing |
//! | `reads_with`, `not_read_only` | where it only reads: the only words for that, or what prevents it |
//! | `never_remember` | no prefix that ends here is remembered |
//! | `variables` | of `env`: variables that make programs run or load something |

#![cfg_attr(not(feature = "shell"), allow(dead_code, reason = "the reader of commands calls it"))]

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{LazyLock, OnceLock};

use toml::de::{DeTable, DeValue};

/// The rows, deflated.
const PACKED: &[u8] = include_bytes!("programs.bin");

/// FNV-1a: names are short and are looked up many times a command, and nobody outside chooses what the table holds.
#[derive(Debug, Default)]
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Names = BuildHasherDefault<Fnv>;

/// The most bytes that the rows have.
const MAX_BYTES: usize = 4 << 20;

/// What an option does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Does {
    /// Nothing that matters, without a value.
    Flag,
    /// Nothing that matters, with a value.
    Value,
    /// Nothing that matters, with a value only where one is attached.
    Optional,
    /// Its value is a file that is read.
    Read,
    /// Its value is a file that is written.
    Write,
    /// Its value is a file or a folder that is made, with what is below it.
    Make,
    /// It writes a file whose name comes from elsewhere, without a value.
    Here,
    /// Its value is a command that runs.
    Run,
    /// Its value is code or settings that are loaded.
    Load,
    /// Its value is code for the interpreter that it is: who allows the interpreter allows that.
    Code,
    /// It runs or loads something that it does not name, without a value.
    Start,
    /// Its value chooses the folder, project or cluster.
    Folder,
    /// Its value is the folder that it works in, and writes below.
    Into,
    /// Its value is a host that is contacted.
    Host,
    /// It does more than the program's purpose, without a value.
    Acts,
}

impl Does {
    /// The keys of a row that list options, and what those do.
    const KEYS: [(&'static str, Self); 15] = [
        ("flags", Self::Flag),
        ("values", Self::Value),
        ("optional", Self::Optional),
        ("read", Self::Read),
        ("write", Self::Write),
        ("makes", Self::Make),
        ("here", Self::Here),
        ("run", Self::Run),
        ("load", Self::Load),
        ("code", Self::Code),
        ("starts", Self::Start),
        ("folder", Self::Folder),
        ("into", Self::Into),
        ("host", Self::Host),
        ("acts", Self::Acts),
    ];

    /// Whether its value is the next word where none is attached.
    pub(crate) fn takes_value(self) -> bool {
        self.may_have_value() && self != Self::Optional
    }

    /// Whether it may have a value.
    pub(crate) fn may_have_value(self) -> bool {
        !matches!(self, Self::Flag | Self::Here | Self::Start | Self::Acts)
    }
}

/// How a program reads its options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// Letters in clusters, long options that may be cut short.
    #[default]
    Gnu,
    /// Letters in clusters, long options as they are.
    Exact,
    /// Whole words, with one dash or two.
    Word,
}

/// A row.
#[derive(Debug, Default)]
pub(crate) struct Program {
    options: HashMap<&'static str, Does, Names>,
    pub(crate) style: Style,
    pub(crate) operands: &'static str,
    /// Whether its options are listed. Where they are not, a rule that allows the program means what it says.
    pub(crate) is_listed: bool,
    /// Whether the row itself cannot be read.
    pub(crate) is_broken: bool,
    /// What else the row says, by its key.
    texts: HashMap<&'static str, &'static str, Names>,
    /// The words of the key `is`, and the keys that are true.
    kinds: Vec<&'static str>,
}

impl Program {
    /// What an option does, by its exact spelling.
    pub(crate) fn does(&self, option: &str) -> Option<Does> {
        self.options.get(option).copied()
    }

    /// Whether everything behind the value of an option, which may be a letter of a cluster such as `-Ic`, is the arguments
    /// of something else.
    pub(crate) fn stops(&self, text: &str) -> bool {
        let name = text.split('=').next().unwrap_or(text);
        let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-') && self.style != Style::Word);
        self.list("stop").any(|own| {
            let letter = own.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
            own == text || own == name || letters.zip(letter).is_some_and(|(all, letter)| all.contains(letter))
        })
    }

    /// Whether a command stands behind an option, up to `;` or `+`: `find -exec`.
    pub(crate) fn starts_command(&self, option: &str) -> bool {
        self.list("until").any(|own| own == option)
    }

    /// Whether one of its options runs something.
    pub(crate) fn may_run(&self) -> bool {
        self.text("until").is_some() || self.options().any(|(_, does)| matches!(does, Does::Run | Does::Start))
    }

    /// The words of a key that is no list of options; none where the row does not have it.
    pub(crate) fn list(&self, key: &str) -> std::str::SplitWhitespace<'static> {
        self.text(key).unwrap_or_default().split_whitespace()
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'static str> {
        self.texts.get(key).copied()
    }

    /// Whether it is of this kind: a word of the key `is`, or a key that is true.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether a word of a key is this text, or is a front of it that ends in `*`.
    pub(crate) fn lists(&self, key: &str, text: &str) -> bool {
        self.list(key).any(|own| fits(own, text))
    }

    /// What its operands are, as far as files go.
    pub(crate) fn files(&self) -> &'static str {
        self.text("files").unwrap_or(self.operands)
    }

    /// The options, in no order.
    pub(crate) fn options(&self) -> impl Iterator<Item = (&'static str, Does)> {
        self.options.iter().map(|(option, does)| (*option, *does))
    }

    fn read(row: &DeTable<'static>) -> Self {
        let mut program = Self { operands: "other", is_listed: true, ..Self::default() };
        for (key, value) in row {
            let Cow::Borrowed(key) = *key.get_ref() else { continue };
            let text: &'static str = match value.get_ref() {
                DeValue::String(Cow::Borrowed(text)) => text,
                // Read once and kept as long as the process lives, as the rows themselves are.
                DeValue::String(Cow::Owned(text)) => text.clone().leak(),
                DeValue::Boolean(on) => {
                    program.is_listed &= key != "listed" || *on;
                    program.kinds.extend(on.then_some(key));
                    continue;
                }
                _ => continue,
            };
            let words = text.split_whitespace();
            match (Does::KEYS.iter().find(|(own, _)| *own == key), key) {
                (Some((_, does)), _) => program.options.extend(words.map(|option| (option, *does))),
                (None, "operands") => program.operands = text,
                (None, "style") if text == "exact" => program.style = Style::Exact,
                (None, "style") if text == "word" => program.style = Style::Word,
                (None, "is") => program.kinds.extend(words),
                (None, key) => drop(program.texts.insert(key, text)),
            }
        }
        program
    }
}

/// Whether a text is a word of a key, or begins like one that ends in `*`.
pub(crate) fn fits(own: &str, text: &str) -> bool {
    own.strip_suffix('*').map_or(own == text, |front| text.starts_with(front))
}

struct Table {
    /// The place of each name's row.
    places: HashMap<&'static str, usize, Names>,
    /// What more words make a name of: `gh pr`.
    begun: HashSet<&'static str, Names>,
    rows: Vec<(&'static str, OnceLock<Program>)>,
}

static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| {
    let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(PACKED, MAX_BYTES).ok()?;
    let text: &'static str = String::from_utf8(bytes).ok()?.leak();
    let mut table = Table { places: HashMap::default(), begun: HashSet::default(), rows: Vec::new() };
    for row in text.split("[[program]]\n").skip(1) {
        let (names, _) = row.strip_prefix("names = [")?.split_once(']')?;
        let names = names.split('"').skip(1).step_by(2);
        for name in names {
            table.places.insert(name, table.rows.len());
            table.begun.extend(name.match_indices(' ').filter_map(|(at, _)| name.get(..at)));
        }
        table.rows.push((row, OnceLock::new()));
    }
    Some(table)
});

/// Whether the table can be read. Where it cannot, every command is unknown.
pub(crate) fn is_readable() -> bool {
    TABLE.is_some()
}

/// The row of a program, or of a program with its subcommand: `git`, `git log`.
pub(crate) fn row(name: &str) -> Option<&'static Program> {
    let table = TABLE.as_ref()?;
    let (text, read) = table.places.get(name).and_then(|place| table.rows.get(*place))?;
    Some(read.get_or_init(|| match DeTable::parse(text) {
        Ok(row) => Program::read(row.get_ref()),
        Err(_) => Program { is_broken: true, ..Program::default() },
    }))
}

/// Whether a name has a row.
pub(crate) fn has(name: &str) -> bool {
    TABLE.as_ref().is_some_and(|table| table.places.contains_key(name))
}

/// The row of a program, with or without a version.
pub(crate) fn find(base: &str) -> Option<&'static Program> {
    name_of(base).and_then(row)
}

/// Whether a program, with or without a version, is of a kind.
pub(crate) fn is(base: &str, kind: &str) -> bool {
    find(base).is_some_and(|program| program.is(kind))
}

/// Whether more words make a name of these that has a row.
pub(crate) fn is_begun(name: &str) -> bool {
    TABLE.as_ref().is_some_and(|table| table.begun.contains(name))
}

/// The name under which a program has a row: its own, or that without a version: `python3.12`, `gcc-14`.
pub(crate) fn name_of(base: &str) -> Option<&str> {
    let mut name = base;
    while !has(name) {
        let short = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let short = if short == name { name.trim_end_matches(['.', '-']) } else { short };
        name = Some(short).filter(|short| !short.is_empty() && *short != name)?;
    }
    Some(name)
}
