//! Where paths lead: symbolic links as facts that the host gives.
//!
//! The layer sees no disk. Before it decides, a host that can look gives a [`Disk`], and
//! [`Policy::links`](super::Policy::links) asks it about every path that the call and the rules name. What comes back
//! is data: with the same call, facts and [`Links`] every decision comes out the same, on any machine.
//!
//! An allow must fit the path as written *and* the place it leads to; a deny, an ask and the floor look at either.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::call_context::CallContext;
use super::context::{Context, PolicyCall};
use super::path::{Base, LexPath};
use super::policy_set::Policy;

pub(super) mod commands;
mod globs;

/// The most links that are followed for one path: as many as Linux follows (`MAXSYMLINKS`, path_resolution(7)).
pub const MAX_LINKS: usize = 40;

/// What a host can tell of its disk.
pub trait Disk: Send + Sync {
    /// What stands at an absolute path whose folders are no links.
    fn look(&self, path: &str) -> DiskEntry;

    /// The names in a folder whose path has no links, in any order: for globs. Empty if it is no folder, or not there.
    /// `None`: they cannot be listed, as where a host does not say.
    fn names(&self, folder: &str) -> Option<Vec<String>> {
        let _ = folder;
        None
    }
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskEntry {
    /// A symbolic link, with its target as it is written.
    Link(String),
    /// Anything else, or nothing yet.
    Other,
    /// It cannot be looked at.
    Unknown,
}

/// Where paths lead, as far as that is elsewhere than they say. A path that is not here leads where it says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Links(BTreeMap<String, Option<String>>);

/// Where one path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lead<'a> {
    /// To this path, without links in it.
    To(&'a str),
    /// Nobody knows: links in a circle, or a folder that may not be read.
    Nobody,
}

impl Links {
    /// Notes where an absolute path leads. `None`: nobody knows.
    pub fn insert(&mut self, path: &str, leads_to: Option<String>) {
        if leads_to.as_deref() != Some(LexPath::plain(path).to_string().as_str()) {
            self.0.insert(path.to_owned(), leads_to);
        }
    }

    /// Whether every path leads where it says.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The paths that lead elsewhere, each with where: `None` if nobody knows.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let told = self.0.iter().map(|(path, real)| (path.as_str(), real.as_deref()));
        told.filter(|(path, real)| *real != Some(*path))
    }

    /// Notes that everything a glob names leads where it says.
    fn vouch(&mut self, glob: String) {
        self.0.insert(glob.clone(), Some(glob));
    }

    /// Whether that was noted.
    pub(crate) fn vouches(&self, glob: &str) -> bool {
        self.0.get(glob).is_some_and(|real| real.as_deref() == Some(glob))
    }

    pub(crate) fn lead<'a>(&'a self, path: &'a str) -> Lead<'a> {
        match self.0.get(path) {
            None => Lead::To(path),
            Some(Some(real)) => Lead::To(real),
            Some(None) => Lead::Nobody,
        }
    }

    /// Where an absolute path leads, if it is known.
    pub(crate) fn follow_path(&self, path: &LexPath) -> Option<LexPath> {
        match self.lead(&path.to_string()) {
            Lead::To(real) if path.base == Base::Root => Some(LexPath::plain(real)),
            _ => None,
        }
    }
}

/// Symbolic links without a disk: for tests, and for judging calls of another machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkTable(BTreeMap<String, String>);

impl LinkTable {
    /// A table of links, each an absolute path and the target as it is written.
    #[must_use]
    pub fn new(links: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(links.into_iter().collect())
    }
}

impl Disk for LinkTable {
    fn look(&self, path: &str) -> DiskEntry {
        self.0.get(path).map_or(DiskEntry::Other, |target| DiskEntry::Link(target.clone()))
    }

    /// The links, and the folders on the way to them: nothing else on this disk leads anywhere.
    fn names(&self, folder: &str) -> Option<Vec<String>> {
        let behind = |path: &String| {
            let rest = path.strip_prefix(folder.trim_end_matches('/'))?.strip_prefix('/')?;
            rest.split('/').next().map(str::to_owned)
        };
        let names: BTreeSet<String> = self.0.keys().filter_map(behind).collect();
        Some(names.into_iter().collect())
    }
}

/// Follows every link on the way of an absolute path, as the kernel does: the target of a link that leads nowhere
/// counts, and what does not exist yet is kept. `None` where nobody knows: more than [`MAX_LINKS`] links, or a part
/// that cannot be looked at.
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

impl Policy {
    /// Looks up where everything leads that a decision on this call depends on: the files it names, the fronts of the
    /// rules' patterns, the working folder, and what no call may write. To be put into [`Context::links`].
    #[must_use]
    pub fn links(&self, call: &PolicyCall<'_>, context: &Context, disk: &dyn Disk) -> Links {
        let cx = CallContext::new(call, context, self.capability(call, context));
        let mut spots = LexPath::here().spots(context);
        for path in cx.effects.files.iter().filter_map(|file| file.path.as_ref()) {
            spots.extend(path.meanings().flat_map(|meaning| meaning.spots(context)));
        }
        if !cx.effects.files.is_empty() {
            spots.extend(
                self.rules().filter_map(|rule| rule.path.as_ref()).flat_map(|(pattern, _)| pattern.spots(context)),
            );
            spots.extend(context.protected.iter().flat_map(|path| LexPath::read(path).spots(context)));
        }
        let mut links = Links::default();
        for spot in spots {
            let real = follow(&spot, disk);
            links.insert(&spot, real);
        }
        // Globs are looked up only where a rule may turn on what they name.
        if self.rules().any(|rule| rule.path.is_some()) {
            for path in cx.effects.files.iter().filter_map(|file| file.path.as_ref()) {
                let Some((glob, tail)) = path.glob_spot(context) else { continue };
                let folder = follow(&path.absolute(context).to_string(), disk);
                if folder.is_some_and(|folder| globs::leads_where_it_says(&folder, tail, disk)) {
                    links.vouch(glob);
                }
            }
        }
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_as_the_kernel_does() {
        let table = [
            ("/w/etc", "/etc"),
            ("/w/up", ".."),
            ("/w/deep", "a/b/../c"),
            ("/w/gone", "/nowhere/at/all"),
            ("/w/one", "two"),
            ("/w/two", "one"),
            ("/w/self", "self/x"),
            ("/etc/alt", "../opt"),
        ];
        let disk = LinkTable::new(table.map(|(path, target)| (path.to_owned(), target.to_owned())));
        for (path, real) in [
            ("/w/a", Some("/w/a")),
            ("/w/etc", Some("/etc")),
            ("/w/etc/passwd", Some("/etc/passwd")),
            ("/w/etc/../x", Some("/x")),
            ("/w/up/x", Some("/x")),
            ("/w/deep/x", Some("/w/a/c/x")),
            ("/w/gone", Some("/nowhere/at/all")),
            ("/w/gone/x", Some("/nowhere/at/all/x")),
            ("/w/etc/alt/x", Some("/opt/x")),
            ("/w/one/x", None),
            ("/w/self", None),
            ("/../..", Some("/")),
        ] {
            assert_eq!(follow(path, &disk).as_deref(), real, "{path}");
        }
    }
}
