//! Finds the files: breadth first, in sorted order, within limits.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::folder::is_skill_md;
use super::fs::{FsEntry, FsError, Kind, SkillFs, Stamp};
use super::roots::{Root, Scope, Style};
use crate::diagnostic::{Diagnostic, Place};

/// The limits of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum depth of a skill's folder below the root.
    pub depth: usize,
    /// The maximum number of folders read, not counting roots.
    pub folders: usize,
    /// The maximum number of folder entries read.
    pub entries: usize,
    /// The maximum number of bytes of skill files per root.
    pub root_bytes: u64,
    /// The maximum number of bytes of skill files over all roots.
    pub bytes: u64,
}

impl Default for Limits {
    /// Depth 6, 20,000 folders, 200,000 entries, 256 MiB per root and in total.
    fn default() -> Self {
        Self { depth: 6, folders: 20_000, entries: 200_000, root_bytes: 256 << 20, bytes: 256 << 20 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The file as the root names it.
    pub(crate) file: PathBuf,
    /// Its folder with every link followed, if it can be resolved.
    pub(crate) folder: PathBuf,
    pub(crate) root: usize,
    /// Whether a link leads out of the root.
    pub(crate) outside: bool,
    pub(crate) stamp: Stamp,
    /// Whether it is an old cloud skill rather than a `SKILL.md`.
    pub(crate) cloud: bool,
    /// Whether the standard allows the file's name.
    pub(crate) standard_name: bool,
}

/// What a walk found.
pub(crate) struct Walked {
    pub(crate) found: Vec<Found>,
    pub(crate) notes: Vec<Diagnostic>,
    /// The folders that were listed, with their stamps before.
    pub(crate) listed: Vec<(PathBuf, Stamp)>,
    /// The roots that did not exist.
    pub(crate) absent: Vec<PathBuf>,
}

pub(crate) fn walk(fs: &dyn SkillFs, roots: &[Root], limits: Limits) -> Walked {
    // One or two of about 100 usual places exist, and a look is cheaper than resolving a path.
    let looks = Vec::from_iter(roots.iter().map(|root| fs.look(&root.path)));
    let (mut places, mut absent) = (Vec::new(), Vec::new());
    for (root, look) in roots.iter().zip(&looks) {
        if look.is_err() {
            absent.push(root.path.clone());
        } else if let Ok(real) = fs.canonical(&root.path) {
            places.push(real);
        }
    }
    let (seen, found, notes, listed) = (HashSet::new(), Vec::new(), Vec::new(), Vec::new());
    let mut walk = Walk { fs, limits, places, seen, found, notes, listed };
    for (number, (root, look)) in roots.iter().zip(&looks).enumerate() {
        if look != &Err(FsError::NotFound) || root.scope == Scope::Explicit {
            walk.root(number, root);
        }
    }
    Walked { found: walk.found, notes: walk.notes, listed: walk.listed, absent }
}

struct Walk<'a> {
    fs: &'a dyn SkillFs,
    limits: Limits,
    places: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    found: Vec<Found>,
    notes: Vec<Diagnostic>,
    listed: Vec<(PathBuf, Stamp)>,
}

struct Pending {
    path: PathBuf,
    real: PathBuf,
    depth: usize,
    outside: bool,
}

/// The file names of a folder's skill, in the order of preference.
const NAMES: [&str; 2] = ["SKILL.md", "skill.md"];
/// The maximum number of skill folders per root that are searched for nested skills.
const NESTED_FOLDERS: usize = 400;
const SKIPPED: [&str; 2] = [".git", "node_modules"];

impl Walk<'_> {
    fn root(&mut self, number: usize, root: &Root) {
        let path = self.folder_of(&root.path);
        let real = match self.fs.canonical(&path) {
            Ok(real) => real,
            Err(FsError::NotFound) if root.scope != Scope::Explicit => return,
            Err(error) => return self.unreadable(&root.path, &error),
        };
        let mut queue = VecDeque::new();
        queue.push_back(Pending { path, real: real.clone(), depth: 0, outside: false });
        let mut skills: Vec<Pending> = Vec::new();
        let (mut folders, mut entries, mut too_deep) = (0, 0, 0_usize);
        while let Some(pending) = queue.pop_front() {
            if !self.seen.insert(pending.real.clone()) {
                let message = "this folder was already searched through another root or link";
                self.notes.push(Diagnostic::note("seen-before", place(&pending.path), message));
                continue;
            }
            if pending.depth > 0 {
                folders += 1;
            }
            if folders > self.limits.folders {
                return self.exhausted(&pending.path, "folders", self.limits.folders);
            }
            if self.take(&pending, number, root.scope, None) {
                skills.push(pending);
                continue;
            }
            let before = self.fs.look(&pending.path).map(|look| look.stamp).unwrap_or_default();
            self.listed.push((pending.path.clone(), before));
            let listed = match self.fs.list(&pending.path, self.limits.entries.saturating_sub(entries)) {
                Ok(listed) => listed,
                Err(FsError::TooLarge(_)) => return self.exhausted(&pending.path, "entries", self.limits.entries),
                Err(error) => {
                    self.unreadable(&pending.path, &error);
                    continue;
                }
            };
            entries += listed.len();
            let mut listed = listed;
            listed.sort_by(|a, b| a.name.cmp(&b.name));
            if self.take(&pending, number, root.scope, Some(&listed)) {
                skills.push(pending);
                continue;
            }
            if root.style == Style::Cloud {
                self.cloud(&pending, number, &listed);
            }
            self.near_miss(&pending, &listed);
            for entry in listed {
                if entry.kind != Some(Kind::Folder) || SKIPPED.iter().any(|s| entry.name == *s) {
                    continue;
                }
                if pending.depth == self.limits.depth {
                    too_deep += 1;
                    continue;
                }
                queue.extend(self.below(&pending, &entry, &real, root.scope));
            }
        }
        if too_deep > 0 {
            let (folders, were) = match too_deep {
                1 => ("1 folder lies".to_owned(), "was"),
                n => (format!("{n} folders lie"), "were"),
            };
            let message = format!("{folders} deeper than {} levels and {were} not read", self.limits.depth);
            let note = Diagnostic::warning("too-deep", place(&root.path), message);
            self.notes.push(note.help("name the deeper folder as a root, or let more levels be read (`skills.depth`)"));
        }
        self.nested(&skills);
    }

    /// A path to the SKILL.md itself refers to its folder.
    fn folder_of(&self, path: &Path) -> PathBuf {
        let named = path.file_name().is_some_and(|n| n.eq_ignore_ascii_case("skill.md"));
        let file = named && self.fs.look(path).is_ok_and(|l| l.kind == Kind::File);
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        if file { parent.unwrap_or(Path::new(".")).to_owned() } else { path.to_owned() }
    }

    /// Reports skills inside the folders of skills, up to two levels deep, which count as files of
    /// the outer skill. For information only, so it reads at most [`NESTED_FOLDERS`] folders.
    fn nested(&mut self, skills: &[Pending]) {
        let (mut budget, mut looks) = (self.limits.entries, 0);
        let mut queue: VecDeque<(PathBuf, usize)> = skills.iter().map(|s| (s.path.clone(), 0)).collect();
        while let Some((folder, depth)) = queue.pop_front()
            && looks < NESTED_FOLDERS
        {
            looks += 1;
            let Ok(mut listed) = self.fs.list(&folder, budget) else { continue };
            budget = budget.saturating_sub(listed.len());
            listed.retain(|e| e.kind == Some(Kind::Folder) && !e.link && !SKIPPED.iter().any(|s| e.name == *s));
            listed.sort_by(|a, b| a.name.cmp(&b.name));
            for entry in listed {
                let below = folder.join(&entry.name);
                let file = below.join("SKILL.md");
                if self.fs.look(&file).is_ok() {
                    let message = "this lies inside another skill's folder and counts as one of its files";
                    let note = Diagnostic::note("nested", place(&file), message);
                    self.notes.push(note.help("to load it, move its folder out, or name it as a root"));
                } else if depth == 0 {
                    queue.push_back((below, 1));
                }
            }
        }
    }

    fn below(&mut self, parent: &Pending, entry: &FsEntry, root: &Path, scope: Scope) -> Option<Pending> {
        let path = parent.path.join(&entry.name);
        if !entry.link {
            let real = parent.real.join(&entry.name);
            return Some(Pending { path, real, depth: parent.depth + 1, outside: parent.outside });
        }
        match self.fs.canonical(&path) {
            Ok(real) => {
                let leads_out = !real.starts_with(root);
                if leads_out && self.is_of_a_root(&real) {
                    let message = "this link leads into another root, where the files are read";
                    self.notes.push(Diagnostic::note("seen-before", place(&path), message));
                    return None;
                }
                if leads_out && !follows_out(scope) {
                    self.refuse_link(&path, &real);
                    return None;
                }
                if leads_out && !parent.outside {
                    self.leads_out(&path, &real);
                }
                let outside = parent.outside || leads_out;
                Some(Pending { path, real, depth: parent.depth + 1, outside })
            }
            Err(error) => {
                self.unreadable(&path, &error);
                None
            }
        }
    }

    fn is_of_a_root(&self, real: &Path) -> bool {
        self.places.iter().any(|place| real.starts_with(place))
    }

    /// Adds the skill of a folder, if it has one. With a listing, any spelling of the file name
    /// counts.
    fn take(&mut self, pending: &Pending, root: usize, scope: Scope, listing: Option<&[FsEntry]>) -> bool {
        let name = match listing {
            None => Some(OsStr::new("SKILL.md")),
            Some(entries) => {
                let lower = entries.iter().find(|entry| entry.name == "skill.md");
                let any = entries.iter().find(|entry| is_skill_md(&entry.name));
                lower.or(any).map(|entry| entry.name.as_os_str())
            }
        };
        let Some(name) = name else { return false };
        let file = pending.path.join(name);
        let look = match self.fs.look(&file) {
            Ok(look) => look,
            Err(FsError::NotFound) if listing.is_none() => return false,
            Err(error) => {
                self.unreadable(&file, &error);
                return true;
            }
        };
        if look.kind == Kind::Folder && listing.is_none() {
            return false;
        }
        if look.kind != Kind::File {
            let note = Diagnostic::error("not-a-file", place(&file), "not a regular file, so it was not opened");
            self.notes.push(note.help("replace it with a text file"));
            return true;
        }
        let mut outside = pending.outside;
        if look.link {
            match self.fs.canonical(&file) {
                Ok(real) if real.starts_with(&pending.real) => {}
                Ok(real) if !follows_out(scope) && !self.is_of_a_root(&real) => {
                    self.refuse_link(&file, &real);
                    return true;
                }
                Ok(real) => {
                    outside = true;
                    self.leads_out(&file, &real);
                }
                Err(error) => {
                    self.unreadable(&file, &error);
                    return true;
                }
            }
        }
        self.found.push(Found {
            standard_name: NAMES.iter().any(|n| name == *n),
            file,
            folder: pending.real.clone(),
            root,
            outside,
            stamp: look.stamp,
            cloud: false,
        });
        true
    }

    fn cloud(&mut self, pending: &Pending, root: usize, listing: &[FsEntry]) {
        for entry in listing {
            let json = Path::new(&entry.name).extension().is_some_and(|e| e == "json");
            if !json || entry.kind != Some(Kind::File) || entry.link {
                continue;
            }
            let file = pending.path.join(&entry.name);
            match self.fs.look(&file) {
                Ok(look) => self.found.push(Found {
                    file,
                    folder: pending.real.clone(),
                    root,
                    outside: pending.outside,
                    stamp: look.stamp,
                    cloud: true,
                    standard_name: true,
                }),
                Err(error) => self.unreadable(&file, &error),
            }
        }
    }

    /// Reports a file that was probably intended as a `SKILL.md`.
    fn near_miss(&mut self, pending: &Pending, listing: &[FsEntry]) {
        let near = ["skill", "skills", "skill.markdown", "skill.txt", "skills.md", "skill.mdx", "skill.md.txt"];
        let meant = listing
            .iter()
            .find(|e| e.kind == Some(Kind::File) && near.contains(&e.name.to_string_lossy().to_lowercase().as_str()));
        if let Some(entry) = meant {
            let file = pending.path.join(&entry.name);
            let message = "this looks like a skill but is not named `SKILL.md`";
            self.notes.push(Diagnostic::warning("file-name", place(&file), message).help("rename it to `SKILL.md`"));
        }
    }

    fn unreadable(&mut self, path: &Path, error: &FsError) {
        let note = Diagnostic::warning("unreadable", place(path), format!("cannot be read: {error}"));
        self.notes.push(note.help("the other entries were read; fix the file's permissions or remove it"));
    }

    fn refuse_link(&mut self, path: &Path, real: &Path) {
        let message = format!("this link leads out of its root, to `{}`: it was not followed", real.display());
        let note = Diagnostic::error("link-outside", place(path), message);
        self.notes.push(note.help("replace the link by a copy of its target, or add the target as a root"));
    }

    fn leads_out(&mut self, path: &Path, real: &Path) {
        let message = format!("this link leads out of its root, to `{}`; its files are not trusted", real.display());
        self.notes.push(Diagnostic::warning("link-outside", place(path), message).help("add the target as a root"));
    }

    fn exhausted(&mut self, path: &Path, what: &str, most: usize) {
        let message =
            format!("more than {most} {what} under this root: reading stopped here, and later entries were not read");
        let note = Diagnostic::error("too-many", place(path), message);
        let help = format!("add the folders with skills as roots, or raise the limit (`skills.{what}`)");
        self.notes.push(note.help(help));
    }
}

/// Whether a link may lead out of a root of this scope. An agent can write into a project and into
/// folders given by the user: a link there could expose the files beside its target.
fn follows_out(scope: Scope) -> bool {
    matches!(scope, Scope::User | Scope::System | Scope::Builtin)
}

pub(crate) fn place(path: &Path) -> Place {
    Place::file(&path.to_string_lossy())
}
