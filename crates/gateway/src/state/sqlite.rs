//! State in a SQLite file, for several processes on one machine and for restarts.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{BoxFuture, StateError, StateKey, StateStore, StoredState, Written};

/// SQLite's `application_id` of these files: "tfst" in ASCII.
const APPLICATION: i32 = 0x7466_7374;

/// The version of the tables, SQLite's `user_version`.
const FORM: i32 = 1;

/// Time limit for waiting for another process.
const BUSY: Duration = Duration::from_secs(5);

/// The time of the store in milliseconds: SQLite's, which is the machine's.
const NOW: &str = "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)";

const TABLES: &str = "
CREATE TABLE state (
    tenant   TEXT NOT NULL,
    name     TEXT NOT NULL,
    version  INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    value    BLOB NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE consumed (
    tenant      TEXT NOT NULL,
    name        TEXT NOT NULL,
    consumed_by TEXT NOT NULL,
    until_ms    INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
";

/// A store in a file. The file is created readable only by its owner.
#[derive(Debug, Clone)]
pub struct SqliteState(Arc<Mutex<Connection>>);

impl SqliteState {
    /// Opens a file, and initializes it if it is empty.
    ///
    /// # Errors
    /// If it cannot be opened, or is not a store; then it stays unchanged.
    pub fn open_file(path: &Path) -> Result<Self, StateError> {
        make_private(path)?;
        let mut connection = Connection::open(path).map_err(|why| failed("read", &why))?;
        connection.busy_timeout(BUSY).map_err(|why| failed("read", &why))?;
        prepare(&mut connection)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Runs one step on a thread that may wait for the disk.
    fn step<'a, T: Send + 'static>(
        &self,
        doing: &'static str,
        step: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'a, T> {
        let own = self.0.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || {
                // A panic has rolled back its step.
                let mut connection = own.lock().unwrap_or_else(PoisonError::into_inner);
                let behavior = match doing {
                    "read" => TransactionBehavior::Deferred,
                    _ => TransactionBehavior::Immediate,
                };
                let transaction = connection.transaction_with_behavior(behavior)?;
                let value = step(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
            match done.await {
                Ok(outcome) => outcome.map_err(|why: rusqlite::Error| failed(doing, &why)),
                Err(why) => Err(StateError { doing, why: why.to_string() }),
            }
        })
    }
}

fn failed(doing: &'static str, why: &rusqlite::Error) -> StateError {
    StateError { doing, why: why.to_string() }
}

fn not_ours(why: &str) -> StateError {
    StateError { doing: "read", why: why.to_owned() }
}

/// Creates the file readable only by its owner. An existing file stays unchanged.
#[allow(clippy::disallowed_methods, reason = "an edge: the store's own file is created")]
fn make_private(path: &Path) -> Result<(), StateError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(why) => Err(StateError { doing: "written", why: format!("{}: {why}", path.display()) }),
    }
}

fn pragma(connection: &Connection, name: &str) -> Result<i32, StateError> {
    connection.pragma_query_value(None, name, |row| row.get(0)).map_err(|why| failed("read", &why))
}

fn prepare(connection: &mut Connection) -> Result<(), StateError> {
    // Checked before any change: the file may belong to another program.
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|why| failed("read", &why))?;
    if tables > 0 || pragma(connection, "application_id")? != 0 {
        is_ours(pragma(connection, "application_id")?, pragma(connection, "user_version")?)?;
    }
    write_ahead(connection)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|why| failed("written", &why))?;
    // Another process may have initialized it meanwhile.
    if pragma(&transaction, "application_id")? == 0 {
        transaction.execute_batch(TABLES).map_err(|why| failed("written", &why))?;
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(|why| failed("written", &why))?;
        transaction.pragma_update(None, "user_version", FORM).map_err(|why| failed("written", &why))?;
    }
    is_ours(pragma(&transaction, "application_id")?, pragma(&transaction, "user_version")?)?;
    transaction.commit().map_err(|why| failed("written", &why))
}

fn is_ours(application: i32, form: i32) -> Result<(), StateError> {
    match (application, form) {
        (APPLICATION, FORM) => Ok(()),
        (APPLICATION, _) => {
            Err(not_ours("the file was written by another version of toolfold; use that version or another file"))
        }
        _ => Err(not_ours("the file is not a toolfold store; use a path that does not exist yet")),
    }
}

/// Enables SQLite's write-ahead log, which is "busy" while another process does so.
fn write_ahead(connection: &Connection) -> Result<(), StateError> {
    const PAUSE: Duration = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Err(why) if why.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < BUSY => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            set => return set.map(drop).map_err(|why| failed("written", &why)),
        }
    }
}

/// The version of an entry; 0 if it does not exist.
fn version_of(transaction: &Transaction<'_>, key: &StateKey) -> rusqlite::Result<u64> {
    let sql = format!("SELECT version FROM state WHERE tenant = ?1 AND name = ?2 AND until_ms > {NOW}");
    let mut query = transaction.prepare_cached(&sql)?;
    Ok(query.query_row(params![&*key.tenant, key.name], |row| row.get(0)).optional()?.unwrap_or(0))
}

impl StateStore for SqliteState {
    fn now_ms(&self) -> BoxFuture<'_, i64> {
        self.step("read", |transaction| transaction.query_row(&format!("SELECT {NOW}"), [], |row| row.get(0)))
    }

    fn read_state<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, Option<StoredState>> {
        let key = key.clone();
        self.step("read", move |transaction| {
            let sql = format!("SELECT version, value FROM state WHERE tenant = ?1 AND name = ?2 AND until_ms > {NOW}");
            let mut statement = transaction.prepare_cached(&sql)?;
            let found = statement.query_row(params![&*key.tenant, key.name], |row| {
                Ok(StoredState { version: row.get(0)?, value: row.get(1)? })
            });
            found.optional()
        })
    }

    fn version<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, u64> {
        let key = key.clone();
        self.step("read", move |transaction| version_of(transaction, &key))
    }

    fn write_state<'a>(&'a self, key: &'a StateKey, from: u64, value: Vec<u8>, life_ms: i64) -> BoxFuture<'a, Written> {
        let key = key.clone();
        self.step("written", move |transaction| {
            let version = version_of(transaction, &key)?;
            if version != from {
                return Ok(Written::Changed(version));
            }
            let sql = format!(
                "INSERT INTO state (tenant, name, version, until_ms, value) VALUES (?1, ?2, ?3, {NOW} + ?4, ?5)
                 ON CONFLICT DO UPDATE SET version = excluded.version, until_ms = excluded.until_ms, value = excluded.value"
            );
            let version = version + 1;
            transaction.prepare_cached(&sql)?.execute(params![&*key.tenant, key.name, version, life_ms, value])?;
            Ok(Written::Now(version))
        })
    }

    fn consume<'a>(&'a self, key: &'a StateKey, by: &'a str, life_ms: i64) -> BoxFuture<'a, bool> {
        let (key, by) = (key.clone(), by.to_owned());
        self.step("written", move |transaction| {
            let sql = format!(
                "INSERT INTO consumed (tenant, name, consumed_by, until_ms) VALUES (?1, ?2, ?3, {NOW} + ?4)
                 ON CONFLICT DO UPDATE SET consumed_by = excluded.consumed_by, until_ms = excluded.until_ms
                 WHERE until_ms <= {NOW}"
            );
            transaction.prepare_cached(&sql)?.execute(params![&*key.tenant, key.name, by, life_ms])?;
            let sql = "SELECT consumed_by = ?3 FROM consumed WHERE tenant = ?1 AND name = ?2";
            transaction.prepare_cached(sql)?.query_row(params![&*key.tenant, key.name, by], |row| row.get(0))
        })
    }

    fn is_consumed<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, bool> {
        let key = key.clone();
        self.step("read", move |transaction| {
            let sql = format!("SELECT count(*) FROM consumed WHERE tenant = ?1 AND name = ?2 AND until_ms > {NOW}");
            let mut statement = transaction.prepare_cached(&sql)?;
            let count: i64 = statement.query_row(params![&*key.tenant, key.name], |row| row.get(0))?;
            Ok(count > 0)
        })
    }

    fn remove_state<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, ()> {
        let key = key.clone();
        self.step("written", move |transaction| {
            let sql = "DELETE FROM state WHERE tenant = ?1 AND name = ?2";
            transaction.prepare_cached(sql)?.execute(params![&*key.tenant, key.name]).map(drop)
        })
    }

    fn purge(&self) -> BoxFuture<'_, usize> {
        self.step("written", |transaction| {
            let kept = transaction.execute(&format!("DELETE FROM state WHERE until_ms <= {NOW}"), [])?;
            let consumed = transaction.execute(&format!("DELETE FROM consumed WHERE until_ms <= {NOW}"), [])?;
            Ok(kept + consumed)
        })
    }

    fn is_shared(&self) -> bool {
        true
    }
}
