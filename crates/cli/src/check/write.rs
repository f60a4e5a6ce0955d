//! Writing a lock, never over a file that is not one.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that looks at what a lock is written over")]

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::out_file::replace;
use crate::output::{Failure, emit_data};
use toolfold_measure::check::MARK;

/// Replaces a file; `-` is standard output.
pub(crate) fn write_whole(name: &str, text: &str) -> Result<(), Failure> {
    if name == "-" { emit_data(text) } else { replace(Path::new(name), text) }
}

/// Writes a lock. An existing file that is not a lock is not overwritten.
pub(crate) fn write_lock(name: &str, text: &str) -> Result<(), Failure> {
    if name != "-" && is_something_else(Path::new(name)) {
        return Err(Failure::wrong(format!("`{name}` exists and is not a lock, so it is not overwritten"))
            .help("name another file with --out, or move this one"));
    }
    write_whole(name, text)
}

/// Whether the file exists and does not begin like a lock.
fn is_something_else(path: &Path) -> bool {
    let regular = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    if !regular || path.starts_with("/dev") {
        return false;
    }
    let mut start = String::new();
    let read = File::open(path).map(|file| file.take(MARK.len() as u64).read_to_string(&mut start));
    !matches!(read, Ok(Ok(_))) || start != MARK
}
