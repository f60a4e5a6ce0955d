//! Folders whose content is not trusted: listing and removing them.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and removes folders")]

use std::fs::{read_dir, remove_dir, remove_file, rename, symlink_metadata};
use std::io::Result;
use std::path::{Path, PathBuf};

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file of this size.
    File { bytes: u64 },
    /// A symbolic link.
    Link,
    /// A device, pipe or socket.
    Other,
}

/// An entry that is not a folder.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) relative: PathBuf,
    pub(crate) kind: Kind,
}

/// Maximum depth of folders that are listed.
const MAX_DEPTH: usize = 32;

/// The entries below a folder that are not folders, sorted by path; the first `most` that are
/// found. Links are not followed, and what cannot be read is left out.
pub(crate) fn walk(folder: &Path, most: usize) -> Vec<Entry> {
    let (mut found, mut open, mut seen) = (Vec::new(), vec![(PathBuf::new(), 0)], 0);
    while let Some((relative, depth)) = open.pop() {
        for entry in read_dir(folder.join(&relative)).into_iter().flatten().filter_map(Result::ok) {
            seen += 1;
            // Folders count as well, but a folder with many of them is not too large for that.
            if found.len() >= most || seen > most.saturating_mul(4) {
                break;
            }
            let relative = relative.join(entry.file_name());
            let Ok(metadata) = symlink_metadata(folder.join(&relative)) else { continue };
            let kind = match metadata.file_type() {
                kind if kind.is_dir() => {
                    if depth < MAX_DEPTH {
                        open.push((relative, depth + 1));
                    }
                    continue;
                }
                kind if kind.is_file() => Kind::File { bytes: metadata.len() },
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            found.push(Entry { relative, kind });
        }
    }
    found.sort_by(|a, b| a.relative.cmp(&b.relative));
    found
}

/// Removes a folder with any content: without rights, or deeper than paths can be. No link is
/// followed. Folders inside are first moved up, so that the depth of paths stays constant.
///
/// # Errors
/// What could not be removed.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    let (mut open, mut number) = (vec![folder.to_owned()], 0_u64);
    while let Some(inner) = open.last().cloned() {
        allow_all(&inner);
        let mut moved = Vec::new();
        for entry in read_dir(&inner)? {
            let path = entry?.path();
            if !symlink_metadata(&path)?.is_dir() {
                remove_file(&path)?;
            } else if inner == folder {
                moved.push(path);
            } else {
                allow_all(&path);
                number += 1;
                let up = folder.join(format!("{}-{number}", std::process::id()));
                rename(&path, &up)?;
                moved.push(up);
            }
        }
        if moved.is_empty() {
            remove_dir(&inner)?;
            open.pop();
        } else {
            // Moved folders are removed before the folder that contains them.
            open.extend(moved);
        }
    }
    Ok(())
}

/// Gives the owner every right for a folder.
fn allow_all(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Reading the folder reports a failure.
        drop(std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)));
    }
    #[cfg(not(unix))]
    let _ = folder;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::tests::Temp;

    #[cfg(unix)]
    #[test]
    fn a_hostile_folder_is_removed_and_links_are_not_followed() {
        let temp = Temp::new("tree");
        let (kept, folder) = (temp.path().join("kept"), temp.path().join("hostile"));
        std::fs::write(&kept, "x").unwrap();
        std::fs::create_dir(&folder).unwrap();
        // Deeper than a path can be: each level is entered by a short path.
        let mut deep = folder.join("0");
        std::fs::create_dir(&deep).unwrap();
        for level in 0..1100 {
            let outer = folder.join(format!("new{}", level % 2));
            std::fs::create_dir(&outer).unwrap();
            rename(&deep, outer.join("inner")).unwrap();
            deep = outer;
        }
        std::fs::create_dir_all(folder.join("a/b/c")).unwrap();
        std::os::unix::fs::symlink(&kept, folder.join("a/link")).unwrap();
        std::os::unix::fs::symlink(temp.path(), folder.join("a/b/up")).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.join("a/b"), std::fs::Permissions::from_mode(0o0)).unwrap();
        remove(&folder).unwrap();
        assert!(!folder.exists());
        assert!(kept.exists());
    }

    #[test]
    fn entries_are_sorted_and_bounded() {
        let temp = Temp::new("walk");
        for name in ["b", "a", "c"] {
            std::fs::write(temp.path().join(name), name).unwrap();
        }
        std::fs::create_dir(temp.path().join("d")).unwrap();
        std::fs::write(temp.path().join("d/e"), "12").unwrap();
        let names: Vec<String> = walk(temp.path(), 9).iter().map(|e| e.relative.display().to_string()).collect();
        assert_eq!(names, ["a", "b", "c", "d/e"]);
        assert_eq!(walk(temp.path(), 2).len(), 2);
    }
}
