//! Tables, and how a file of an older program becomes one of this program.

use rusqlite::{Connection, TransactionBehavior};

use super::failed;
use crate::policy::ApprovalError;

/// One step a version. Steps are never changed once released; new ones are added at the end.
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
];

/// How many steps a file has behind it.
fn version(connection: &Connection) -> Result<usize, ApprovalError> {
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|why| failed(&why))?;
    let (done, known) = (usize::try_from(version).unwrap_or(usize::MAX), STEPS.len());
    if done > known {
        let why = format!("it is of version {version}, this program knows {known}: use a newer one");
        return Err(ApprovalError::Store(why));
    }
    Ok(done)
}

/// Whether a file can be read as it is: any version that is known has the same tables.
pub(super) fn check(connection: &Connection) -> Result<(), ApprovalError> {
    match version(connection)? {
        0 => Err(no_store()),
        _ => Ok(()),
    }
}

fn no_store() -> ApprovalError {
    ApprovalError::Store("it is no store of approvals".to_owned())
}

/// Brings a file to the newest version. Several processes may try at once: one does it.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), ApprovalError> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|why| failed(&why))?;
    let done = version(&transaction)?;
    if done == 0 {
        let tables: i64 = transaction
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|why| failed(&why))?;
        if tables > 0 {
            return Err(no_store());
        }
    }
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step).map_err(|why| failed(&why))?;
    }
    if done < STEPS.len() {
        let newest = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
        transaction.pragma_update(None, "user_version", newest).map_err(|why| failed(&why))?;
    }
    transaction.commit().map_err(|why| failed(&why))
}
