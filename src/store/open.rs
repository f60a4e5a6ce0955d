//! Opens the file of a store for writing, for reading, or where no file can be created beside it.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema::{is_store, not_a_store};
use super::{BUSY, failed, failed_at};
use crate::policy::{ApprovalError, StoreError, StoreErrorKind};

/// The first bytes of every SQLite file (<https://sqlite.org/fileformat.html>).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The error when the system refuses to create the file.
fn io_failed(why: &std::io::Error) -> ApprovalError {
    StoreError::new(StoreErrorKind::CannotOpen, why.to_string()).into()
}

/// A read-only connection.
pub(super) fn to_read(path: &Path) -> Result<Connection, ApprovalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|why| failed_at(path, &why))?;
    connection.busy_timeout(BUSY).map_err(|why| failed_at(path, &why))?;
    Ok(connection)
}

/// A connection to a file that no process changes: on a read-only disk or in an archive.
pub(super) fn as_immutable(path: &Path) -> Result<Connection, ApprovalError> {
    let mut uri = "file:".to_owned();
    for c in path.to_string_lossy().chars() {
        match c {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            c => uri.push(c),
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(uri, flags).map_err(|why| failed_at(path, &why))
}

/// Enables SQLite's write-ahead log. The mode is stored in the file. A file system without shared
/// memory keeps its own mode, in which the store works as well.
///
/// Another process may be setting the mode: SQLite then returns "busy" at once, because waiting for
/// each other would never end (<https://sqlite.org/c3ref/busy_handler.html>).
pub(super) fn use_log(connection: &Connection) -> Result<(), ApprovalError> {
    const PAUSE: Duration = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Err(why) if why.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < BUSY => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            set => return set.map(|_| ()).map_err(|why| failed(&why)),
        }
    }
}

/// The path of a file that SQLite creates beside the store.
pub(super) fn beside(path: &Path, end: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Creates the file with read and write permission for the user only, if the system supports it.
/// This happens before the file has content, because SQLite gives the files it creates beside the
/// store the same permissions.
///
/// An existing file is left unchanged unless it is a store. Links are never followed to change
/// permissions.
#[allow(clippy::disallowed_methods, reason = "an edge: the store's own file, of which a few bytes are read")]
pub(super) fn make_private(path: &Path) -> Result<(), ApprovalError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(why) if why.kind() == ErrorKind::AlreadyExists => match File::open(path) {
            Ok(file) => tighten(path, file),
            // SQLite reports the exact problem.
            Err(_) => Ok(()),
        },
        Err(why) => Err(io_failed(&why)),
    }
}

/// Removes other users' permissions from a store.
fn tighten(path: &Path, mut file: File) -> Result<(), ApprovalError> {
    let mut magic = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(|why| io_failed(&why))?;
    if magic.is_empty() {
        // An empty file may become a store and holds no secret.
        return Ok(());
    }
    if magic != MAGIC {
        return Err(not_a_store());
    }
    // If the file cannot be read, SQLite reports the reason when it is opened. The first writer
    // rolls back what a killed process left unfinished.
    let unfinished =
        |why: &ApprovalError| matches!(why, ApprovalError::Store(StoreError { kind: StoreErrorKind::ReadOnly, .. }));
    let looked = to_read(path).map(|mut connection| {
        let transaction = connection.transaction().map_err(|why| failed(&why));
        transaction.and_then(|transaction| is_store(&transaction))
    });
    let ours = match looked {
        Ok(Err(why)) if !unfinished(&why) => return Err(why),
        Ok(ours) => ours.unwrap_or(false),
        Err(_) => false,
    };
    #[cfg(unix)]
    if ours {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        // Uses the open file, and only if the name refers to that file and not to a link. If the
        // permissions cannot be set (another owner, another file system), the store still works.
        let (named, opened) = (path.symlink_metadata(), file.metadata());
        if let (Ok(named), Ok(opened)) = (named, opened)
            && (named.dev(), named.ino()) == (opened.dev(), opened.ino())
            && opened.mode() & 0o077 != 0
        {
            let _ = file.set_permissions(std::fs::Permissions::from_mode(opened.mode() & 0o700));
        }
    }
    #[cfg(not(unix))]
    let _ = ours;
    Ok(())
}
