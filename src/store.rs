//! Approvals, remembered yeses and the audit chain in one SQLite file (feature `store`).
//!
//! Several processes may use one file at once. Every change and its audit record are one transaction, on disk
//! before the call returns (WAL, `synchronous = FULL`). Of any number of processes that redeem one approval exactly
//! one succeeds. The file belongs outside the workspace: a tool that could write it could approve itself.
//!
//! ```
//! use toolfold::store::SqliteStore;
//!
//! let store = SqliteStore::in_memory()?;
//! assert!(store.verify(&[])?.faults.is_empty());
//! # Ok::<(), toolfold::policy::ApprovalError>(())
//! ```

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::policy::ApprovalError;
use crate::policy::audit::{Checkpoint, Entry, Fault, GENESIS, Sealed, Verified, body, link, verify};

mod approvals;
mod queue;
mod schema;

use queue::Queue;

/// How long one process waits for another to finish its transaction.
const BUSY: Duration = Duration::from_secs(20);

/// A store in a file.
#[derive(Debug)]
pub struct SqliteStore {
    /// Reads what is on disk while a change is on its way there. None in memory. Closed before the other one, which then
    /// is the last and brings everything into the one file.
    reader: Option<Mutex<Connection>>,
    connection: Mutex<Connection>,
    /// Changes that wait for the transaction that is on its way to disk.
    queue: Queue,
}

impl SqliteStore {
    /// Opens a store, and makes it if there is none. The folder must exist.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if the file cannot be opened or made, is no store, or is newer than this program.
    pub fn open(path: &Path) -> Result<Self, ApprovalError> {
        make_private(path).map_err(|why| at(path, &why))?;
        let mut store = Self::from(Connection::open(path).map_err(|why| at(path, &why))?);
        store.prepare().map_err(|why| named(path, why))?;
        store.reader = Some(Mutex::new(to_read(path)?));
        Ok(store)
    }

    /// Forbids the file to grow beyond so many bytes, rounded down to whole pages; never below its size now. What would
    /// need more fails as on a full disk. Holds for this handle, not for the file. Gives the limit that holds.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if the file cannot be read.
    pub fn limit_bytes(&self, bytes: u64) -> Result<u64, ApprovalError> {
        let connection = self.lock();
        let page: u64 =
            connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(|why| failed(&why))?;
        // SQLite reads 0 as a question.
        let pages = (bytes / page.max(1)).clamp(1, u64::from(u32::MAX) - 1);
        let pages: u64 = connection
            .pragma_update_and_check(None, "max_page_count", pages.to_string(), |row| row.get(0))
            .map_err(|why| failed(&why))?;
        Ok(pages.saturating_mul(page))
    }

    /// Opens a store to look at it: nothing is made or changed.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if there is none, or it cannot be read.
    pub fn open_to_read(path: &Path) -> Result<Self, ApprovalError> {
        let connection = to_read(path)?;
        match schema::check(&connection) {
            Ok(()) => Ok(Self::from(connection)),
            // The files beside it cannot be made here. Where there is no log, nothing is missing from the file itself.
            Err(_) if !beside(path, "-wal").exists() => {
                let connection = as_it_is(path)?;
                schema::check(&connection).map_err(|why| named(path, why))?;
                Ok(Self::from(connection))
            }
            Err(why) => Err(named(path, why)),
        }
    }

    /// A store in memory, for tests.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if SQLite cannot be set up.
    pub fn in_memory() -> Result<Self, ApprovalError> {
        let store = Self::from(Connection::open_in_memory().map_err(|why| failed(&why))?);
        store.prepare()?;
        Ok(store)
    }

    fn from(connection: Connection) -> Self {
        Self { reader: None, connection: Mutex::new(connection), queue: Queue::default() }
    }

    fn prepare(&self) -> Result<(), ApprovalError> {
        let mut connection = self.lock();
        connection.busy_timeout(BUSY).map_err(|why| failed(&why))?;
        // The mode is kept in the file; another process may be setting it now.
        let wal: String = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
            .map_err(|why| failed(&why))?;
        let _ = wal;
        connection.pragma_update(None, "synchronous", "FULL").map_err(|why| failed(&why))?;
        schema::migrate(&mut connection)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A thread that failed left no transaction open: dropping one rolls it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For what only looks: never waits for a change on its way to disk, and sees every change that has returned.
    fn reading(&self) -> MutexGuard<'_, Connection> {
        self.reader.as_ref().unwrap_or(&self.connection).lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a change in a transaction that no other process can slip into, and returns when it is on disk.
    fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, ApprovalError> + Send + 'static,
    ) -> Result<T, ApprovalError> {
        self.queue.write(|| self.lock(), change)
    }

    /// Checks the chain against the head kept beside it, and against checkpoints kept elsewhere.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if the store cannot be read.
    pub fn verify(&self, known: &[Checkpoint]) -> Result<Verified, ApprovalError> {
        let mut connection = self.reading();
        // One snapshot for the head and the records, while others write.
        let read = connection.transaction().map_err(|why| failed(&why))?;
        let mut known = known.to_vec();
        let head = head(&read)?;
        let headless = head.is_none();
        known.extend(head);
        let mut statement =
            read.prepare("SELECT seq, body, prev, hash FROM audit ORDER BY rowid").map_err(|why| failed(&why))?;
        let rows = statement
            .query_map([], |row| {
                let text = |i| row.get::<_, String>(i).unwrap_or_default();
                Ok((row.get::<_, u64>(0).unwrap_or_default(), text(1), text(2), text(3)))
            })
            .map_err(|why| failed(&why))?;
        let mut broken = None;
        let rows = rows.map_while(|row| row.map_err(|why| broken = Some(failed(&why))).ok());
        let mut verified = verify(rows, &known);
        if headless && verified.records > 0 {
            verified.faults.push(Fault::NoHead);
        }
        match broken {
            Some(why) => Err(why),
            None => Ok(verified),
        }
    }

    /// Records with a number greater than `after`, oldest first, at most `most`.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if the store or a record cannot be read.
    pub fn records(&self, after: u64, most: usize) -> Result<Vec<Sealed>, ApprovalError> {
        let connection = self.reading();
        let mut statement = connection
            .prepare("SELECT seq, body, prev, hash FROM audit WHERE seq > ?1 ORDER BY seq LIMIT ?2")
            .map_err(|why| failed(&why))?;
        let rows = statement
            .query_map((i64::try_from(after).unwrap_or(i64::MAX), i64::try_from(most).unwrap_or(i64::MAX)), |row| {
                Ok((
                    row.get::<_, u64>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    row.get::<_, String>(3)?,
                ))
            })
            .map_err(|why| failed(&why))?;
        rows.map(|row| {
            let (seq, body, prev, hash) = row.map_err(|why| failed(&why))?;
            let entry = serde_json::from_str::<Entry>(&body)
                .map_err(|why| ApprovalError::Store(format!("record {seq} cannot be read: {why}")))?;
            Ok(Sealed { seq, entry, prev, hash })
        })
        .collect()
    }

    /// How many records there are.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if the store cannot be read.
    pub fn count(&self) -> Result<u64, ApprovalError> {
        self.reading().query_row("SELECT count(*) FROM audit", [], |row| row.get(0)).map_err(|why| failed(&why))
    }
}

/// What the head says was written last.
fn head(connection: &Connection) -> Result<Option<Checkpoint>, ApprovalError> {
    let found = connection.query_row("SELECT seq, hash FROM head WHERE id = 1", [], |row| {
        Ok(Checkpoint { seq: row.get(0)?, hash: row.get(1)? })
    });
    match found {
        Ok(checkpoint) => Ok(Some(checkpoint)),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(why) => Err(failed(&why)),
    }
}

/// Appends to the chain, inside a transaction.
fn append(transaction: &Connection, entry: &Entry) -> Result<(), ApprovalError> {
    let text = body(entry).map_err(|why| ApprovalError::Store(why.to_string()))?;
    let (seq, prev) = match head(transaction)? {
        Some(last) => (last.seq.saturating_add(1), last.hash),
        None => (1, GENESIS.to_owned()),
    };
    let hash = link(seq, &prev, &text);
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| -> Result<usize, ApprovalError> {
        transaction.prepare_cached(sql).and_then(|mut s| s.execute(values)).map_err(|why| failed(&why))
    };
    run("INSERT INTO audit (seq, body, prev, hash) VALUES (?1, ?2, ?3, ?4)", &[&seq, &text, &prev, &hash])?;
    run(
        "INSERT INTO head (id, seq, hash) VALUES (1, ?1, ?2) ON CONFLICT (id) DO UPDATE SET seq = ?1, hash = ?2",
        &[&seq, &hash],
    )?;
    Ok(())
}

fn failed(why: &rusqlite::Error) -> ApprovalError {
    ApprovalError::Store(why.to_string())
}

/// An error of the file at a path.
fn at(path: &Path, why: &dyn std::fmt::Display) -> ApprovalError {
    ApprovalError::Store(format!("{}: {why}", path.display()))
}

/// An error of a store, with the path of its file.
fn named(path: &Path, why: ApprovalError) -> ApprovalError {
    match why {
        ApprovalError::Store(why) => at(path, &why),
        other => other,
    }
}

/// A connection that changes nothing.
fn to_read(path: &Path) -> Result<Connection, ApprovalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|why| at(path, &why))?;
    connection.busy_timeout(BUSY).map_err(|why| at(path, &why))?;
    Ok(connection)
}

/// A connection to a file that nobody changes: on a disk that cannot be written, or an archive.
fn as_it_is(path: &Path) -> Result<Connection, ApprovalError> {
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
    Connection::open_with_flags(uri, flags).map_err(|why| at(path, &why))
}

/// A file that SQLite keeps beside another.
fn beside(path: &Path, end: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Sees to it that only the user reads and writes the file, where the system knows such a thing, before anything is in
/// it: SQLite gives the files beside it the same rights when it makes them.
fn make_private(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(_) => {}
            Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {
                // Where it cannot be set (another owner, another file system) the store still works.
                let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600));
            }
            Err(why) => return Err(why),
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
