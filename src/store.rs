//! Approvals, grants and the audit chain in one SQLite file (feature `store`).
//!
//! Several processes may use one file at once. Each change and its audit record form one
//! transaction, which is on disk before the call returns (WAL, `synchronous = FULL`). When several
//! processes redeem one approval, exactly one of them succeeds. Store the file outside the
//! workspace: a tool that can write to the store could approve its own calls.
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

use rusqlite::Connection;
use serde_json::json;

use crate::policy::audit::{Checkpoint, Consented, Entry, Fault, GENESIS, Kind, Sealed, Verified, body, link, verify};
use crate::policy::{ApprovalError, StoreError, StoreErrorKind};

mod approvals;
mod approver;
mod audited;
mod error;
mod memory;
mod open;
mod proof;
mod queue;
mod schema;

pub use approver::approver_digest;
pub use audited::AuditedStore;

use error::{damaged, failed, failed_at, forged, with_path};
use queue::Queue;

/// The maximum time that a process waits for another to finish its transaction.
const BUSY: Duration = Duration::from_secs(20);

/// A store in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    /// Reads committed data while a change is being written. `None` for an in-memory store.
    /// Declared first so that it is closed first: SQLite merges the log into the file when the last
    /// connection closes.
    reader: Option<Mutex<Connection>>,
    connection: Mutex<Connection>,
    /// Changes that wait while an earlier transaction is being written.
    queue: Queue,
}

impl SqliteStore {
    /// Opens a store and creates it if it is missing. The folder must exist.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if the file cannot be opened or created, is not a store, or
    /// was written by a newer version of this program.
    pub fn open(path: &Path) -> Result<Self, ApprovalError> {
        open::make_private(path).map_err(|why| with_path(path, why))?;
        let mut store = Self::from(Connection::open(path).map_err(|why| failed_at(path, &why))?);
        store.prepare().map_err(|why| with_path(path, why))?;
        store.reader = Some(Mutex::new(open::to_read(path)?));
        Ok(store)
    }

    /// Limits the size of the file in bytes, rounded down to whole pages but never below its
    /// current size. A change that needs more space fails as on a full disk. The limit belongs to
    /// this handle, not to the file. Returns the effective limit.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if the file cannot be read.
    pub fn limit_bytes(&self, bytes: u64) -> Result<u64, ApprovalError> {
        let connection = self.lock_connection();
        let page: u64 =
            connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(|why| failed(&why))?;
        // SQLite treats 0 as a query for the current limit.
        let pages = (bytes / page.max(1)).clamp(1, u64::from(u32::MAX) - 1);
        let pages: u64 = connection
            .pragma_update_and_check(None, "max_page_count", pages.to_string(), |row| row.get(0))
            .map_err(|why| failed(&why))?;
        Ok(pages.saturating_mul(page))
    }

    /// Opens an existing store read-only: nothing is created or changed.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if the store is missing or cannot be read.
    pub fn open_to_read(path: &Path) -> Result<Self, ApprovalError> {
        let connection = open::to_read(path)?;
        match schema::check_version(&connection) {
            Ok(()) => Ok(Self::from(connection)),
            // SQLite could not create its files beside the store. If there is no log, the file
            // alone is complete.
            Err(_) if !open::beside(path, "-wal").exists() => {
                let connection = open::as_immutable(path)?;
                schema::check_version(&connection).map_err(|why| with_path(path, why))?;
                Ok(Self::from(connection))
            }
            Err(why) => Err(with_path(path, why)),
        }
    }

    /// Creates an in-memory store, for tests.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if SQLite cannot be set up.
    pub fn in_memory() -> Result<Self, ApprovalError> {
        let store = Self::from(Connection::open_in_memory().map_err(|why| failed(&why))?);
        store.prepare()?;
        Ok(store)
    }

    fn from(connection: Connection) -> Self {
        Self { reader: None, connection: Mutex::new(connection), queue: Queue::default() }
    }

    fn prepare(&self) -> Result<(), ApprovalError> {
        let mut connection = self.lock_connection();
        connection.busy_timeout(BUSY).map_err(|why| failed(&why))?;
        open::use_log(&connection)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(|why| failed(&why))?;
        schema::migrate(&mut connection)
    }

    fn lock_connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked leaves no open transaction: dropping one rolls it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection for reading. It never waits for a change that is being written, and it sees
    /// every change that has returned.
    fn reading(&self) -> MutexGuard<'_, Connection> {
        self.reader.as_ref().unwrap_or(&self.connection).lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a change in an exclusive write transaction, and returns once it is on disk.
    fn write_transaction<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, ApprovalError> + Send + 'static,
    ) -> Result<T, ApprovalError> {
        self.queue.run_change(|| self.lock_connection(), change)
    }

    /// Checks the chain against the stored head and against checkpoints stored elsewhere, replays
    /// the recorded consent, and compares the stored approvals and grants with it.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if the store cannot be read.
    pub fn verify(&self, known: &[Checkpoint]) -> Result<Verified, ApprovalError> {
        let mut connection = self.reading();
        // The head and the records are read from one snapshot while other processes write.
        let read = connection.transaction().map_err(|why| failed(&why))?;
        let mut known = known.to_vec();
        let head = read_head(&read)?;
        let headless = head.is_none();
        known.extend(head);
        let mut statement =
            read.prepare("SELECT seq, body, prev, hash FROM audit ORDER BY rowid").map_err(|why| failed(&why))?;
        let rows = statement
            .query_map([], |row| {
                // A value of a type other than the declared one shows that the table was tampered
                // with.
                let stored = (row.get(0), row.get(1), row.get(2), row.get(3));
                let (Ok(seq), Ok(body), Ok(prev), Ok(hash)) = stored else { return Ok(None) };
                Ok(Some((seq, body, prev, hash)))
            })
            .map_err(|why| failed(&why))?;
        let mut broken = None;
        let rows = rows.map_while(|row| row.map_err(|why| broken = Some(failed(&why))).ok());
        let mut consented = Consented::default();
        let mut verified = verify(rows, &known, &mut consented);
        if headless && verified.records > 0 {
            verified.faults.push(Fault::NoHead);
        }
        if let Some(why) = broken {
            return Err(why);
        }
        drop(statement);
        proof::unrecorded(&read, &consented, &mut verified.faults)?;
        Ok(verified)
    }

    /// Returns at most `most` records with a number greater than `after`, oldest first.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if the store or a record cannot be read.
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
            let entry = serde_json::from_str::<Entry>(&body).map_err(|why| damaged(&format!("record {seq}"), &why))?;
            Ok(Sealed::new(seq, entry, prev, hash))
        })
        .collect()
    }

    /// Removes the approvals that ended before `before_ms` and records their number. Their audit
    /// records stay. Returns the number.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if the store cannot be written.
    pub fn purge(&self, before_ms: i64, now_ms: i64) -> Result<usize, ApprovalError> {
        self.write_transaction(move |transaction| {
            let now_ms = proof::now(transaction, now_ms)?;
            let sql = "DELETE FROM approval
                WHERE expires_ms < ?1 AND (state NOT IN ('pending', 'approved') OR expires_ms <= ?2)";
            let removed = transaction.execute(sql, (before_ms, now_ms)).map_err(|why| failed(&why))?;
            if removed > 0 {
                let mut entry = Entry::new(Kind::Purged, now_ms);
                entry.detail = json!({ "approvals": removed, "before_ms": before_ms });
                append(transaction, &entry)?;
            }
            Ok(removed)
        })
    }

    /// The number of records.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if the store cannot be read.
    pub fn count(&self) -> Result<u64, ApprovalError> {
        self.reading().query_row("SELECT count(*) FROM audit", [], |row| row.get(0)).map_err(|why| failed(&why))
    }
}

/// The last written record, according to the head.
fn read_head(connection: &Connection) -> Result<Option<Checkpoint>, ApprovalError> {
    let found = connection.query_row("SELECT seq, hash FROM head WHERE id = 1", [], |row| {
        Ok(Checkpoint { seq: row.get(0)?, hash: row.get(1)? })
    });
    match found {
        Ok(checkpoint) => Ok(Some(checkpoint)),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(why) => Err(failed(&why)),
    }
}

/// Appends to the chain inside a transaction. The time of a record is never before that of its
/// predecessor.
fn append(transaction: &Connection, entry: &Entry) -> Result<(), ApprovalError> {
    let mut entry = entry.clone();
    entry.time_ms = proof::now(transaction, entry.time_ms)?;
    memory::count(transaction, &entry)?;
    let text = body(&entry).map_err(|why| StoreError::new(StoreErrorKind::Other, why.to_string()))?;
    let (seq, prev) = match read_head(transaction)? {
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
