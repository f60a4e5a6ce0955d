//! Writing a lock: never over a file that is none.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that looks at what a lock is written over")]

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::out_file::replace;
use crate::output::{Failure, emit_data};
use toolfold_measure::check::MARK;

/// Writes a file in place of what is there; `-` is standard output.
pub(crate) fn write_whole(name: &str, text: &str) -> Result<(), Failure> {
    if name == "-" { emit_data(text).map(drop) } else { replace(Path::new(name), text) }
}

/// The same for a lock: a file that is not one is not written over.
pub(crate) fn write_lock(name: &str, text: &str) -> Result<(), Failure> {
    if name != "-" && is_something_else(Path::new(name)) {
        return Err(Failure::wrong(format!("`{name}` is there and is no lock: it is not written over"))
            .help("name another file with --out, or move that one away"));
    }
    write_whole(name, text)
}

/// Whether a file is there that does not begin as a lock does.
fn is_something_else(path: &Path) -> bool {
    let regular = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    if !regular || path.starts_with("/dev") {
        return false;
    }
    let mut start = String::new();
    let read = File::open(path).map(|file| file.take(MARK.len() as u64).read_to_string(&mut start));
    !matches!(read, Ok(Ok(_))) || start != MARK
}
