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
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::policy::ApprovalError;
use crate::policy::audit::{Checkpoint, Entry, GENESIS, Sealed, Verified, body, link, verify};

mod approvals;
mod schema;

/// How long one process waits for another to finish its transaction.
const BUSY: Duration = Duration::from_secs(20);

/// A store in a file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Mutex<Connection>,
    /// Reads what is on disk while a change is on its way there. None in memory.
    reader: Option<Mutex<Connection>>,
    /// Changes that wait for the transaction that is on its way to disk.
    queue: Mutex<Queue>,
}

/// A change that has run, told whether the transaction around it is on disk.
type Told = Box<dyn FnOnce(Result<(), ApprovalError>) + Send>;
/// A change that waits: run in a transaction, or told why there is none.
type Job = Box<dyn FnOnce(Result<&mut rusqlite::Transaction<'_>, ApprovalError>) -> Told + Send>;

#[derive(Default)]
struct Queue(Vec<Job>);

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} changes", self.0.len())
    }
}

impl SqliteStore {
    /// Opens a store, and makes it if there is none. The folder must exist.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if the file cannot be opened or made, is no store, or is newer than this program.
    pub fn open(path: &Path) -> Result<Self, ApprovalError> {
        let named = |why: &dyn std::fmt::Display| ApprovalError::Store(format!("{}: {why}", path.display()));
        make_private(path).map_err(|why| named(&why))?;
        let mut store = Self::from(Connection::open(path).map_err(|why| named(&why))?);
        store.prepare().map_err(|why| match why {
            ApprovalError::Store(why) => named(&why),
            other => other,
        })?;
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
        to_read(path).map(Self::from)
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
        Self { connection: Mutex::new(connection), reader: None, queue: Mutex::default() }
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
    ///
    /// While one transaction is being written, the changes of other threads gather; the first of them to get the
    /// connection runs them all in the next one, each in a savepoint of its own. So the disk is waited for once a
    /// round, not once a change.
    fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, ApprovalError> + Send + 'static,
    ) -> Result<T, ApprovalError> {
        let (tell, told) = sync_channel(1);
        let job: Job = Box::new(move |transaction| {
            let result = transaction.and_then(|transaction| in_savepoint(transaction, change));
            Box::new(move |committed: Result<(), ApprovalError>| {
                // The other end waits below, unless its thread is gone.
                let _ = tell.send(result.and_then(|value| committed.map(|()| value)));
            })
        });
        self.waiting().0.push(job);
        let mut connection = self.lock();
        if let Ok(result) = told.try_recv() {
            return result;
        }
        let jobs = std::mem::take(&mut self.waiting().0);
        let mut done = Vec::with_capacity(jobs.len());
        let committed = commit(&mut connection, jobs, &mut done);
        drop(connection);
        done.into_iter().for_each(|tell| tell(committed.clone()));
        told.recv().unwrap_or_else(|_| committed.and(Err(ApprovalError::Store("the change was not run".to_owned()))))
    }

    fn waiting(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
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
        known.extend(head(&read)?);
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
        let verified = verify(rows, &known);
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

/// Runs all jobs in one transaction and puts it on disk.
///
/// Some errors (a full disk, a failing one) make SQLite take the whole transaction back at once. What a later job would
/// then do would stand alone and be kept although its caller is told otherwise, so no job runs after that.
fn commit(connection: &mut Connection, jobs: Vec<Job>, done: &mut Vec<Told>) -> Result<(), ApprovalError> {
    let mut transaction = match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => transaction,
        Err(why) => {
            let why = failed(&why);
            done.extend(jobs.into_iter().map(|job| job(Err(why.clone()))));
            return Err(why);
        }
    };
    for job in jobs {
        done.push(if transaction.is_autocommit() { job(Err(taken_back())) } else { job(Ok(&mut transaction)) });
    }
    if transaction.is_autocommit() {
        return Err(taken_back());
    }
    transaction.commit().map_err(|why| failed(&why))
}

fn taken_back() -> ApprovalError {
    ApprovalError::Store("the disk is full or fails, and the change was taken back".to_owned())
}

/// One change among others: if it fails, only what it did is taken back.
fn in_savepoint<T>(
    transaction: &mut rusqlite::Transaction<'_>,
    change: impl FnOnce(&Connection) -> Result<T, ApprovalError>,
) -> Result<T, ApprovalError> {
    let savepoint = transaction.savepoint().map_err(|why| failed(&why))?;
    let value = change(&savepoint)?;
    savepoint.commit().map_err(|why| failed(&why))?;
    Ok(value)
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

/// A connection that changes nothing.
fn to_read(path: &Path) -> Result<Connection, ApprovalError> {
    let named = |why: rusqlite::Error| ApprovalError::Store(format!("{}: {why}", path.display()));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(named)?;
    connection.busy_timeout(BUSY).map_err(named)?;
    Ok(connection)
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
