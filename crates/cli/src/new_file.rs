//! New files: written with the folders above them, and never over what is there.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that writes new files")]

use std::fs::OpenOptions;
use std::io::{ErrorKind, Result, Write};
use std::path::Path;

use super::output::Failure;

/// Writes a file that is not there yet.
pub(super) fn write_new(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        // Half a file would stand in the way of the next attempt.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// The same, for a command that has nothing else to do.
pub(super) fn create(path: &Path, text: &str) -> std::result::Result<(), Failure> {
    write_new(path, text).map_err(|why| {
        let name = path.display();
        match why.kind() {
            ErrorKind::AlreadyExists => {
                Failure::wrong(format!("`{name}` is already there, and nothing is written over"))
                    .help("name a file that does not exist yet, or move that one away")
            }
            _ => Failure::wrong(format!("`{name}` cannot be written: {why}")),
        }
    })
}

/// Refuses a file that is there, before any work is done for it.
pub(super) fn refuse_existing(path: &Path) -> std::result::Result<(), Failure> {
    if !path.exists() {
        return Ok(());
    }
    let message = format!("`{}` is already there, and nothing is written over", path.display());
    Err(Failure::wrong(message).help("name a file that does not exist yet, or say --force"))
}
