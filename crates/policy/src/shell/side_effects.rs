//! What a command line does: the lists that the policy judges, and the limits within which they are
//! made.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::argv::Word;
use crate::path::LexPath;
use crate::rule::Access;

/// The maximum length of a command in characters. A longer command is one unknown.
pub(crate) const MAX_CHARS: usize = 10_000;
pub(crate) const MAX_COMMANDS: usize = 200;
/// The maximum nesting of substitutions, payloads and compound commands.
pub(crate) const MAX_DEPTH: usize = 8;

/// The role of a command in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// It runs, and must be allowed.
    Runs,
    /// It only starts another command that is also listed (`timeout 5 …`). Only ask and deny
    /// consider it.
    Carries,
    /// It may run, by a guess. Only ask and deny consider it.
    Guess,
}

/// A command: a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Its role.
    pub role: Role,
}

/// The effect on a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FileEffect {
    /// The path, if it is known.
    #[serde(skip)]
    pub path: Option<LexPath>,
    /// The file for display.
    pub text: Arc<str>,
    /// Whether it is read, or written (created, changed, deleted).
    pub(crate) access: Access,
    /// Whether it needs an allow of its own, besides that of the command: redirects, and options
    /// that write.
    pub own: bool,
    /// Whether it may include everything below the path.
    pub recursive: bool,
    /// Whether the path is certain. It is not after a `cd` that may have failed.
    pub certain: bool,
}

impl FileEffect {
    /// The effect on a file of which only a text is known.
    pub(crate) fn new(text: impl Into<Arc<str>>, access: Access) -> Self {
        Self { path: None, text: text.into(), access, own: false, recursive: false, certain: false }
    }
}

/// The weight of an unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Weight {
    /// A value: which argument, which file. A rule that allows every command covers it.
    Value,
    /// Code: anything may run. A rule that allows every command covers it only where no rule
    /// restricts anything.
    Code,
    /// A person could not see what they approve. Always asks.
    Unseen,
}

/// A part of a command whose meaning is known only when it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Unknown {
    /// Its kind: a stable kebab-case word.
    pub kind: &'static str,
    /// The part, as written.
    pub text: String,
    /// Its weight.
    pub weight: Weight,
    /// For an interpreter that receives code: the index of its command. An allow that names the
    /// interpreter covers the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<usize>,
    /// For an option or operand that its program's row does not list: the index of the command, and
    /// that of the word. An allow or a grant that names the word covers it.
    #[serde(skip)]
    pub option: Option<(usize, usize)>,
    /// For a variable that is set for a command: the index of the command, and its value, if that
    /// is known. An allow that names the variable covers it.
    #[serde(skip)]
    pub variable: Option<(usize, Option<String>)>,
    /// For a command whose settings lie where it runs: that folder. Where the call itself runs
    /// there, it is no unknown.
    #[serde(skip)]
    pub folder: Option<LexPath>,
}

impl Unknown {
    /// A part of which no more is known; long texts are cut.
    pub(super) fn new(kind: &'static str, text: &str, weight: Weight) -> Self {
        let text = text.chars().take(80).collect();
        Self { kind, text, weight, interpreter: None, option: None, variable: None, folder: None }
    }

    /// Why it needs a person, as a sentence.
    pub(crate) fn reason(&self) -> String {
        let Self { kind, text, .. } = self;
        let says = match *kind {
            "strict" => return format!("it has {text}, which the strict reader does not support"),
            "dialect" => return format!("it has {text}"),
            "piped-code" => return "a program reads its commands from its input, which cannot be reviewed".to_owned(),
            "other-repository" => {
                return "git in another folder runs the settings and hooks of that repository".to_owned();
            }
            "option" | "operand" | "subcommand" => "is not listed as harmless in the program table",
            "option-for-another-place" => "changes the program's folder or settings",
            "option-for-another-host" => "makes the program contact another host",
            "executing-option" => "runs another command",
            "loading-option" => "loads code or settings",
            "response-file" => "contains options that cannot be reviewed",
            "writing-option" => "writes a file that is not named",
            "acting-option" => "changes what the program does",
            "environment" | "assignment" => "is set and may change what a program does",
            "added-arguments" => "gets arguments that are known only when it runs",
            _ => "is known only when it runs",
        };
        format!("`{text}` {says} ({kind})")
    }
}

/// The side effects of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SideEffects {
    /// The commands, in the order of the source.
    pub commands: Vec<Command>,
    /// The files.
    pub files: Vec<FileEffect>,
    /// The unknowns.
    pub unknowns: Vec<Unknown>,
    /// Files that a part which cannot be read may name. Only denies and the floor consider them.
    #[serde(skip)]
    pub suspects: Vec<FileEffect>,
    /// The globs that were taken for the files that they expand to.
    #[serde(skip)]
    pub(crate) globs: Vec<Arc<str>>,
    /// Hosts that options name.
    #[serde(skip)]
    pub hosts: Vec<String>,
    /// Texts that a program may take for code, as far as is known of it. Only denies consider them.
    #[serde(skip)]
    pub code_hints: Vec<Arc<str>>,
    /// Texts that a program may take for files. Only denies consider them.
    #[serde(skip)]
    pub file_hints: Vec<Arc<str>>,
}

impl SideEffects {
    /// The paths of the files that are known.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &LexPath> {
        self.files.iter().filter_map(|file| file.path.as_ref())
    }

    /// The first file that needs an allow of its own.
    pub(crate) fn own_file(&self) -> Option<&FileEffect> {
        self.files.iter().find(|file| file.own)
    }

    pub(crate) fn written(&self) -> impl Iterator<Item = &FileEffect> {
        self.files.iter().filter(|file| file.access == Access::Write)
    }

    /// Suspects that a text names a file, which may be read or written.
    pub(crate) fn suspect(&mut self, text: &str, certain: bool) {
        for access in [Access::Read, Access::Write] {
            let path = Some(LexPath::read(text));
            self.suspects.push(FileEffect { path, certain, ..FileEffect::new(text, access) });
        }
    }

    pub(crate) fn unknown(&mut self, kind: &'static str, text: &str, weight: Weight) {
        self.unknowns.push(Unknown::new(kind, text, weight));
    }
}
