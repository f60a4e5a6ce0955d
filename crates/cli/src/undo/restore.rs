//! Putting back what was there before a call: what would be done, and doing it.
//!
//! Nothing is written through a link. A file is written beside its place and renamed, so that a crash leaves the old or
//! the new one; undoing again then finishes the rest.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it writes the files that a call wrote")]

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::folder::{Folder, Snapshot};
use super::objects::{private, sync_folder};
use super::scan::{Contents, Found, Tree, UNFINISHED, in_place, scan, visible_path};

/// What is done with one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Did {
    /// It was there, and is what it was before.
    Restored,
    /// It was gone, and is there again.
    BroughtBack,
    /// It was not there before, and is gone.
    Removed,
}

/// One path to put back.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Step {
    pub(super) path: String,
    pub(super) did: Did,
    /// What it becomes.
    #[serde(skip)]
    to: Option<Found>,
}

/// How what is there now compares with what the call left.
#[derive(Debug)]
pub(super) struct Plan {
    /// What is to be put back, in order.
    pub(super) steps: Vec<Step>,
    /// The paths that are neither as the call left them nor as before.
    pub(super) changed: Vec<String>,
    /// Whether it is known what the call left.
    pub(super) reported: bool,
}

/// Compares. An error where what is there cannot be read, or lies behind a link that was not there before.
pub(super) fn plan(folder: &Folder, snapshot: &Snapshot) -> std::result::Result<Plan, String> {
    let roots = in_place(&snapshot.roots)?;
    if let Some((lost, _)) = snapshot.contents().find(|(sha256, _)| !folder.objects.has_content(sha256)) {
        return Err(format!("its copy {lost} is gone"));
    }
    let (now, _) = scan(&roots, u64::MAX, Contents::Hash)?;
    let (before, left) = (&snapshot.before, snapshot.left());
    let paths: BTreeSet<&String> = before.keys().chain(now.keys()).chain(left.iter().flat_map(|t| t.keys())).collect();
    let (mut differing, mut changed) = (Vec::new(), Vec::new());
    for path in paths {
        let (old, new) = (before.get(path), now.get(path));
        if old == new {
            continue;
        }
        if left.is_some_and(|left| left.get(path) != new) {
            changed.push(path.clone());
        }
        differing.push(path.clone());
    }
    Ok(Plan { steps: ordered(before, &now, &differing), changed, reported: left.is_some() })
}

/// What is in the way goes first, the deepest first; then folders, the topmost first; then what is in them.
fn ordered(before: &Tree, now: &Tree, differing: &[String]) -> Vec<Step> {
    let is_folder = |found: Option<&Found>| matches!(found, Some(Found::Folder { .. }));
    let mut steps = Vec::new();
    for path in differing.iter().rev() {
        let (old, new) = (before.get(path), now.get(path));
        if new.is_some() && old.is_none() {
            steps.push(Step { path: path.clone(), did: Did::Removed, to: None });
        } else if new.is_some() && is_folder(old) != is_folder(new) {
            // Something else takes its place.
            steps.push(Step { path: path.clone(), did: Did::Restored, to: None });
        }
    }
    let back = |path: &&String, folders: bool| before.get(*path).is_some_and(|old| is_folder(Some(old)) == folders);
    for folders in [true, false] {
        for path in differing.iter().filter(|path| back(path, folders)) {
            let did = if now.contains_key(path) { Did::Restored } else { Did::BroughtBack };
            steps.push(Step { path: path.clone(), did, to: before.get(path).cloned() });
        }
    }
    steps
}

/// Does the steps. Stops at the first that fails, with the number of those that were done.
pub(super) fn apply(folder: &Folder, snapshot: &Snapshot, steps: &[Step]) -> std::result::Result<(), (usize, String)> {
    for (at, step) in steps.iter().enumerate() {
        let failed = |why: String| (at, format!("`{}` cannot be put back: {why}", visible_path(Path::new(&step.path))));
        let path = Path::new(&step.path);
        let parent = path.parent().unwrap_or(Path::new("/"));
        // Only where a person forced it: the folder went, too.
        if !parent.exists() && step.to.is_some() {
            std::fs::create_dir_all(parent).map_err(|why| failed(why.to_string()))?;
        }
        // A link that was put there since the comparison leads nowhere either.
        if std::fs::canonicalize(parent).map_err(|why| failed(why.to_string()))? != parent {
            return Err(failed("a folder on the way is a symbolic link now".to_owned()));
        }
        restore_path(folder, path, parent, step.to.as_ref()).map_err(|why| failed(why.to_string()))?;
    }
    // Folders that the call made on the way, unless something else is in them.
    for made in snapshot.missing.iter().rev().map(Path::new) {
        if made.parent().is_some_and(|parent| std::fs::canonicalize(parent).is_ok_and(|real| real == parent)) {
            drop(std::fs::remove_dir(made));
        }
    }
    Ok(())
}

fn restore_path(folder: &Folder, path: &Path, parent: &Path, to: Option<&Found>) -> Result<()> {
    let there = std::fs::symlink_metadata(path).ok();
    match to {
        None => match there {
            None => {}
            Some(found) if found.is_dir() => std::fs::remove_dir(path)?,
            Some(_) => std::fs::remove_file(path)?,
        },
        Some(Found::Folder { mode }) => {
            if there.is_none() {
                std::fs::create_dir(path)?;
            } else if !there.is_some_and(|found| found.is_dir()) {
                return Err(Error::new(ErrorKind::NotADirectory, "something else is there now"));
            }
            std::fs::set_permissions(path, permissions(path, *mode)?)?;
        }
        Some(Found::Link { to }) => {
            let new = unfinished(parent)?;
            link(to, &new)?;
            std::fs::rename(&new, path).inspect_err(|_| drop(std::fs::remove_file(&new)))?;
        }
        Some(Found::File { sha256, mode, .. }) => {
            let new = unfinished(parent)?;
            let written = private(&new, true).and_then(|mut file| {
                folder.objects.copy_content(sha256, &mut file)?;
                file.set_permissions(permissions(&new, *mode)?)?;
                file.sync_all()?;
                std::fs::rename(&new, path)
            });
            written.inspect_err(|_| drop(std::fs::remove_file(&new)))?;
        }
    }
    sync_folder(parent)
}

/// A name beside a file, for what is to take its place. What an undo left there that was cut off is removed.
fn unfinished(parent: &Path) -> Result<PathBuf> {
    let new = parent.join(format!("{UNFINISHED}new"));
    match std::fs::remove_file(&new) {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
        _ => Ok(new),
    }
}

#[cfg(unix)]
fn permissions(_path: &Path, mode: u32) -> Result<Permissions> {
    Ok(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn permissions(path: &Path, mode: u32) -> Result<Permissions> {
    let mut permissions = std::fs::metadata(path)?.permissions();
    permissions.set_readonly(mode & 0o222 == 0);
    Ok(permissions)
}

#[cfg(unix)]
fn link(to: &str, at: &Path) -> Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(_to: &str, _at: &Path) -> Result<()> {
    Err(ErrorKind::Unsupported.into())
}
