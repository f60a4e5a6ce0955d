//! The disk as policy sees it: where symbolic links lead, and what git tracks. No file is opened.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it asks where it runs")]

mod git;
#[cfg(unix)]
pub(super) mod own_program;

use std::io::ErrorKind;
use std::path::PathBuf;

use toolfold::policy::Disk;
use toolfold::policy::links::{DiskEntry, EntryKind};

/// The working directory of the command.
pub(super) fn working_folder() -> Option<String> {
    std::env::current_dir().ok().map(|folder| folder.to_string_lossy().into_owned())
}

pub(super) fn home() -> Option<String> {
    std::env::var("HOME").ok().filter(|home| home.starts_with('/'))
}

/// The value of an environment variable; `None` if it is not set or empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The absolute path in an environment variable.
pub(super) fn folder_variable(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name)?);
    path.is_absolute().then_some(path)
}

/// A path made absolute, otherwise as written.
pub(super) fn absolute(path: &str) -> Option<String> {
    std::path::absolute(path).ok().map(|path| path.to_string_lossy().into_owned())
}

/// The disk of this machine.
#[derive(Debug, Clone, Copy)]
pub struct OwnDisk;

/// Maximum number of names read from one folder.
const MOST_NAMES: usize = 10_000;

/// The name and kind of an entry. The entry contains its type; the file is not examined.
fn named_kind(entry: &std::fs::DirEntry) -> Option<(String, EntryKind)> {
    let kind = match entry.file_type() {
        Ok(kind) if kind.is_symlink() => EntryKind::Link,
        Ok(kind) if kind.is_dir() => EntryKind::MayBeFolder,
        Ok(_) => EntryKind::File,
        Err(_) => EntryKind::Unknown,
    };
    Some((entry.file_name().into_string().ok()?, kind))
}

impl OwnDisk {
    /// Whether paths have the form that policy supports: absolute ones begin with `/`.
    pub const CAN_LOOK: bool = cfg!(unix);
}

impl Disk for OwnDisk {
    fn look(&self, path: &str) -> DiskEntry {
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => {
                let target =
                    std::fs::read_link(path).ok().and_then(|target| target.into_os_string().into_string().ok());
                target.map_or(DiskEntry::Unknown, DiskEntry::Link)
            }
            Ok(_) => DiskEntry::Other,
            // A path that does not exist leads nowhere else, and neither does a path below a file.
            Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => DiskEntry::Other,
            Err(_) => DiskEntry::Unknown,
        }
    }

    fn names(&self, folder: &str) -> Option<Vec<String>> {
        match std::fs::read_dir(folder) {
            Ok(entries) => {
                let mut names = Vec::new();
                for entry in entries.take(MOST_NAMES + 1) {
                    names.push(entry.ok()?.file_name().into_string().ok()?);
                }
                if names.len() <= MOST_NAMES { Some(names) } else { None }
            }
            Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Some(Vec::new()),
            Err(_) => None,
        }
    }

    fn entries(&self, folder: &str) -> Option<Vec<(String, EntryKind)>> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Some(Vec::new()),
            Err(_) => return None,
        };
        let mut all = Vec::new();
        for entry in entries.take(MOST_NAMES + 1) {
            all.push(named_kind(&entry.ok()?)?);
        }
        if all.len() <= MOST_NAMES { Some(all) } else { None }
    }

    fn tracked(&self, folder: &str, revision: Option<&str>) -> Option<Vec<String>> {
        git::tracked(folder, revision)
    }

    fn ever_tracked(&self, folder: &str, revision: Option<&str>) -> Option<Vec<String>> {
        git::ever_tracked(folder, revision)
    }

    #[cfg(unix)]
    fn is_own_program(&self, program: &str) -> bool {
        own_program::is_own(program)
    }
}
