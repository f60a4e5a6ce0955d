//! Files that a command writes where it was told to: whole or not at all.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that writes files")]

use std::fs::OpenOptions;
use std::io::{Result, Write};
use std::path::Path;

use super::output::Failure;

/// Writes a file, in place of the one that is there. A reader sees the old one or the new one. What is no plain file, a device
/// or a pipe, is written to and stays what it is; a link is followed.
pub(super) fn replace(path: &Path, text: &str) -> std::result::Result<(), Failure> {
    written(path, text).map_err(|why| {
        Failure::wrong(format!("`{}` cannot be written: {why}", path.display()))
            .help("name a file in a folder that is there and can be written to, or `-`")
    })
}

fn written(path: &Path, text: &str) -> Result<()> {
    let there = std::fs::metadata(path).ok();
    if there.as_ref().is_some_and(|own| !own.is_file()) {
        return OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes());
    }
    let target = if there.is_some() { path.canonicalize()? } else { path.to_path_buf() };
    let mut name = target.file_name().ok_or_else(|| std::io::Error::other("it has no name"))?.to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let new = target.with_file_name(name);
    let done = fill(&new, text, there.as_ref()).and_then(|()| std::fs::rename(&new, &target));
    if done.is_err() {
        // Half a file would only stand in the way.
        let _ = std::fs::remove_file(&new);
    }
    done
}

fn fill(new: &Path, text: &str, there: Option<&std::fs::Metadata>) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(new)?;
    file.write_all(text.as_bytes())?;
    if let Some(there) = there {
        file.set_permissions(there.permissions())?;
    }
    file.sync_all()
}
