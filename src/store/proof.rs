//! Checks one approval or grant against the chain: the tables are a cache of it, and a row that
//! does not match has no effect.

use rusqlite::{Connection, OptionalExtension};

use super::{failed, forged};
use crate::policy::audit::{Consented, Entry, Fault, MAX_FAULTS, link};
use crate::policy::{Approval, ApprovalError, Grant};

/// The later of the last record's time and `clock_ms`.
pub(super) fn now(connection: &Connection, clock_ms: i64) -> Result<i64, ApprovalError> {
    let sql = "SELECT body FROM audit WHERE seq = (SELECT seq FROM head WHERE id = 1)";
    let body: Option<String> = connection
        .prepare_cached(sql)
        .and_then(|mut s| s.query_row([], |row| row.get(0)).optional())
        .map_err(|why| failed(&why))?;
    let last = body.and_then(|body| serde_json::from_str::<Entry>(&body).ok()).map(|entry| entry.time_ms);
    Ok(last.map_or(clock_ms, |last| last.max(clock_ms)))
}

/// Replays the records about an approval or a grant.
fn consented(connection: &Connection, id: &str) -> Result<Consented, ApprovalError> {
    // The expression is that of the index `audit_consent`. A store opened read-only may lack the
    // index.
    let sql = "SELECT seq, body, prev, hash FROM audit
        WHERE CASE WHEN json_valid(body) THEN coalesce(json_extract(body, '$.\"toolfold.detail\".approval'),
                                                       json_extract(body, '$.\"toolfold.detail\".grant')) END = ?1
        ORDER BY seq";
    let mut statement = connection.prepare_cached(sql).map_err(|why| failed(&why))?;
    let rows = statement
        .query_map([id], |row| {
            Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
        })
        .map_err(|why| failed(&why))?;
    let mut consented = Consented::default();
    for row in rows {
        let (seq, body, prev, hash) = row.map_err(|why| failed(&why))?;
        let entry = serde_json::from_str::<Entry>(&body).ok().filter(|_| link(seq, &prev, &body) == hash);
        let entry = entry.ok_or_else(|| forged(id, &format!("record {seq} was changed")))?;
        if let Some(fault) = consented.take(seq, &entry) {
            return Err(forged(id, &fault.to_string()));
        }
    }
    Ok(consented)
}

/// Returns the approval if it matches the chain.
pub(super) fn proven(connection: &Connection, id: &str, approval: Approval) -> Result<Approval, ApprovalError> {
    consented(connection, id)?.knows(id, &approval).map_err(|why| forged(id, &why.to_string()))?;
    Ok(approval)
}

/// Returns the grant if it matches the chain.
pub(super) fn proven_grant(connection: &Connection, id: &str, grant: Grant) -> Result<Grant, ApprovalError> {
    consented(connection, id)?.knows_grant(id, &grant).map_err(|why| forged(id, &why.to_string()))?;
    Ok(grant)
}

/// What the tables hold without a matching record.
pub(super) fn unrecorded(
    connection: &Connection,
    consented: &Consented,
    faults: &mut Vec<Fault>,
) -> Result<(), ApprovalError> {
    let mut hold = |sql: &str, prefix: &str, knows: &dyn Fn(&str, &str, &str) -> Result<(), String>| {
        let mut statement = connection.prepare(sql).map_err(|why| failed(&why))?;
        let mut rows = statement.query([]).map_err(|why| failed(&why))?;
        while let Some(row) = rows.next().map_err(|why| failed(&why))? {
            let number: i64 = row.get(0).map_err(|why| failed(&why))?;
            let id = format!("{prefix}{number}");
            let text = |at| row.get::<_, String>(at).map_err(|_| "it cannot be read".to_owned());
            let known = text(1).and_then(|state| knows(&id, &state, &text(2)?));
            if let Err(why) = known
                && faults.len() < MAX_FAULTS
            {
                faults.push(Fault::Unrecorded { id, why });
            }
        }
        Ok::<(), ApprovalError>(())
    };
    let unread = |why: serde_json::Error| format!("it cannot be read: {why}");
    hold("SELECT number, state, body FROM approval ORDER BY number", "ap-", &|id, state, body| {
        let approval: Approval = serde_json::from_str(body).map_err(unread)?;
        if approval.state.to_string() != state {
            return Err(format!("its column is {state}, its body is {}", approval.state));
        }
        consented.knows(id, &approval).map_err(|why| why.to_string())
    })?;
    hold("SELECT number, CAST(revoked AS TEXT), body FROM remembered ORDER BY number", "gr-", &|id, revoked, body| {
        match revoked {
            "0" => {
                let grant = serde_json::from_str(body).map_err(unread)?;
                consented.knows_grant(id, &grant).map_err(|why| why.to_string())
            }
            // A revoked grant has no effect, even if it was revoked in the table only.
            _ => Ok(()),
        }
    })
}
