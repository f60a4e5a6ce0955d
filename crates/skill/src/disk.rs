//! The real file system. This is the only file of the layer that accesses it.
#![allow(clippy::disallowed_methods, reason = "this is the edge where skills are read, every read with a limit")]

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::fs::{FsEntry, FsError, Kind, Look, SkillFs, Stamp};

/// The machine's file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskFs;

impl SkillFs for DiskFs {
    fn list(&self, folder: &Path, most: usize) -> Result<Vec<FsEntry>, FsError> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(|e| error(&e))? {
            let entry = entry.map_err(|e| error(&e))?;
            if entries.len() == most {
                return Err(FsError::TooLarge(most as u64));
            }
            let own = entry.file_type().map_err(|e| error(&e))?;
            let link = own.is_symlink();
            let kind =
                if link { std::fs::metadata(entry.path()).ok().map(|m| kind(m.file_type())) } else { Some(kind(own)) };
            entries.push(FsEntry { name: entry.file_name(), kind, link });
        }
        Ok(entries)
    }

    fn look(&self, path: &Path) -> Result<Look, FsError> {
        let mut meta = std::fs::symlink_metadata(path).map_err(|e| error(&e))?;
        let link = meta.is_symlink();
        if link {
            meta = std::fs::metadata(path).map_err(|e| error(&e))?;
        }
        Ok(Look { kind: kind(meta.file_type()), stamp: stamp(&meta), link })
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, FsError> {
        std::fs::canonicalize(path).map_err(|e| error(&e))
    }

    fn read(&self, path: &Path, most: usize) -> Result<(Vec<u8>, Stamp), FsError> {
        // A file that changes while it is read is read once more; a second change is an error.
        for _ in 0..2 {
            let mut file = open(path)?;
            let before = file.metadata().map_err(|e| error(&e))?;
            if !before.is_file() {
                return Err(FsError::NotRegular);
            }
            if before.len() > most as u64 {
                return Err(FsError::TooLarge(most as u64));
            }
            let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
            (&mut file).take(most as u64 + 1).read_to_end(&mut bytes).map_err(|e| error(&e))?;
            let after = file.metadata().map_err(|e| error(&e))?;
            if stamp(&before) == stamp(&after) && bytes.len() as u64 == after.len() {
                return Ok((bytes, stamp(&after)));
            }
        }
        Err(FsError::Changed)
    }
}

/// Opens a file without blocking, even for a pipe without a writer.
fn open(path: &Path) -> Result<File, FsError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // O_NONBLOCK of the Linux ABI on every architecture that Rust supports except MIPS and
        // SPARC.
        options.custom_flags(0o4000);
    }
    #[cfg(any(target_os = "macos", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // O_NONBLOCK of the BSDs.
        options.custom_flags(0x4);
    }
    options.open(path).map_err(|e| error(&e))
}

fn kind(file_type: FileType) -> Kind {
    if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Folder
    } else {
        Kind::Other
    }
}

fn stamp(meta: &Metadata) -> Stamp {
    let modified = meta.modified().ok().and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
    let modified = modified.and_then(|d| i128::try_from(d.as_nanos()).ok()).unwrap_or_default();
    #[cfg(unix)]
    let (changed, number) = {
        use std::os::unix::fs::MetadataExt;
        (i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec()), meta.ino())
    };
    #[cfg(not(unix))]
    let (changed, number) = (0, 0);
    Stamp { length: meta.len(), modified, changed, number }
}

fn error(error: &std::io::Error) -> FsError {
    match error.kind() {
        ErrorKind::NotFound => FsError::NotFound,
        ErrorKind::PermissionDenied => FsError::Denied,
        _ => FsError::Other(error.to_string().to_lowercase()),
    }
}
