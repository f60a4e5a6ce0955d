//! The state of the search of a root.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::fs::Stamp;
use crate::plugin::Plugin;
use crate::roots::{Root, Style};

/// The search of one root.
pub(super) struct Search<'a> {
    pub(super) number: usize,
    pub(super) root: &'a Root,
    /// Its folder with every link followed.
    pub(super) real: PathBuf,
    /// The folder that its links must not leave.
    pub(super) bound: PathBuf,
    pub(super) queue: VecDeque<Pending>,
    /// The folders that were listed, and whether the next check looks at them in any case.
    pub(super) listed: Vec<(PathBuf, Stamp, bool)>,
    pub(super) folders: usize,
    pub(super) entries: usize,
    pub(super) too_deep: usize,
    /// The folders inside skills that were listed.
    pub(super) inner_folders: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) path: PathBuf,
    pub(super) real: PathBuf,
    pub(super) depth: usize,
    pub(super) outside: bool,
    /// Whether the folder is a link.
    pub(super) linked: bool,
    /// Whether a marketplace names this folder as a plugin.
    pub(super) listed: bool,
    /// Whether it is a folder of skills, or below one.
    pub(super) of_skills: bool,
    /// How many levels it lies below the folder of a skill; 0 outside of skills.
    pub(super) inner: usize,
    pub(super) plugin: Option<Arc<Plugin>>,
}

impl Search<'_> {
    pub(super) fn is_project(&self) -> bool {
        self.root.style == Style::Project
    }

    /// Whether every file of this folder is probably about skills. Elsewhere in a project, only a
    /// file named exactly `SKILL.md` counts, and nothing else is reported.
    pub(super) fn is_about_skills(&self, pending: &Pending) -> bool {
        !self.is_project() || pending.of_skills
    }
}
