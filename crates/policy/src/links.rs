//! Where paths lead: symbolic links as data that the host provides.
//!
//! The layer sees no disk. A host with disk access provides a [`Disk`], and
//! [`Policy::prepare`](super::Policy::prepare) asks it about every path that the call and the rules
//! name. The result is data: the same call, context and [`Links`] give the same decision on any
//! machine.
//!
//! An allow must fit the path as written *and* its real path. A deny, an ask and the floor apply if
//! either fits.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::path::{Base, LexPath, PathPattern};

pub(super) mod commands;
mod lookup;
mod tracked;

pub(super) use self::lookup::look_up;

/// The maximum number of links that are followed for one path, as in Linux (`MAXSYMLINKS`,
/// path_resolution(7)).
pub const MAX_LINKS: usize = 40;

/// Access to the disk of a host.
pub trait Disk: Send + Sync {
    /// What is at an absolute path whose folders are not links.
    fn look(&self, path: &str) -> DiskEntry;

    /// The names in a folder whose path has no links, in any order, for globs. Empty if it is not a
    /// folder or does not exist. `None`: the folder cannot be listed.
    fn names(&self, folder: &str) -> Option<Vec<String>> {
        let _ = folder;
        None
    }

    /// The names in a folder with what each is, to look for what a rule denies. `None`: the folder
    /// cannot be listed. By default every name is [looked](Self::look) at; a disk that learns the
    /// kinds while it lists a folder overrides this.
    fn entries(&self, folder: &str) -> Option<Vec<(String, EntryKind)>> {
        let mut entries = Vec::new();
        for name in self.names(folder)? {
            let kind = match self.look(&format!("{}/{name}", folder.trim_end_matches('/'))) {
                DiskEntry::Link(_) => EntryKind::Link,
                DiskEntry::Other => EntryKind::MayBeFolder,
                DiskEntry::Unknown => EntryKind::Unknown,
            };
            entries.push((name, kind));
        }
        Some(entries)
    }

    /// The names of the files below a folder that git has in a revision, relative to the folder;
    /// without a revision, those of the index. Empty if the revision does not exist. `None`: the
    /// folder is not in a repository, there are too many files, a file is a repository itself, or
    /// git gave no answer in time. By default git gives none, so that a rule asks about every
    /// checkout that may write what it names.
    fn tracked(&self, folder: &str, revision: Option<&str>) -> Option<Vec<String>> {
        let _ = (folder, revision);
        None
    }

    /// The names of all files below a folder that git has in the index and in the history of a
    /// revision, HEAD without one, relative to the folder: what `git log -p` may print. `None`:
    /// the revision does not exist, there are too many files, one is a repository itself, or git
    /// gave no answer in time. By default git gives none, and rules ask.
    fn ever_tracked(&self, folder: &str, revision: Option<&str>) -> Option<Vec<String>> {
        let _ = (folder, revision);
        None
    }

    /// Whether a program is the one that people approve calls with, under another name: its content
    /// decides. `program` is an absolute path, links not followed, or a bare name that a shell
    /// would look up. By default no program is.
    fn is_own_program(&self, program: &str) -> bool {
        let _ = program;
        false
    }
}

/// What a name in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// No folder, and no link.
    File,
    /// A folder, or unknown.
    MayBeFolder,
    /// A symbolic link.
    Link,
    /// It cannot be examined.
    Unknown,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiskEntry {
    /// A symbolic link, with its target as written.
    Link(String),
    /// Anything else, or nothing.
    Other,
    /// It cannot be examined.
    Unknown,
}

/// The paths that symbolic links lead elsewhere. A path that is not listed leads to itself. Also
/// what a look at the disk did not find, which is not stored.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Links {
    /// Where each path leads; `None`: unknown.
    leads: BTreeMap<String, Option<String>>,
    /// What a look below a folder found that fits a pattern, or why it found nothing out; `None`:
    /// nothing fits.
    #[serde(skip)]
    looked: Vec<(String, PathPattern, Option<String>)>,
    /// The words of the call that name this program itself, which the floor denies to run.
    #[serde(skip)]
    own_programs: BTreeSet<String>,
}

/// Where paths lead is compared, and not what was looked for.
impl PartialEq for Links {
    fn eq(&self, other: &Self) -> bool {
        self.leads == other.leads
    }
}

impl Eq for Links {}

impl Links {
    /// Records where an absolute path leads. `None`: unknown.
    pub(crate) fn insert(&mut self, path: &str, leads_to: Option<String>) {
        if leads_to.as_deref() != Some(LexPath::plain(path).to_string().as_str()) {
            self.leads.insert(path.to_owned(), leads_to);
        }
    }

    /// Whether every path leads to itself.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The paths that lead elsewhere, each with its real path: `None` if that is unknown.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let told = self.leads.iter().map(|(path, real)| (path.as_str(), real.as_deref()));
        told.filter(|(path, real)| *real != Some(*path))
    }

    /// Records that every path a glob names leads to itself.
    fn vouch(&mut self, glob: String) {
        self.leads.insert(glob.clone(), Some(glob));
    }

    /// Records that a word of a command names this program.
    pub(crate) fn own_program(&mut self, word: &str) {
        self.own_programs.insert(word.to_owned());
    }

    /// Whether the call names this program at all.
    pub(crate) fn has_own_programs(&self) -> bool {
        !self.own_programs.is_empty()
    }

    /// Whether [`own_program`](Self::own_program) recorded the word.
    pub(crate) fn is_own_program(&self, word: &str) -> bool {
        self.own_programs.contains(word)
    }

    /// Records what a look below a folder found that fits a pattern.
    fn looked(&mut self, folder: &str, pattern: &PathPattern, found: Option<String>) {
        self.looked.push((folder.to_owned(), pattern.clone(), found));
    }

    /// Whether nothing below an absolute folder fits a pattern.
    pub(crate) fn is_clear(&self, folder: &str, pattern: &PathPattern) -> bool {
        self.looked.iter().any(|(of, fits, found)| of == folder && fits == pattern && found.is_none())
    }

    /// What a look below an absolute folder found: for one pattern, or for any.
    pub(crate) fn found_below(&self, folder: &str, pattern: Option<&PathPattern>) -> Option<&str> {
        for (of, own, found) in &self.looked {
            if found.is_some() && of == folder && pattern.is_none_or(|pattern| pattern == own) {
                return found.as_deref();
            }
        }
        None
    }

    /// Whether [`vouch`](Self::vouch) recorded the glob.
    pub(crate) fn vouches(&self, glob: &str) -> bool {
        matches!(self.leads.get(glob), Some(Some(real)) if real == glob)
    }

    /// The target of a path, without links; `None` if it is unknown, as in a cycle of links or
    /// below a folder that cannot be read.
    pub(crate) fn lead<'a>(&'a self, path: &'a str) -> Option<&'a str> {
        if let Some(real) = self.leads.get(path) { real.as_deref() } else { Some(path) }
    }

    /// The same as a path.
    pub(crate) fn real_path(&self, path: &str) -> Option<LexPath> {
        Some(LexPath::plain(self.lead(path)?))
    }

    /// Where an absolute path leads, if it is known.
    pub(crate) fn follow_path(&self, path: &LexPath) -> Option<LexPath> {
        if path.base == Base::Root { self.real_path(&path.to_string()) } else { None }
    }
}

/// Symbolic links without a disk: for tests, and for evaluating calls of another machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkTable(BTreeMap<String, String>);

impl LinkTable {
    /// A table of links, each an absolute path and its target as written.
    #[must_use]
    pub fn new(links: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(BTreeMap::from_iter(links))
    }
}

impl Disk for LinkTable {
    fn look(&self, path: &str) -> DiskEntry {
        if let Some(target) = self.0.get(path) { DiskEntry::Link(target.clone()) } else { DiskEntry::Other }
    }

    /// The links and the folders that contain them. Nothing else on this disk is a link.
    fn names(&self, folder: &str) -> Option<Vec<String>> {
        let folder = folder.trim_end_matches('/');
        let below = self.0.keys().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        let names = BTreeSet::from_iter(below.filter_map(|rest| rest.split('/').next()));
        Some(names.into_iter().map(str::to_owned).collect())
    }
}

/// Follows every link in an absolute path as the kernel does. The target of a dangling link counts,
/// and segments that do not exist yet are kept. `None` where the result is unknown: more than
/// [`MAX_LINKS`] links, or a part that cannot be examined.
#[must_use]
pub fn follow(path: &str, disk: &dyn Disk) -> Option<String> {
    let mut todo: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    let (mut real, mut links): (Vec<String>, usize) = (Vec::new(), 0);
    while let Some(part) = todo.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                real.pop();
                continue;
            }
            _ => real.push(part),
        }
        match disk.look(&format!("/{}", real.join("/"))) {
            DiskEntry::Other => {}
            DiskEntry::Unknown => return None,
            DiskEntry::Link(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                if target.starts_with('/') {
                    real.clear();
                } else {
                    real.pop();
                }
                todo.extend(target.split('/').rev().map(str::to_owned));
            }
        }
    }
    Some(format!("/{}", real.join("/")))
}
