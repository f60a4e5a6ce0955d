//! The tables, and the migration of stores from older versions of this program.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::failed;
use crate::policy::{ApprovalError, StoreError, StoreErrorKind};

/// One migration step for each version. A released step never changes; new steps are appended.
const STEPS: &[&str] = &[
    "
CREATE TABLE audit (
    seq  INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_is_append_only_1 BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_append_only_2 BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TABLE approval (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    state      TEXT NOT NULL,
    expires_ms INTEGER NOT NULL,
    body       TEXT NOT NULL
) STRICT;
CREATE INDEX approval_waiting ON approval (state) WHERE state = 'pending';
CREATE TABLE remembered (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    revoked INTEGER NOT NULL DEFAULT 0,
    body    TEXT NOT NULL
) STRICT;
",
    "
DROP INDEX approval_waiting;
CREATE INDEX approval_open ON approval (expires_ms) WHERE state IN ('pending', 'approved');
",
    "
CREATE INDEX audit_consent ON audit (
    CASE WHEN json_valid(body) THEN coalesce(json_extract(body, '$.\"toolfold.detail\".approval'),
                                             json_extract(body, '$.\"toolfold.detail\".grant')) END
);
",
    "
CREATE INDEX approval_call ON approval (
    CASE WHEN json_valid(body) THEN json_extract(body, '$.request.session') END,
    CASE WHEN json_valid(body) THEN json_extract(body, '$.request.call_id') END
);
",
    "
CREATE INDEX audit_approver ON audit (seq)
    WHERE CASE WHEN json_valid(body) THEN json_extract(body, '$.\"toolfold.kind\"') END = 'approver';
",
    "
CREATE TABLE counted (
    number  INTEGER PRIMARY KEY,
    series  TEXT NOT NULL,
    value   TEXT NOT NULL,
    amount  INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    call    TEXT NOT NULL,
    state   INTEGER NOT NULL
) STRICT;
CREATE INDEX counted_series ON counted (series, time_ms);
CREATE INDEX counted_call ON counted (call);
",
];

/// The number of steps already applied to a file. A number that no program writes indicates damage.
fn version(connection: &Connection) -> Result<usize, ApprovalError> {
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|why| failed(&why))?;
    let known = STEPS.len();
    match usize::try_from(version) {
        Ok(done) if done <= known => Ok(done),
        Ok(_) => {
            let why = format!(
                "the store has format version {version}, this program supports up to version {known}: use a newer version of toolfold"
            );
            Err(StoreError::new(StoreErrorKind::Newer, why).into())
        }
        Err(_) => Err(not_a_store()),
    }
}

/// Checks that a file can be read without migration: every known version has the same tables.
pub(super) fn check_version(connection: &Connection) -> Result<(), ApprovalError> {
    match version(connection)? {
        0 => Err(not_a_store()),
        _ => Ok(()),
    }
}

/// Whether the file is a store: `false` if it is empty. An error if it is something else.
///
/// Requires a transaction: between two statements outside one, another process may create the
/// store.
pub(super) fn is_store(connection: &Transaction<'_>) -> Result<bool, ApprovalError> {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(|why| failed(&why));
    let ours = "SELECT count(*) FROM sqlite_schema
        WHERE type = 'table' AND name IN ('audit', 'head', 'approval', 'remembered')";
    match (version(connection)?, count("SELECT count(*) FROM sqlite_schema")?, count(ours)?) {
        (0, 0, _) => Ok(false),
        (1.., _, 4) => Ok(true),
        _ => Err(not_a_store()),
    }
}

pub(super) fn not_a_store() -> ApprovalError {
    StoreError::new(StoreErrorKind::NotAStore, "the file is not an approval store").into()
}

/// Migrates a file to the newest version. If several processes try at once, one of them migrates.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), ApprovalError> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|why| failed(&why))?;
    is_store(&transaction)?;
    let done = version(&transaction)?;
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step).map_err(|why| failed(&why))?;
    }
    if done < STEPS.len() {
        transaction.pragma_update(None, "user_version", STEPS.len().to_string()).map_err(|why| failed(&why))?;
    }
    transaction.commit().map_err(|why| failed(&why))
}
