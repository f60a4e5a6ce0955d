//! The files that a script produced.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it moves files")]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::script::digest;
use super::tree::{Kind, walk};

/// Maximum number of files that are moved out of a work folder.
const MAX_FILES: usize = 100;
/// Maximum size in bytes of all of them together.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum number of entries of a work folder that are examined.
const MAX_ENTRIES: usize = 10_000;

/// A file that a script produced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProducedFile {
    /// The path in the work folder.
    pub name: String,
    /// Where it is now.
    pub path: PathBuf,
    /// The size in bytes.
    pub bytes: u64,
    /// The SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// The files that a script produced, sorted by name.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Files {
    /// The files that were moved.
    pub files: Vec<ProducedFile>,
    /// The number of entries that were left out: links, devices, names that are not Unicode, and
    /// what is beyond 100 files or 16 MiB.
    pub left_out: usize,
}

/// Moves the regular files of a work folder to the places that `place` returns for their name and
/// SHA-256. Call it after the script has ended.
///
/// # Errors
/// A file could not be read or moved.
pub fn collect(work: &Path, mut place: impl FnMut(&str, &str) -> Result<PathBuf>) -> Result<Files> {
    let (mut files, mut bytes) = (Files::default(), 0_u64);
    for entry in walk(work, MAX_ENTRIES) {
        let (Kind::File { bytes: size }, Some(name)) = (entry.kind, entry.relative.to_str()) else {
            files.left_out += 1;
            continue;
        };
        if files.files.len() >= MAX_FILES || bytes.saturating_add(size) > MAX_BYTES {
            files.left_out += 1;
            continue;
        }
        bytes += size;
        let own = work.join(&entry.relative);
        let sha256 = digest(&mut File::open(&own)?)?;
        let path = place(name, &sha256)?;
        move_file(&own, &path, &sha256)?;
        files.files.push(ProducedFile { name: name.to_owned(), path, bytes: size, sha256 });
    }
    Ok(files)
}

/// Moves a file to a new place, also of another file system. An existing file is not overwritten;
/// it is an error unless its content is the same.
fn move_file(from: &Path, to: &Path, sha256: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut target = match options.open(to) {
        Err(why) if why.kind() == ErrorKind::AlreadyExists && digest(&mut File::open(to)?)? == sha256 => {
            return std::fs::remove_file(from);
        }
        opened => opened?,
    };
    let copied = std::io::copy(&mut File::open(from)?, &mut target).and_then(|_| target.sync_all());
    copied.inspect_err(|_| drop(std::fs::remove_file(to)))?;
    std::fs::remove_file(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::tests::Temp;

    #[cfg(unix)]
    #[test]
    fn regular_files_are_moved_sorted_and_bounded() {
        let temp = Temp::new("files");
        let (work, out) = (temp.path().join("work"), temp.path().join("out"));
        std::fs::create_dir_all(work.join("sub")).unwrap();
        std::fs::create_dir(&out).unwrap();
        std::fs::write(work.join("b.txt"), "abc").unwrap();
        std::fs::write(work.join("sub/a.txt"), "").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", work.join("link")).unwrap();
        let large = File::create(work.join("c")).unwrap();
        large.set_len(MAX_BYTES).unwrap();
        let found = collect(&work, |_, sha256| Ok(out.join(sha256))).unwrap();
        let names: Vec<&str> = found.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!((names.as_slice(), found.left_out), (["b.txt", "sub/a.txt"].as_slice(), 2));
        assert_eq!(std::fs::read_to_string(&found.files[0].path).unwrap(), "abc");
        assert!(!work.join("b.txt").exists());
    }
}
