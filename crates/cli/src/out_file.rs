//! Output files: written atomically, through links to their target; devices directly.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that writes files")]

use std::fs::OpenOptions;
use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};

use super::output::{Failure, emit_data};

/// Maximum number of links followed.
const MAX_LINKS: usize = 32;

/// Replaces a file: a reader sees the old content or the new content. Links are followed. Devices
/// and pipes are written to, not replaced. `/dev/stdout` is standard output, whatever it is.
pub(super) fn replace(path: &Path, text: &str) -> std::result::Result<(), Failure> {
    if path == Path::new("/dev/stdout") {
        return emit_data(text);
    }
    write_out(path, text).map_err(|why| {
        Failure::wrong(format!("`{}` cannot be written: {why}", path.display()))
            .help("name a file in an existing, writable folder, or `-`")
    })
}

fn write_out(name: &Path, text: &str) -> Result<()> {
    let path = follow_links(name)?;
    let there = std::fs::metadata(&path).ok();
    if there.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        return Err(Error::other("it is a folder"));
    }
    // A file cannot replace a device, a pipe or a terminal.
    if path.starts_with("/dev") || path.starts_with("/proc") || there.as_ref().is_some_and(|own| !own.is_file()) {
        return OpenOptions::new().write(true).open(&path)?.write_all(text.as_bytes());
    }
    let new = beside(&path)?;
    let done = fill(&new, text, there.as_ref()).and_then(|()| std::fs::rename(&new, &path));
    // A partial file has no use.
    done.inspect_err(|_| drop(std::fs::remove_file(&new)))
}

fn fill(new: &Path, text: &str, there: Option<&std::fs::Metadata>) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(new)?;
    if let Some(there) = there {
        file.set_permissions(there.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn beside(path: &Path) -> Result<PathBuf> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|why| Error::other(why.to_string()))?;
    let name = path.file_name().ok_or_else(|| Error::other("it does not name a file"))?;
    Ok(path.with_file_name(format!(".{}.{:016x}.new", name.to_string_lossy(), u64::from_ne_bytes(random))))
}

/// The target of a chain of links; the last file may not exist yet.
fn follow_links(name: &Path) -> Result<PathBuf> {
    let mut path = name.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&path) {
            // Links of /dev and /proc are opened, not followed: their target may have no name.
            Ok(to) if !path.starts_with("/dev") && !path.starts_with("/proc") => {
                path = path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to));
            }
            _ => return Ok(path),
        }
    }
    Err(Error::other(format!("more than {MAX_LINKS} links")))
}
