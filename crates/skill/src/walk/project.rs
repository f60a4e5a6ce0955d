//! Where skills are searched in a whole project, and inside the folders of skills.

use std::ffi::OsStr;

use super::{Limits, Pending, SKIPPED, Search, Walk};
use crate::fs::Kind;

/// The maximum number of folders of a project that are searched. Listing one takes 10 to 30 µs, so
/// the search takes under 0.3 s.
const FOLDERS: usize = 10_000;
/// How many levels more than under another root are searched in a project, whose plugins and
/// packages have folders of their own.
const MORE_LEVELS: usize = 4;

/// How many levels below the folder of a skill are searched for further skills, the maximum number
/// of folders that are listed for it, and of entries of each.
const INNER_LEVELS: usize = 2;
const INNER_FOLDERS: usize = 5_000;
const INNER_ENTRIES: usize = 1_000;
/// The folders that the standard gives to the files of a skill.
const OF_ONE_SKILL: [&str; 3] = ["assets", "references", "scripts"];

/// Folders of a project that contain no skills of the project, outside folders of skills: output
/// and dependencies, then tests and templates.
const NOT_SEARCHED: [&str; 30] = [
    "_build",
    "bower_components",
    "build",
    "dist",
    "out",
    "pods",
    "site-packages",
    "target",
    "third_party",
    "vendor",
    "venv",
    ".cache",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".pytest_cache",
    ".tox",
    ".venv",
    "__pycache__",
    "__fixtures__",
    "__tests__",
    "e2e",
    "fixture",
    "fixtures",
    "spec",
    "template",
    "templates",
    "test",
    "testdata",
    "tests",
];

/// Whether a folder with this name contains skills.
pub(super) fn is_of_skills(name: &OsStr) -> bool {
    name == "skills" || name == "skill"
}

impl Search<'_> {
    /// Whether a folder is not searched because of its name.
    pub(super) fn skips(&self, parent: &Pending, name: &OsStr) -> bool {
        let lower = name.to_ascii_lowercase();
        SKIPPED.iter().any(|skipped| name == *skipped)
            || (!self.is_about_skills(parent) && NOT_SEARCHED.iter().any(|skipped| lower == *skipped))
    }

    pub(super) fn most_folders(&self, limits: Limits) -> usize {
        if self.is_project() { limits.folders.min(FOLDERS) } else { limits.folders }
    }

    pub(super) fn most_levels(&self, limits: Limits) -> usize {
        if self.is_project() { limits.depth.saturating_add(MORE_LEVELS) } else { limits.depth }
    }
}

impl Walk<'_> {
    /// Searches a folder inside that of a skill, which can contain more skills.
    pub(super) fn inner_folder(&mut self, search: &mut Search<'_>, pending: &Pending) {
        if self.seen.insert(pending.real.clone(), search.number).is_some() {
            return;
        }
        let level = if self.take(search, pending, None) { 0 } else { pending.inner };
        self.search_inside(search, pending, level);
    }

    /// Queues the folders inside a skill, `level` levels below it.
    pub(super) fn search_inside(&mut self, search: &mut Search<'_>, pending: &Pending, level: usize) {
        if level == INNER_LEVELS || search.inner_folders == INNER_FOLDERS {
            return;
        }
        search.inner_folders += 1;
        let mut listed = self.fs.list(&pending.path, INNER_ENTRIES).unwrap_or_default();
        listed.retain(|entry| entry.kind == Some(Kind::Folder) && !entry.link);
        listed.sort_by_cached_key(|entry| entry.name.clone());
        for entry in listed {
            let lower = entry.name.to_ascii_lowercase();
            let mut skipped = SKIPPED.iter().chain(&OF_ONE_SKILL).chain(&NOT_SEARCHED);
            let (path, real) = (pending.path.join(&entry.name), pending.real.join(&entry.name));
            if !skipped.any(|name| lower == *name) && !self.places.contains(&real) {
                let linked = false;
                search.queue.push_back(Pending { path, real, inner: level + 1, linked, ..pending.clone() });
            }
        }
    }
}
