//! What a call writes, as far as a copy of it, made before the call, can undo the call.
//!
//! This layer has no disk: it returns the paths to copy, or why a copy would promise too much. The
//! host makes the copies, through [`Snapshots`]. A call can be undone by snapshot only if both
//! agree; otherwise it is shown as irreversible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::argv::{self, Word, base_name, cluster};
use super::capability::Undo;
use super::context::ToolOrigin;
use super::links::Links;
use super::path::Base;
use super::prepared::Prepared;
use super::programs;
use super::shell::{FileEffect, Role, readonly};
use crate::diagnostic::visible;

/// A path that a call writes: creates, changes or deletes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct WrittenPath {
    /// The path, absolute and without `..`. Symbolic links in it have not been followed.
    pub path: String,
    /// Whether the call may write everything below it.
    pub recursive: bool,
}

/// How a call that was let go can be undone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CallUndo {
    /// The class: what the tool's record says, or `irreversible` where no copy could be made.
    pub class: Undo,
    /// The snapshot that was made before the call left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<TakenSnapshot>,
    /// Why it is irreversible, although the tool's record says `snapshot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A snapshot that a host has made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TakenSnapshot {
    /// Its id, by which a person undoes the call.
    pub id: String,
    /// SHA-256 of what it holds: paths, modes and contents. Part of the audit record of the call.
    pub digest: String,
    /// How many files it holds.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: u64,
}

impl TakenSnapshot {
    /// A snapshot by its id and digest, with the number of its files and their size in bytes.
    #[must_use]
    pub fn new(id: impl Into<String>, digest: impl Into<String>, files: usize, bytes: u64) -> Self {
        Self { id: id.into(), digest: digest.into(), files, bytes }
    }
}

/// Why no snapshot was made, or none can be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct NoSnapshot {
    /// The reason, in lower case without a full stop.
    pub why: String,
    /// Whether it may be possible later: another call that writes the same files has not ended.
    pub passing: bool,
}

impl NoSnapshot {
    /// A reason that does not pass.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), passing: false }
    }
}

/// The call that a snapshot is for.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SnapshotCall<'a> {
    /// The conversation; empty if it has no id.
    pub session: &'a str,
    /// The call's id.
    pub call: &'a str,
    /// Who provides the tool.
    pub origin: &'a ToolOrigin,
    /// The tool's name there.
    pub tool: &'a str,
    /// The time, in milliseconds since 1970 UTC.
    pub now_ms: i64,
    /// Whether the call waits as long as no snapshot can be made. Otherwise it leaves without one.
    pub waits: bool,
}

impl<'a> SnapshotCall<'a> {
    /// A call of a tool, at a time. Its conversation and its id are empty, and it does not wait.
    #[must_use]
    pub fn new(origin: &'a ToolOrigin, tool: &'a str, now_ms: i64) -> Self {
        Self { session: "", call: "", origin, tool, now_ms, waits: false }
    }
}

/// A host's snapshots: copies of files, kept where no call can write.
pub trait Snapshots: Send + Sync {
    /// Whether a snapshot of these paths could be made now. Keeps nothing.
    ///
    /// # Errors
    /// [`NoSnapshot`], with what a person should know.
    fn check(&self, paths: &[WrittenPath]) -> Result<(), NoSnapshot>;

    /// Copies these paths, before the call leaves. When this returns, the copies are on disk.
    ///
    /// # Errors
    /// [`NoSnapshot`]; nothing is kept then.
    fn take(&self, call: &SnapshotCall<'_>, paths: &[WrittenPath]) -> Result<TakenSnapshot, NoSnapshot>;

    /// Forgets a snapshot: its call did not leave after all.
    fn discard(&self, id: &str);

    /// The call has ended: what its files are now is what it left.
    fn ended(&self, session: &str, call: &str);
}

impl Prepared<'_> {
    /// How the tool of the call can be undone by its record, and for the class `snapshot` which
    /// paths are to be copied, or [`NoSnapshot`] where a copy of the known paths would not undo the
    /// call.
    pub fn undo(&self) -> (Undo, Result<Vec<WrittenPath>, NoSnapshot>) {
        match self.capability.undo {
            Undo::Snapshot => (Undo::Snapshot, written(self).map_err(NoSnapshot::new)),
            class => (class, Ok(Vec::new())),
        }
    }
}

/// The paths that a call writes, if all of them are known before it runs.
fn written(cx: &Prepared<'_>) -> Result<Vec<WrittenPath>, String> {
    if let Some(why) = &cx.unreadable {
        return Err(why.clone());
    }
    if let Some(part) = cx.effects.unknowns.first() {
        return Err(visible(&part.reason()).into_owned());
    }
    if let Some(command) = cx.effects.commands.iter().find(|command| !is_exact(&command.words, command.role)) {
        let line = argv::display(&command.words);
        return Err(format!("what `{}` writes is unknown", visible(&line.chars().take(80).collect::<String>())));
    }
    let mut paths = Vec::new();
    for file in cx.effects.written() {
        let path = path_of(cx, file)
            .ok_or_else(|| format!("which file `{}` is, is known only at run time", visible(&file.text)))?;
        // What a tool other than a shell does to a folder is unknown.
        paths.push(WrittenPath { path, recursive: file.recursive || !cx.is_shell });
    }
    paths.sort_unstable();
    paths.dedup();
    if paths.is_empty() { Err("it does not name the files that it writes".to_owned()) } else { Ok(paths) }
}

/// The one path that a file of a call is.
fn path_of(cx: &Prepared<'_>, file: &FileEffect) -> Option<String> {
    let path = file.path.as_ref().filter(|path| file.certain && path.tail().is_none())?;
    let absolute = path.absolute(&cx.context);
    // `..` leads elsewhere behind a link: then it is another file for a shell than for other
    // programs.
    let one_place = match path.spots(&cx.context).as_slice() {
        [_] => true,
        spots => lead_to_one(spots, cx.context.links.as_ref()?),
    };
    let single = !path.is_odd() && path.meanings().count() == 1 && one_place;
    if single && absolute.base == Base::Root { Some(absolute.to_string()) } else { None }
}

/// Whether it is known that links lead several paths to one.
fn lead_to_one(spots: &[String], links: &Links) -> bool {
    let mut places = spots.iter().map(|spot| links.real_path(spot));
    let Some(Some(first)) = places.next() else { return false };
    places.all(|place| place.as_ref() == Some(&first))
}

fn is_exact(words: &[Word], role: Role) -> bool {
    match role {
        Role::Carries => programs::row_or_empty(argv::program(words).unwrap_or_default()).is.writes_nothing,
        Role::Guess => false,
        Role::Runs if readonly::only_reads(words, false) => true,
        Role::Runs => match argv::all_known(words).as_deref() {
            Some([program, rest @ ..]) => writes_operands(program, rest),
            _ => false,
        },
    }
}

/// Whether a program writes its operands and nothing else, with these arguments. By its row: of a
/// program without one it is unknown what it writes.
fn writes_operands(program: &str, arguments: &[&str]) -> bool {
    let row = programs::row_or_empty(base_name(program));
    row.is.writes_operands
        && !row.writes_more.iter().any(|option| arguments.iter().any(|argument| may_be(argument, option)))
        && !(row.is.sed && arguments.iter().any(|argument| keeps_old_file(argument)))
}

/// Whether an option of `sed` keeps the old file under another name: `-i.bak`.
fn keeps_old_file(argument: &str) -> bool {
    cluster(argument).is_some() && argument.contains('i') && !argument.ends_with('i')
}

/// Whether an argument is this option: a long one, which may be cut short, or a letter among
/// others.
fn may_be(argument: &str, option: &str) -> bool {
    if option.starts_with("--") {
        let name = argument.split('=').next().unwrap_or(argument);
        return name.starts_with("--") && name.len() > 2 && option.starts_with(name);
    }
    cluster(argument).is_some() && matches!(option.strip_prefix('-'), Some(letter) if argument.contains(letter))
}
