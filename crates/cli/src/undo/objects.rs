//! The contents of files, each stored once under its SHA-256.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it keeps copies of files")]

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Size of a read in bytes.
const PIECE: usize = 64 << 10;

/// The prefix of a file that is not complete.
const UNFINISHED: &str = "new-";

/// A folder of contents. Changes require the lock of the snapshots.
#[derive(Debug)]
pub(super) struct Objects(PathBuf);

impl Objects {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Stores a content; it is on disk after [`sync`](Self::sync). Returns its SHA-256 and size.
    pub(super) fn keep(&self, source: &mut impl Read) -> Result<(String, u64)> {
        let new = self.0.join(format!("{UNFINISHED}{}", std::process::id()));
        let mut file = private(&new, false)?;
        let kept = hash(source, &mut file).and_then(|(sha256, bytes)| {
            file.sync_all()?;
            std::fs::rename(&new, self.0.join(&sha256))?;
            Ok((sha256, bytes))
        });
        kept.inspect_err(|_| drop(std::fs::remove_file(&new)))
    }

    pub(super) fn sync(&self) -> Result<()> {
        sync_folder(&self.0)
    }

    /// Writes a content to a file. Fails if its digest does not match.
    pub(super) fn copy_content(&self, sha256: &str, to: &mut impl Write) -> Result<()> {
        let (found, _) = hash(&mut File::open(self.0.join(sha256))?, to)?;
        if found == sha256 { Ok(()) } else { Err(Error::new(ErrorKind::InvalidData, "the stored copy was changed")) }
    }

    pub(super) fn has_content(&self, sha256: &str) -> bool {
        std::fs::symlink_metadata(self.0.join(sha256)).is_ok_and(|found| found.is_file())
    }

    pub(super) fn bytes(&self) -> u64 {
        self.all_contents().map(|(_, bytes)| bytes).sum()
    }

    pub(super) fn retain(&self, named: &BTreeSet<String>) {
        for (name, _) in self.all_contents().filter(|(name, _)| !named.contains(name)) {
            drop(std::fs::remove_file(self.0.join(name)));
        }
    }

    fn all_contents(&self) -> impl Iterator<Item = (String, u64)> {
        std::fs::read_dir(&self.0).into_iter().flatten().filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?.len()))
        })
    }
}

/// Copies a source, and returns its SHA-256 in hexadecimal digits and its size.
pub(super) fn hash(source: &mut impl Read, to: &mut impl Write) -> Result<(String, u64)> {
    let (mut sha256, mut bytes, mut piece) = (Sha256::new(), 0_u64, vec![0; PIECE]);
    loop {
        let read = match source.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(why) if why.kind() == ErrorKind::Interrupted => continue,
            Err(why) => return Err(why),
        };
        let part = piece.get(..read).unwrap_or_default();
        sha256.update(part);
        to.write_all(part)?;
        bytes += read as u64;
    }
    Ok((sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect(), bytes))
}

/// Creates a file that only the user can read and write. `new`: it must not exist.
pub(super) fn private(path: &Path, new: bool) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(new);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Flushes a folder to disk: files created, renamed or removed in it.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> Result<()> {
    Ok(())
}
