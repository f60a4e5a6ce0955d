//! A row of the table of programs. The keys of a row are the fields of [`Program`] and the names of
//! [`Does`].
//!
//! Unknown keys and values are errors, and a field that no code reads is an error of the compiler.

#![deny(dead_code)]

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Deserializer};

use super::Names;
use super::kinds::{Kinds, read_kinds};
use super::words::Words;
use crate::argv::cluster;

/// What an option does. The name of each is the key that lists such options, and the order is by
/// how much they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) enum Does {
    /// Nothing that matters, without a value.
    #[serde(rename = "flags")]
    Flag,
    /// Nothing that matters, with a value.
    #[serde(rename = "values")]
    Value,
    /// Nothing that matters, with a value only where one is attached.
    #[serde(rename = "optional")]
    Optional,
    /// Its value is a name, which does nothing that matters; what is no plain name is code or
    /// settings that are loaded.
    #[serde(rename = "named")]
    Name,
    /// Its value is a folder, a project or a package below the working folder; what is elsewhere
    /// selects another place.
    #[serde(rename = "below")]
    Below,
    /// Its value is a file that is read.
    #[serde(rename = "read")]
    Read,
    /// Its value is a file that is written.
    #[serde(rename = "write")]
    Write,
    /// Its value is a file or a folder that is created, with everything below it.
    #[serde(rename = "makes")]
    Make,
    /// It writes a file whose name comes from elsewhere, without a value.
    #[serde(rename = "here")]
    Here,
    /// Its value is a command that runs.
    #[serde(rename = "run")]
    Run,
    /// Its value is a command line for a shell, which is judged as itself.
    #[serde(rename = "line")]
    Line,
    /// Its value is a command line for this program, from the subcommand on, which is judged as
    /// itself: `cargo watch -x test`.
    #[serde(rename = "own_line")]
    OwnLine,
    /// Its value is code or settings that are loaded.
    #[serde(rename = "load")]
    Load,
    /// Its value is code for this interpreter: an allow for the interpreter covers it.
    #[serde(rename = "code")]
    Code,
    /// It runs or loads something that it does not name, without a value.
    #[serde(rename = "starts")]
    Start,
    /// Its value selects the folder, project or cluster.
    #[serde(rename = "folder")]
    Folder,
    /// Its value is the folder that the program works in, and writes below.
    #[serde(rename = "into")]
    Into,
    /// Its value is a host that is contacted.
    #[serde(rename = "host")]
    Host,
    /// It does more than the program's purpose, without a value.
    #[serde(rename = "acts")]
    Acts,
}

impl Does {
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Style {
    /// Letters in clusters, long options that may be cut short.
    Gnu,
    /// Letters in clusters, long options as they are.
    #[default]
    Exact,
    /// Whole words, with one dash or two.
    Word,
}

/// Where options may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Before, between and after operands.
    #[default]
    Any,
    /// Before the first operand.
    First,
}

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operands {
    /// Text and numbers.
    Data,
    /// Files that are read.
    Read,
    /// A pattern, then files that are read.
    PatternRead,
    /// Files that are written.
    Write,
    /// Files, then where they are copied to.
    Copy,
    /// Files, then where they are moved to.
    Move,
    /// A file that is read, then one that is written.
    ReadWrite,
    /// Hosts that are contacted.
    Host,
    /// Names of code that runs: targets, scripts, tests.
    Code,
    /// A command that runs.
    Command,
    /// Code, unless it is a plain name.
    Inline,
    /// Channels and versions of a compiler: `stable`, `1.75.0`. Another toolchain may be a folder.
    Toolchain,
    /// Unknown.
    #[default]
    Other,
    /// A program without operands.
    None,
}

/// What the operands are as files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Files {
    /// No files, or unknown ones.
    None,
    /// Assignments: `dd if=a of=b`.
    Assigned,
    /// URLs whose last part names a file that is written.
    Download,
    /// Files that are read.
    Read,
    /// A pattern, then files that are read.
    PatternRead,
    /// Files that are written.
    Write,
    /// Files that are read and written.
    Edit,
    /// A mode, then files that are written.
    ModeWrite,
    /// Modes that begin with a sign, and files that are written.
    SignedModeWrite,
    /// Files, then where they are copied to.
    Copy,
    /// Files, then where they are copied to, of which some are on other machines.
    RemoteCopy,
    /// Files, then where they are moved to.
    Move,
    /// A file that is read, then one that is written.
    ReadWrite,
}

impl From<Operands> for Files {
    fn from(operands: Operands) -> Self {
        match operands {
            Operands::Read => Self::Read,
            Operands::PatternRead => Self::PatternRead,
            Operands::Write => Self::Write,
            Operands::Copy => Self::Copy,
            Operands::Move => Self::Move,
            Operands::ReadWrite => Self::ReadWrite,
            Operands::Data
            | Operands::Host
            | Operands::Code
            | Operands::Command
            | Operands::Inline
            | Operands::Toolchain
            | Operands::Other
            | Operands::None => Self::None,
        }
    }
}

/// Whether a program affects what is below its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Recursive {
    /// Always.
    Always,
    /// Below operands that a glob names.
    Globs,
}

/// Where a program writes files that no word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unpacks {
    /// Below the working directory.
    Here,
    /// Below the working directory, where it has no operand.
    Alone,
    /// In the working tree of a repository.
    Tree,
    /// Below the paths that are its operands.
    Paths,
    /// Below its last operand, or a folder named after what it fetches.
    Last,
    /// Anywhere.
    Anywhere,
}

/// Whether a program creates links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Links {
    /// Always.
    Always,
    /// With `-s` or `--symbolic-link`.
    ByOption,
}

/// What a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Prints {
    /// Its operands.
    Operands,
    /// Its input; of a program that reads its operands, only without one.
    Input,
    /// A path that ends in its last operand.
    Path,
}

/// A row.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Program {
    /// The options, by their exact spelling. The packed table has the lists of a row under this
    /// key.
    #[serde(deserialize_with = "read_options")]
    pub(super) options: HashMap<Box<str>, Does, Names>,
    /// Whether its options are listed. Where they are not, a rule that allows the program covers
    /// all of them.
    #[serde(rename = "listed", default = "listed")]
    pub(crate) is_listed: bool,
    /// Whether the row itself cannot be read.
    #[serde(skip)]
    pub(crate) is_broken: bool,
    pub(crate) style: Style,
    pub(crate) order: Order,
    /// Whether the first operand is a subcommand with a row.
    pub(crate) subcommands: bool,
    /// All its own subcommands, if any other word is a script of the project, as behind `run`.
    pub(crate) not_scripts: Words,
    /// Whether its options may follow the subcommand.
    pub(crate) global: bool,
    /// Options after whose value everything is the arguments of something else.
    pub(crate) stop: Words,
    /// Options after which a command follows, up to `;` or `+`: `find -exec`.
    pub(crate) until: Words,
    pub(crate) operands: Operands,
    /// What the operands are as files, where `operands` does not state it.
    pub(super) files: Option<Files>,
    /// Whether each operand that it writes needs an allow.
    pub(crate) needs_write: bool,
    pub(crate) recursive: Option<Recursive>,
    /// Options with which it affects everything below its operands.
    pub(crate) recursive_with: Words,
    /// Options with which its operands are changed.
    pub(crate) in_place: Words,
    /// Options with which its operands are folders that it creates.
    pub(crate) makes_folders: Words,
    /// Options with which it writes what `read` names.
    pub(crate) fills: Words,
    /// Options with which a program of the kind `writes-operands` writes other files, too.
    pub(crate) writes_more: Words,
    /// Options with which it shows all files of a repository, unless a path is named.
    pub(crate) shows_all_with: Words,
    pub(crate) unpacks: Option<Unpacks>,
    /// Options without which it does not unpack.
    pub(crate) unpacks_with: Words,
    /// Options with which it does not unpack.
    pub(crate) unpacks_not: Words,
    /// Options with which it unpacks anywhere.
    pub(crate) unpacks_anywhere: Words,
    /// Options with which it does not unpack where it has no operand.
    pub(crate) unpacks_new: Words,
    /// What the program is, by words.
    #[serde(deserialize_with = "read_kinds")]
    pub(crate) is: Kinds,
    /// Words after which a command follows: `docker run`.
    pub(crate) behind: Words,
    /// How many words are between the options of a wrapper and its command.
    pub(crate) before: usize,
    /// `option=letters`: letters that other options are equivalent to, for ask and deny.
    pub(crate) letters: Words,
    /// The beginnings of words that are commands for it: `exec:`.
    pub(crate) executes: Words,
    /// Options with which it does not run its arguments.
    pub(crate) runs_not: Words,
    /// Options with which a wrapper runs nothing.
    pub(crate) looks_up: Words,
    pub(crate) links: Option<Links>,
    /// What it prints, where that is certain.
    pub(crate) prints: Option<Prints>,
    /// The only first words with which it does.
    pub(crate) prints_with: Words,
    /// Letters with which it prints some of the lines that it reads, and nothing else.
    pub(crate) passes_on: Words,
    /// Of `git`: settings that run nothing.
    pub(crate) plain_settings: Words,
    /// Of `env`: variables that run nothing.
    pub(crate) plain_variables: Words,
    /// Of `env`: variables that make programs run or load something.
    pub(crate) variables: Words,
    /// The only words with which it only reads.
    pub(crate) reads_with: Option<Words>,
    /// Options and parts of words with which it does not only read.
    pub(crate) not_read_only: Words,
    /// Whether no prefix that ends here is remembered.
    pub(crate) never_remember: bool,
    /// Options before which no prefix is remembered.
    pub(crate) never_remember_with: Words,
}

impl Program {
    /// Whether a word in the place of a subcommand is the name of a script: a plain word that is no
    /// subcommand.
    pub(crate) fn runs_script(&self, word: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
        let starts = word.starts_with(|c: char| c.is_ascii_alphanumeric());
        !self.not_scripts.is_empty() && starts && word.chars().all(is_plain) && !self.not_scripts.has(word)
    }

    /// What an option does, by its exact spelling.
    pub(crate) fn does(&self, option: &str) -> Option<Does> {
        self.options.get(option).copied()
    }

    /// Whether everything behind the value of an option, which may be a letter of a cluster such as
    /// `-Ic`, is the arguments of something else.
    pub(crate) fn stops(&self, text: &str) -> bool {
        let name = text.split('=').next().unwrap_or(text);
        let letters = if self.style == Style::Word { "" } else { cluster(text).unwrap_or_default() };
        self.stop.iter().any(|own| {
            let letter = own.strip_prefix('-').unwrap_or_default();
            own == text || own == name || letter.chars().count() == 1 && letters.contains(letter)
        })
    }

    /// Whether a command follows an option, up to `;` or `+`: `find -exec`.
    pub(crate) fn starts_command(&self, option: &str) -> bool {
        self.until.has(option)
    }

    /// Whether one of its options runs something.
    pub(crate) fn may_run(&self) -> bool {
        !self.until.is_empty()
            || self.options().any(|(_, does)| matches!(does, Does::Run | Does::Line | Does::OwnLine | Does::Start))
    }

    /// What its operands are, as far as files go.
    pub(crate) fn files(&self) -> Files {
        self.files.unwrap_or_else(|| self.operands.into())
    }

    /// Whether it reads text, and does nothing else with its words and its input.
    pub(crate) fn only_looks(&self) -> bool {
        self.is.only_reads || matches!(self.operands, Operands::Data | Operands::PatternRead | Operands::Read)
    }

    /// The options, in no order.
    pub(crate) fn options(&self) -> impl Iterator<Item = (&str, Does)> {
        self.options.iter().map(|(option, does)| (option.as_ref(), *does))
    }
}

fn listed() -> bool {
    true
}

/// The options of a row, from their lists.
fn read_options<'de, D: Deserializer<'de>>(lists: D) -> Result<HashMap<Box<str>, Does, Names>, D::Error> {
    let lists = BTreeMap::<Does, Words>::deserialize(lists)?;
    let mut options = HashMap::default();
    for (does, words) in lists {
        options.extend(words.iter().map(|option| (Box::from(option), does)));
    }
    Ok(options)
}
