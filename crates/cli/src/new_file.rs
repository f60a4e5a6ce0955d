//! New files: created with their folders, and never in place of existing ones.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that writes new files")]

use std::fs::OpenOptions;
use std::io::{ErrorKind, Result, Write};
use std::path::Path;

use super::output::Failure;

/// Writes a new file. An existing file is an error.
pub(super) fn write_new(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        // A partial file would block the next attempt.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// The same, with the error of a command.
pub(super) fn create(path: &Path, text: &str) -> std::result::Result<(), Failure> {
    write_new(path, text).map_err(|why| {
        let name = path.display();
        match why.kind() {
            ErrorKind::AlreadyExists => Failure::wrong(format!("`{name}` already exists and is not overwritten"))
                .help("name a file that does not exist, or move this one"),
            _ => Failure::wrong(format!("`{name}` cannot be written: {why}")),
        }
    })
}

/// Fails if the file exists, before any work is done for it.
pub(super) fn refuse_existing(path: &Path) -> std::result::Result<(), Failure> {
    if !path.exists() {
        return Ok(());
    }
    let message = format!("`{}` already exists and is not overwritten", path.display());
    Err(Failure::wrong(message).help("name a file that does not exist, or use --force"))
}
