//! The state of a path: examined without following a link, measured, hashed or copied.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the files that calls write")]

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::objects::{Objects, hash};
use crate::configuration::units::size_text;
use toolfold::diagnostic::visible;
use toolfold::policy::WrittenPath;
use toolfold::policy::links::MAX_LINKS;

/// Maximum number of files and folders of one call's snapshot.
const MOST_FILES: usize = 10_000;

/// The prefix of temporary files of an undo: they are ignored.
pub(super) const UNFINISHED: &str = ".toolfold-undo-";

/// Something at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(super) enum Found {
    File { sha256: String, bytes: u64, mode: u32 },
    Link { to: String },
    Folder { mode: u32 },
}

/// The state of the paths of a call. A path that is missing here does not exist.
pub(super) type Tree = BTreeMap<String, Found>;

/// A path whose folder contains no link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Root {
    pub(super) path: String,
    /// Whether everything below it is included.
    pub(super) recursive: bool,
}

impl Root {
    /// Whether two roots have a path in common.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.path == other.path || self.is_within(other) || other.is_within(self)
    }

    fn is_within(&self, outer: &Self) -> bool {
        outer.recursive && self.path.strip_prefix(&outer.path).is_some_and(|rest| rest.starts_with('/'))
    }
}

pub(super) struct Places {
    pub(super) roots: Vec<Root>,
    /// Their folders that do not exist yet, outermost first.
    pub(super) missing: Vec<String>,
}

/// What is done with the content of files.
#[derive(Clone, Copy)]
pub(super) enum Contents<'o> {
    /// Only their size is added.
    Measure,
    Hash,
    Copy(&'o Objects),
}

/// The real paths of what a call writes, and the links at their ends themselves.
pub(super) fn roots(paths: &[WrittenPath]) -> Result<Places, String> {
    let (mut roots, mut missing) = (BTreeMap::new(), Vec::new());
    for WrittenPath { path, recursive, .. } in paths {
        let mut next = PathBuf::from(path);
        for links in 0.. {
            if links > MAX_LINKS {
                return Err(format!("`{}` leads through too many links", visible(path)));
            }
            let (real, absent) = resolve_folder(&next)?;
            for folder in absent {
                let folder = utf8_path(&folder)?;
                if !missing.contains(&folder) {
                    missing.push(folder);
                }
            }
            let found = std::fs::symlink_metadata(&real).ok();
            let is_link = found.as_ref().is_some_and(Metadata::is_symlink);
            // Everything below a path that does not exist yet comes from the call.
            let below = !is_link && (*recursive || found.is_none());
            *roots.entry(utf8_path(&real)?).or_insert(false) |= below;
            if !is_link {
                break;
            }
            let to = std::fs::read_link(&real).map_err(|why| unreadable(&real, &why))?;
            next = real.parent().unwrap_or(Path::new("/")).join(to);
        }
    }
    let roots = roots.into_iter().map(|(path, recursive)| Root { path, recursive }).collect();
    Ok(Places { roots, missing })
}

/// A path with the links of its folder resolved, and its folders that do not exist.
pub(super) fn resolve_folder(path: &Path) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let strange = || format!("`{}` names no file", visible(&path.to_string_lossy()));
    let (mut folder, mut rest) = (path.parent().ok_or_else(strange)?, vec![path.file_name().ok_or_else(strange)?]);
    let mut real = loop {
        match std::fs::canonicalize(folder) {
            Ok(real) => break real,
            // A dangling link: its target could become anything.
            Err(why) if why.kind() == ErrorKind::NotFound && std::fs::symlink_metadata(folder).is_err() => {
                rest.push(folder.file_name().ok_or_else(strange)?);
                folder = folder.parent().ok_or_else(strange)?;
            }
            Err(why) => return Err(unreadable(folder, &why)),
        }
    };
    let mut missing = Vec::new();
    while let Some(name) = rest.pop() {
        real.push(name);
        if !rest.is_empty() {
            missing.push(real.clone());
        }
    }
    Ok((real, missing))
}

/// The roots whose folders still have the same real path. The call itself may have replaced a root
/// with a link; any other new link is an error.
pub(super) fn in_place(roots: &[Root]) -> Result<Vec<Root>, String> {
    let mut kept = Vec::new();
    for root in roots {
        let path = Path::new(&root.path);
        let (real, _) = resolve_folder(path)?;
        if real == path {
            kept.push(root.clone());
        } else if !roots.iter().any(|other| path.parent().is_some_and(|parent| parent.starts_with(&other.path))) {
            return Err(format!(
                "`{}` now leads through a symbolic link to `{}`",
                visible_path(path),
                visible_path(&real)
            ));
        }
    }
    Ok(kept)
}

/// The state of these roots, and the size of the files. `most`: maximum size in bytes.
pub(super) fn scan(roots: &[Root], most: u64, contents: Contents<'_>) -> Result<(Tree, u64), String> {
    let mut scan = Scan { tree: Tree::new(), bytes: 0, most, contents };
    for root in roots {
        scan.scan_root(Path::new(&root.path), root.recursive)?;
    }
    Ok((scan.tree, scan.bytes))
}

struct Scan<'o> {
    tree: Tree,
    bytes: u64,
    most: u64,
    contents: Contents<'o>,
}

impl Scan<'_> {
    fn scan_root(&mut self, root: &Path, recursive: bool) -> Result<(), String> {
        let mut todo = vec![root.to_owned()];
        while let Some(path) = todo.pop() {
            let found = match std::fs::symlink_metadata(&path) {
                Ok(found) => found,
                Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
                Err(why) => return Err(unreadable(&path, &why)),
            };
            if self.tree.len() >= MOST_FILES {
                return Err(format!("there are more than {MOST_FILES} files below `{}`", visible_path(root)));
            }
            let name = utf8_path(&path)?;
            if found.is_symlink() {
                let to = std::fs::read_link(&path).map_err(|why| unreadable(&path, &why))?;
                self.tree.insert(name, Found::Link { to: utf8_path(&to)? });
            } else if found.is_dir() {
                self.tree.insert(name, Found::Folder { mode: mode(&found) });
                if recursive {
                    todo.extend(folder_contents(&path)?);
                }
            } else if found.is_file() {
                let file = self.copy_file(&path, &found)?;
                self.tree.insert(name, file);
            } else {
                return Err(format!("`{}` is neither a file nor a folder", visible_path(&path)));
            }
        }
        Ok(())
    }

    fn copy_file(&mut self, path: &Path, found: &Metadata) -> Result<Found, String> {
        let left = self.most.saturating_sub(self.bytes);
        let too_large = || format!("a copy would exceed {} (`{}`)", size_text(self.most), visible_path(path));
        if found.len() > left {
            return Err(too_large());
        }
        let opened = File::open(path).map_err(|why| unreadable(path, &why))?;
        let meta = opened.metadata().map_err(|why| unreadable(path, &why))?;
        // A link may have appeared between the check and the opening.
        if !same(found, &meta) {
            return Err(format!("`{}` changed while it was read", visible_path(path)));
        }
        let mut source = opened.take(left.saturating_add(1));
        let read = match self.contents {
            Contents::Measure => Ok((String::new(), found.len())),
            Contents::Hash => hash(&mut source, &mut std::io::sink()),
            Contents::Copy(objects) => objects.keep(&mut source),
        };
        let (sha256, bytes) = read.map_err(|why| unreadable(path, &why))?;
        if bytes > left {
            return Err(too_large());
        }
        self.bytes += bytes;
        Ok(Found::File { sha256, bytes, mode: mode(&meta) })
    }
}

/// The entries of a folder, without the temporary files of an interrupted undo.
fn folder_contents(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut inside = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|why| unreadable(folder, &why))? {
        let entry = entry.map_err(|why| unreadable(folder, &why))?;
        if !entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            inside.push(entry.path());
        }
        if inside.len() > MOST_FILES {
            return Err(format!("there are more than {MOST_FILES} files below `{}`", visible_path(folder)));
        }
    }
    Ok(inside)
}

fn unreadable(path: &Path, why: &std::io::Error) -> String {
    format!("`{}` cannot be read: {why}", visible_path(path))
}

pub(super) fn visible_path(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

fn utf8_path(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("the name of `{}` is not UTF-8", visible_path(path)))
}

#[cfg(unix)]
fn same(found: &Metadata, opened: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn same(_found: &Metadata, opened: &Metadata) -> bool {
    opened.is_file()
}

#[cfg(unix)]
fn mode(found: &Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt;
    found.mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(found: &Metadata) -> u32 {
    if found.permissions().readonly() { 0o444 } else { 0o644 }
}
