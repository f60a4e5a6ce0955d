//! Finds the files: breadth first, in sorted order, within limits.

mod plugins;
mod project;
mod report;
mod search;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::is_skill_md;
use super::fs::{FsEntry, FsError, Kind, SkillFs, Stamp};
use super::plugin::Plugin;
use super::roots::{Root, Scope, Style};
use crate::diagnostic::Diagnostic;
pub(crate) use report::{LINK_AS_TEXT, link_target, place, text_link};
use search::{Pending, Search};

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
    /// The plugin that it is part of.
    pub(crate) plugin: Option<Arc<Plugin>>,
}

/// What a walk found.
pub(crate) struct Walked {
    pub(crate) found: Vec<Found>,
    pub(crate) notes: Vec<Diagnostic>,
    /// The folders that were listed and the manifests that were read, with their stamps before.
    pub(crate) listed: Vec<(PathBuf, Stamp)>,
    /// The roots that did not exist.
    pub(crate) absent: Vec<PathBuf>,
}

pub(crate) fn walk(fs: &dyn SkillFs, roots: &[Root], limits: Limits) -> Walked {
    // One or two of about 100 usual places exist, and a look is cheaper than resolving a path.
    let looks = Vec::from_iter(roots.iter().map(|root| fs.look(&root.path)));
    let mut walk = Walk {
        fs,
        limits,
        places: Vec::new(),
        seen: HashMap::new(),
        found: Vec::new(),
        notes: Vec::new(),
        listed: Vec::new(),
        plugins: HashMap::new(),
        manifest_bytes: 0,
    };
    let mut absent = Vec::new();
    for (root, look) in roots.iter().zip(&looks) {
        if look.is_err() {
            absent.push(root.path.clone());
        } else if root.style != Style::Project
            && let Ok(real) = fs.canonical(&root.path)
        {
            walk.places.push(real);
        }
    }
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
    /// The folders of the roots, except those of whole projects.
    places: Vec<PathBuf>,
    /// The folders that were searched, and for which root.
    seen: HashMap<PathBuf, usize>,
    found: Vec<Found>,
    notes: Vec<Diagnostic>,
    listed: Vec<(PathBuf, Stamp)>,
    /// The folders of plugins by their names.
    plugins: HashMap<String, Vec<PathBuf>>,
    /// The bytes of manifests read so far.
    manifest_bytes: usize,
}

/// The file names of a folder's skill, in the order of preference.
const NAMES: [&str; 2] = ["SKILL.md", "skill.md"];
const SKIPPED: [&str; 2] = [".git", "node_modules"];

impl Walk<'_> {
    fn root(&mut self, number: usize, root: &Root) {
        let path = self.folder_of(&root.path);
        let real = match self.fs.canonical(&path) {
            Ok(real) => real,
            Err(FsError::NotFound) if root.scope != Scope::Explicit => return,
            Err(_) if path.parent().is_some_and(|above| self.is_text_link(above)) => return,
            Err(error) => return self.unreadable(&root.path, &error),
        };
        let bound = root.within.as_ref().and_then(|within| self.fs.canonical(within).ok()).unwrap_or(real.clone());
        if !real.starts_with(&bound) {
            return self.root_leads_out(root, &real);
        }
        if self.is_text_link(&path) {
            return;
        }
        let first = Pending {
            path,
            real: real.clone(),
            depth: 0,
            outside: false,
            linked: false,
            listed: false,
            of_skills: false,
            inner: 0,
            plugin: None,
        };
        let (queue, listed) = (VecDeque::from([first]), Vec::new());
        let (folders, entries, too_deep, inner_folders) = (0, 0, 0, 0);
        let mut search = Search { number, root, real, bound, queue, listed, folders, entries, too_deep, inner_folders };
        let found_before = self.found.len();
        while let Some(pending) = search.queue.pop_front() {
            if !self.folder(&mut search, pending) {
                break;
            }
        }
        self.too_deep(&search);
        let is_project = search.is_project();
        let found = self.found.iter().skip(found_before);
        let parents: BTreeSet<&Path> = found.filter_map(|found| found.file.parent()?.parent()).collect();
        for (path, stamp, always) in search.listed {
            if always || !is_project || parents.contains(path.as_path()) {
                self.listed.push((path, stamp));
            }
        }
    }

    /// Searches a folder. Returns `false` if a limit ends the search of the root.
    fn folder(&mut self, search: &mut Search<'_>, mut pending: Pending) -> bool {
        if pending.inner > 0 {
            self.inner_folder(search, &pending);
            return true;
        }
        if let Some(other) = self.seen.get(&pending.real) {
            if pending.linked || (*other != search.number && !search.is_project()) {
                let message = "this folder was already searched through another root or link";
                self.notes.push(Diagnostic::note("seen-before", place(&pending.path), message));
            }
            return true;
        }
        self.seen.insert(pending.real.clone(), search.number);
        search.folders += usize::from(pending.depth > 0);
        if search.folders > search.most_folders(self.limits) {
            self.exhausted(search, &pending.path, "folders", search.most_folders(self.limits));
            return false;
        }
        // The first folder and those of a marketplace can be plugins with a skill of their own.
        let is_place = pending.depth == 0 || pending.listed;
        if !is_place && self.take(search, &pending, None) {
            self.search_inside(search, &pending, 0);
            return true;
        }
        let before = self.fs.look(&pending.path).map(|look| look.stamp).unwrap_or_default();
        let mut listed = match self.fs.list(&pending.path, self.limits.entries.saturating_sub(search.entries)) {
            Ok(listed) => listed,
            Err(FsError::TooLarge(_)) => {
                self.exhausted(search, &pending.path, "entries", self.limits.entries);
                return false;
            }
            Err(error) => {
                self.unlisted(search, &pending, &error);
                return true;
            }
        };
        search.entries += listed.len();
        listed.sort_by_cached_key(|entry| entry.name.clone());
        if search.is_project() && pending.depth > 0 && !pending.of_skills && has(&listed, ".git") {
            self.other_project(&pending.path);
            return true;
        }
        let is_plugin = self.plugin(search, &mut pending, &listed);
        search.listed.push((pending.path.clone(), before, is_plugin || pending.of_skills));
        let taken = (is_place && self.take(search, &pending, None)) || self.take(search, &pending, Some(&listed));
        if taken && !is_plugin && !(search.is_project() && pending.depth == 0) {
            self.search_inside(search, &pending, 0);
            return true;
        }
        if search.root.style == Style::Cloud {
            self.cloud(&pending, search.number, &listed);
        }
        if search.is_about_skills(&pending) {
            self.near_miss(&pending, &listed);
            self.text_links(&pending.path, &listed);
        }
        for entry in listed {
            if entry.kind != Some(Kind::Folder) || search.skips(&pending, &entry.name) {
                continue;
            }
            if pending.depth == search.most_levels(self.limits) {
                search.too_deep += 1;
                continue;
            }
            let below = self.below(search, &pending, &entry);
            search.queue.extend(below);
        }
        true
    }

    /// A path to the SKILL.md itself refers to its folder.
    fn folder_of(&self, path: &Path) -> PathBuf {
        let named = path.file_name().is_some_and(|n| n.eq_ignore_ascii_case("skill.md"));
        let file = named && self.fs.look(path).is_ok_and(|l| l.kind == Kind::File);
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        if file { parent.unwrap_or(Path::new(".")).to_owned() } else { path.to_owned() }
    }

    fn below(&mut self, search: &Search<'_>, parent: &Pending, entry: &FsEntry) -> Option<Pending> {
        let path = parent.path.join(&entry.name);
        let below = Pending {
            real: parent.real.join(&entry.name),
            path: path.clone(),
            depth: parent.depth + 1,
            linked: entry.link,
            listed: false,
            of_skills: parent.of_skills || project::is_of_skills(&entry.name),
            ..parent.clone()
        };
        if !entry.link {
            // Another root inside a project has a scope and trust of its own.
            let is_root = search.is_project() && self.places.contains(&below.real);
            return (!is_root).then_some(below);
        }
        match self.fs.canonical(&path) {
            Ok(real) => {
                let leads_out = !real.starts_with(&search.bound);
                if !real.starts_with(&search.real) || search.is_project() {
                    if self.is_of_a_root(&real) {
                        let message = "this link leads into another root, where the files are read";
                        self.notes.push(Diagnostic::note("seen-before", place(&path), message));
                        return None;
                    }
                    if leads_out && !search.is_about_skills(&below) {
                        return None;
                    }
                }
                if leads_out && !follows_out(search.root.scope) {
                    self.refuse_link(&path, &real);
                    return None;
                }
                if leads_out && !parent.outside {
                    self.leads_out(&path, &real);
                }
                Some(Pending { real, outside: parent.outside || leads_out, ..below })
            }
            Err(error) => {
                if search.is_about_skills(&below) {
                    self.unreadable(&path, &error);
                }
                None
            }
        }
    }

    fn is_of_a_root(&self, real: &Path) -> bool {
        self.places.iter().any(|place| real.starts_with(place))
    }

    /// Adds the skill of a folder, if it has one. With a listing, any spelling of the file name
    /// counts.
    fn take(&mut self, search: &Search<'_>, pending: &Pending, listing: Option<&[FsEntry]>) -> bool {
        let name = match listing {
            None => Some(OsStr::new("SKILL.md")),
            Some(_) if !search.is_about_skills(pending) => None,
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
                Ok(real) if search.root.within.is_some() && real.starts_with(&search.bound) => {}
                Ok(real) if !follows_out(search.root.scope) && !self.is_of_a_root(&real) => {
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
            root: search.number,
            outside,
            stamp: look.stamp,
            cloud: false,
            plugin: pending.plugin.clone(),
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
                    plugin: None,
                }),
                Err(error) => self.unreadable(&file, &error),
            }
        }
    }
}

/// Whether a listing contains a name.
fn has(listed: &[FsEntry], name: &str) -> bool {
    listed.iter().any(|entry| entry.name == name)
}

/// Whether a link may lead out of a root of this scope. An agent can write into a project and into
/// folders given by the user: a link there could expose the files beside its target.
fn follows_out(scope: Scope) -> bool {
    matches!(scope, Scope::User | Scope::System | Scope::Builtin)
}
