//! Restores the state before a call: planning the steps, and carrying them out.
//!
//! Nothing is written through a link. A file is written under a temporary name and renamed, so that
//! a crash leaves the old or the new one; a second undo then completes the rest.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it writes the files that a call wrote")]

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::folder::{Folder, Snapshot};
use super::objects::{private, sync_folder};
use super::scan::{Contents, Found, Tree, UNFINISHED, in_place, scan, visible_path};

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Did {
    /// It existed, and gets its previous content.
    Restored,
    /// It had been deleted, and is created again.
    BroughtBack,
    /// It did not exist before, and is removed.
    Removed,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Step {
    pub(super) path: String,
    pub(super) did: Did,
    #[serde(skip)]
    to: Option<Found>,
}

/// The difference between the current state and the states before and after the call.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// The paths that are neither as after the call nor as before it.
    pub(super) changed: Vec<String>,
    pub(super) reported: bool,
}

/// Compares the states. An unreadable current state, or one behind a new link, is an error.
pub(super) fn plan(folder: &Folder, snapshot: &Snapshot) -> std::result::Result<Plan, String> {
    let roots = in_place(&snapshot.roots)?;
    if let Some((lost, _)) = snapshot.contents().find(|(sha256, _)| !folder.objects.has_content(sha256)) {
        return Err(format!("its copy {lost} is missing"));
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

/// First removals, innermost first; then folders, outermost first; then their content.
fn ordered(before: &Tree, now: &Tree, differing: &[String]) -> Vec<Step> {
    let mut steps = Vec::new();
    for path in differing.iter().rev() {
        let (old, new) = (before.get(path), now.get(path));
        if new.is_some() && old.is_none() {
            steps.push(Step { path: path.clone(), did: Did::Removed, to: None });
        } else if new.is_some() && is_folder(old) != is_folder(new) {
            // Something else replaces it.
            steps.push(Step { path: path.clone(), did: Did::Restored, to: None });
        }
    }
    for folders in [true, false] {
        for path in differing {
            let Some(old) = before.get(path).filter(|old| is_folder(Some(old)) == folders) else { continue };
            let did = if now.contains_key(path) { Did::Restored } else { Did::BroughtBack };
            steps.push(Step { path: path.clone(), did, to: Some(old.clone()) });
        }
    }
    steps
}

fn is_folder(found: Option<&Found>) -> bool {
    matches!(found, Some(Found::Folder { .. }))
}

/// Carries out the steps. Stops at the first error, and returns the number of completed steps.
pub(super) fn apply(folder: &Folder, snapshot: &Snapshot, steps: &[Step]) -> std::result::Result<(), (usize, String)> {
    for (at, step) in steps.iter().enumerate() {
        let failed = |why: String| (at, format!("`{}` cannot be restored: {why}", visible_path(Path::new(&step.path))));
        let path = Path::new(&step.path);
        let parent = path.parent().unwrap_or(Path::new("/"));
        // Only possible with --force: the folder was deleted, too.
        if !parent.exists() && step.to.is_some() {
            std::fs::create_dir_all(parent).map_err(|why| failed(why.to_string()))?;
        }
        // A link that appeared since the comparison must not be followed either.
        if std::fs::canonicalize(parent).map_err(|why| failed(why.to_string()))? != parent {
            return Err(failed("a folder of the path is now a symbolic link".to_owned()));
        }
        restore_path(folder, path, parent, step.to.as_ref()).map_err(|why| failed(why.to_string()))?;
    }
    // Removes folders that the call created, unless they contain something else.
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
                return Err(Error::new(ErrorKind::NotADirectory, "the path now contains something else"));
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

/// A temporary name next to a file. A file left there by an interrupted undo is removed.
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
