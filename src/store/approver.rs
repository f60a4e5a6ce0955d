//! The approver's key: a secret of the user, of which the store holds only a digest. The key is
//! required to decide on a call from outside the conversation that requested it.

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use super::{SqliteStore, append, damaged, failed, forged};
use crate::policy::ApprovalError;
use crate::policy::audit::{Entry, Kind, link};
use crate::policy::canonical::digest;

/// The name of the key in errors.
const NAME: &str = "the approver's key";

/// The digest under which a store holds a key. The key itself is never stored.
#[must_use]
pub fn approver_digest(key: &str) -> String {
    digest(&json!(["approver's key", key]))
}

impl SqliteStore {
    /// The [digest](approver_digest) of the approver's key according to the audit chain. `None` if
    /// no key was set.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Store`] if the store cannot be read or does not match its records.
    pub fn approver(&self) -> Result<Option<String>, ApprovalError> {
        approver(&self.reading())
    }

    /// Sets `key` as the approver's key. `known` is the current key, if the store has one: a new
    /// key is rejected without it. `by` names who sets it, for the audit.
    ///
    /// # Errors
    /// Returns [`ApprovalError::Key`] if `known` is not the current key, and
    /// [`ApprovalError::Store`] if the store cannot be written.
    pub fn set_approver(&self, known: Option<&str>, key: &str, by: &str, now_ms: i64) -> Result<(), ApprovalError> {
        let (known, new, by) = (known.map(approver_digest), approver_digest(key), by.to_owned());
        self.write_transaction(move |transaction| {
            let current = approver(transaction)?;
            if current.as_ref() == Some(&new) {
                return Ok(());
            }
            if current.is_some() && current != known {
                return Err(ApprovalError::Key);
            }
            let mut entry = Entry::new(Kind::Approver, now_ms);
            entry.detail = json!({ "approver": new, "replaces": current, "by": by });
            append(transaction, &entry)
        })
    }
}

/// The digest that the last record about the key sets.
fn approver(connection: &Connection) -> Result<Option<String>, ApprovalError> {
    // The condition is that of the index `audit_approver`. A store opened read-only may lack the
    // index.
    let sql = "SELECT seq, body, prev, hash FROM audit
        WHERE CASE WHEN json_valid(body) THEN json_extract(body, '$.\"toolfold.kind\"') END = 'approver'
        ORDER BY seq DESC LIMIT 1";
    let row = connection.query_row(sql, [], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
    });
    let Some((seq, body, prev, hash)) = row.optional().map_err(|why| failed(&why))? else { return Ok(None) };
    if link(seq, &prev, &body) != hash {
        return Err(forged(NAME, &format!("record {seq} was changed")));
    }
    let entry: Entry = serde_json::from_str(&body).map_err(|why| damaged(&format!("record {seq}"), &why))?;
    match entry.detail.get("approver").and_then(Value::as_str) {
        Some(digest) => Ok(Some(digest.to_owned())),
        None => Err(forged(NAME, &format!("record {seq} sets no key"))),
    }
}
