//! Where skills are searched in a whole project.

use std::ffi::OsStr;

use super::{Limits, Pending, SKIPPED, Search};

/// The maximum number of folders of a project that are searched. Listing one takes 10 to 30 µs, so
/// the search takes under 0.15 s.
const FOLDERS: usize = 5_000;

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
}
