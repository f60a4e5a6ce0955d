//! What a walk reports about folders and links.

use std::path::Path;

use super::{Pending, Search, Walk};
use crate::diagnostic::{Diagnostic, Place};
use crate::fs::{FsEntry, FsError, Kind, Look};
use crate::roots::Root;

/// The maximum length of a file that can be the text of a link, in bytes: longer than any path in a
/// repository.
const MAX_LINK: usize = 512;
/// The maximum number of files of a folder that can be the text of a link.
const TEXT_FILES: usize = 20;

impl Walk<'_> {
    /// Reports a file that was probably intended as a `SKILL.md`.
    pub(super) fn near_miss(&mut self, pending: &Pending, listing: &[FsEntry]) {
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

    /// Names the files of a folder of skills that contain the text of a link.
    pub(super) fn text_links(&mut self, folder: &Path, listing: &[FsEntry]) {
        let files = listing.iter().filter(|entry| entry.kind == Some(Kind::File) && !entry.link);
        for entry in files.filter(|entry| Path::new(&entry.name).extension().is_none()).take(TEXT_FILES) {
            self.is_text_link(&folder.join(&entry.name));
        }
    }

    /// Whether a file contains the text of a link. It is then reported, once.
    pub(super) fn is_text_link(&mut self, path: &Path) -> bool {
        let is_short = |look: Look| look.kind == Kind::File && look.stamp.length <= MAX_LINK as u64;
        if !self.fs.look(path).is_ok_and(is_short) {
            return false;
        }
        let bytes = self.fs.read(path, MAX_LINK).map(|(bytes, _)| bytes).unwrap_or_default();
        let note = link_target(&bytes).map(|target| text_link(path, &target));
        let is_link = note.is_some();
        self.notes.extend(note.filter(|note| !self.notes.contains(note)));
        is_link
    }

    pub(super) fn unreadable(&mut self, path: &Path, error: &FsError) {
        let note = Diagnostic::warning("unreadable", place(path), format!("cannot be read: {error}"));
        self.notes.push(note.help("the other entries were read; fix the file's permissions or remove it"));
    }

    /// Reports a folder that cannot be listed. In a project, other programs lock folders that have
    /// nothing to do with skills.
    pub(super) fn unlisted(&mut self, search: &Search<'_>, pending: &Pending, error: &FsError) {
        if search.is_about_skills(pending) {
            return self.unreadable(&pending.path, error);
        }
        let note = Diagnostic::note("not-searched", place(&pending.path), format!("not searched for skills: {error}"));
        self.notes.push(note.help("if it contains skills, fix its permissions"));
    }

    pub(super) fn other_project(&mut self, path: &Path) {
        let message = "not searched for skills: it is a project of its own, with a `.git`";
        let note = Diagnostic::note("not-searched", place(path), message);
        self.notes.push(note.help("to load its skills, name the folder as a root"));
    }

    pub(super) fn refuse_link(&mut self, path: &Path, real: &Path) {
        let message = format!("this link leads out of its root, to `{}`: it was not followed", real.display());
        let note = Diagnostic::error("link-outside", place(path), message);
        self.notes.push(note.help("replace the link by a copy of its target, or add the target as a root"));
    }

    /// Reports a root that a link leads out of its project: the root itself or a folder above it.
    pub(super) fn root_leads_out(&mut self, root: &Root, real: &Path) {
        if self.is_of_a_root(real) && self.places.iter().filter(|place| real.starts_with(place)).count() > 1 {
            let message = "this link leads into another root, where the files are read";
            self.notes.push(Diagnostic::note("seen-before", place(&root.path), message));
            return;
        }
        let within = root.within.as_deref().unwrap_or(&root.path);
        let above = root.path.ancestors().take_while(|path| *path != within);
        let link = above.filter(|path| self.fs.look(path).is_ok_and(|look| look.link)).last();
        let message = format!("this link leads out of the project, to `{}`: it was not followed", real.display());
        let note = Diagnostic::error("link-outside", place(link.unwrap_or(&root.path)), message);
        self.notes.push(note.help("replace the link by a copy of its target, or add the target as a root"));
    }

    pub(super) fn leads_out(&mut self, path: &Path, real: &Path) {
        let message = format!("this link leads out of its root, to `{}`; its files are not trusted", real.display());
        self.notes.push(Diagnostic::warning("link-outside", place(path), message).help("add the target as a root"));
    }

    pub(super) fn too_deep(&mut self, search: &Search<'_>) {
        // Nearly every project has deeper folders without skills.
        if search.too_deep == 0 || search.is_project() {
            return;
        }
        let (folders, were) = match search.too_deep {
            1 => ("1 folder lies".to_owned(), "was"),
            n => (format!("{n} folders lie"), "were"),
        };
        let message = format!("{folders} deeper than {} levels and {were} not read", self.limits.depth);
        let note = Diagnostic::warning("too-deep", place(&search.root.path), message);
        self.notes.push(note.help("name the deeper folder as a root, or let more levels be read (`skills.depth`)"));
    }

    pub(super) fn exhausted(&mut self, search: &Search<'_>, path: &Path, what: &str, most: usize) {
        let (code, whose) = match search.is_project() {
            // The far folders of a large project seldom have skills: only `doctor` reports it.
            true => ("large-project", "in this project: the search for skills outside the usual places stopped here"),
            false => ("too-many", "under this root: reading stopped here, and later entries were not read"),
        };
        let message = format!("more than {most} {what} {whose}");
        let note = match search.is_project() {
            true => Diagnostic::warning(code, place(path), message),
            false => Diagnostic::error(code, place(path), message),
        };
        let help = match search.is_project() {
            true => "add the folders with skills as roots (`skills.roots`)".to_owned(),
            false => format!("add the folders with skills as roots, or raise the limit (`skills.{what}`)"),
        };
        self.notes.push(note.help(help));
    }
}

/// The code of files that contain the text of a link.
pub(crate) const LINK_AS_TEXT: &str = "link-as-text";

/// The diagnostic of a file that contains the text of a link.
pub(crate) fn text_link(file: &Path, target: &str) -> Diagnostic {
    let message = format!("this file contains the text of a link, `{target}`, and no skill");
    let help = "git writes links as text where it may not create them, as on Windows: set `core.symlinks` to true and \
                check the file out again, or replace it by a copy of its target";
    Diagnostic::error(LINK_AS_TEXT, place(file), message).help(help)
}

/// The target of a link, if the bytes of a file are only that: a relative path on one line.
pub(crate) fn link_target(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_LINK)?;
    let line = text.strip_suffix('\n').unwrap_or(text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    let is_path = line.starts_with("./") || line.starts_with("../");
    (is_path && !line.contains(char::is_control)).then(|| line.to_owned())
}

pub(crate) fn place(path: &Path) -> Place {
    Place::file(&path.to_string_lossy())
}
