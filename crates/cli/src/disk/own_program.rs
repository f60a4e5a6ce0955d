//! Detects copies of toolfold under another name, by their content.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads programs and asks where it runs")]

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The program of this process if it is the command; unset in a host such as Python.
static COMMAND: OnceLock<PathBuf> = OnceLock::new();

/// Whether two files of equal size have the same content.
static COMPARED: Mutex<BTreeMap<[Identity; 2], bool>> = Mutex::new(BTreeMap::new());

/// Maximum number of comparisons that are cached.
const MOST: usize = 256;

/// Identifies unchanged content: device, inode, size, modification time with nanoseconds.
type Identity = (u64, u64, u64, i64, i64);

/// Records that this process is the command.
pub(crate) fn is_the_command() {
    if let Ok(own) = std::env::current_exe() {
        let _ = COMMAND.set(own);
    }
}

/// Whether a program has the content of the command: of this process, or of `toolfold` in the
/// user's `PATH`. `program` is a path, or a name that is searched for in `PATH`.
pub(super) fn is_own(program: &str) -> bool {
    let found = if program.contains('/') { Some(PathBuf::from(program)) } else { among_programs(program) };
    let Some((program, own)) = found.and_then(|path| Some((non_empty_file(&path)?, path))) else { return false };
    let known = COMMAND.get().cloned().into_iter().chain(among_programs("toolfold"));
    known.filter_map(|path| Some((non_empty_file(&path)?, path))).any(|(toolfold, path)| {
        let same = (program.dev(), program.ino()) == (toolfold.dev(), toolfold.ino());
        same || program.len() == toolfold.len() && is_same([(&own, &program), (&path, &toolfold)])
    })
}

/// The metadata of a non-empty regular file; links are followed.
fn non_empty_file(path: &Path) -> Option<Metadata> {
    std::fs::metadata(path).ok().filter(|found| found.is_file() && found.len() > 0)
}

fn among_programs(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| non_empty_file(path).is_some())
}

/// Whether two files have the same content; cached until one of them changes.
fn is_same(files: [(&Path, &Metadata); 2]) -> bool {
    let identities = files.map(|(_, found)| (found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec()));
    if let Some(same) = compared().get(&identities) {
        return *same;
    }
    let [one, other] = files.map(|(path, _)| File::open(path));
    let same = one.and_then(|one| same_content(one, other?)).unwrap_or(false);
    let mut known = compared();
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(identities, same);
    same
}

fn compared() -> MutexGuard<'static, BTreeMap<[Identity; 2], bool>> {
    COMPARED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn same_content(one: File, other: File) -> std::io::Result<bool> {
    let (mut one, mut other) = (BufReader::with_capacity(1 << 16, one), BufReader::with_capacity(1 << 16, other));
    loop {
        let (a, b) = (one.fill_buf()?, other.fill_buf()?);
        let read = a.len().min(b.len());
        if a.get(..read) != b.get(..read) {
            return Ok(false);
        }
        if read == 0 {
            return Ok(a.is_empty() && b.is_empty());
        }
        one.consume(read);
        other.consume(read);
    }
}
