//! Reads and verifies the chain, and what the tables hold without a matching record.

use std::sync::Arc;

use serde_json::Value;
use tokio_postgres::Row;
use toolfold::policy::audit::{Checkpoint, Consented, Entry, Fault, MAX_FAULTS, Sealed, Verified, link, verify};
use toolfold::policy::{Approval, ApprovalError, Grant};

use super::append::KEY;
use super::database::{Database, wait_for};
use super::failure::{Failure, damaged, forged};
use super::session::{Purpose, Session, get};

/// The number of rows that are read at once.
const PAGE: i64 = 1_000;

/// The name of the key in errors.
const NAME: &str = "the approver's key";

/// A record as it is stored.
type Stored = (u64, String, String, String);

/// Records with a number greater than `after`, oldest first.
async fn page(session: &Session, tenant: &str, after: i64, most: i64) -> Result<Vec<Stored>, Failure> {
    let sql = "SELECT seq, body, prev, hash FROM toolfold.audit WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let rows = session.rows(sql, &[&tenant, &after, &most]).await?;
    rows.iter().map(|row| Ok((get::<i64>(row, 0)?.cast_unsigned(), get(row, 1)?, get(row, 2)?, get(row, 3)?))).collect()
}

pub(super) async fn records(
    session: &Session,
    tenant: &str,
    after: i64,
    most: i64,
) -> Result<Vec<Sealed>, ApprovalError> {
    let mut records = Vec::new();
    for (seq, body, prev, hash) in page(session, tenant, after, most).await? {
        let entry = serde_json::from_str::<Entry>(&body).map_err(|why| damaged(&format!("record {seq}"), &why))?;
        records.push(Sealed::new(seq, entry, prev, hash));
    }
    Ok(records)
}

/// The digest of the approver's key that the last record about it sets.
pub(super) async fn approver(session: &Session, tenant: &str) -> Result<Option<String>, ApprovalError> {
    let sql = "SELECT seq, body, prev, hash FROM toolfold.audit WHERE tenant = $1 AND about = $2
               ORDER BY seq DESC LIMIT 1";
    let Some(row) = session.row(sql, &[&tenant, &KEY]).await? else { return Ok(None) };
    let (seq, body) = (get::<i64>(&row, 0)?.cast_unsigned(), get::<&str>(&row, 1)?);
    if link(seq, get(&row, 2)?, body) != get::<&str>(&row, 3)? {
        return Err(forged(NAME, &format!("record {seq} was changed")));
    }
    let entry: Entry = serde_json::from_str(body).map_err(|why| damaged(&format!("record {seq}"), &why))?;
    match entry.detail.get("approver").and_then(Value::as_str) {
        Some(digest) => Ok(Some(digest.to_owned())),
        None => Err(forged(NAME, &format!("record {seq} sets no key"))),
    }
}

/// One snapshot, which the thread of the caller reads page by page.
struct Snapshot {
    session: Arc<Session>,
    tenant: Arc<str>,
}

impl Snapshot {
    fn read<T, F>(&self, read: impl FnOnce(Arc<Session>, Arc<str>) -> F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        wait_for(read(self.session.clone(), self.tenant.clone()))?
    }
}

/// Verifies the chain of a tenant: see [`super::PostgresStore`].
pub(super) fn verify_chain(
    database: &Arc<Database>,
    tenant: &Arc<str>,
    known: &[Checkpoint],
) -> Result<Verified, ApprovalError> {
    let (own, of) = (database.clone(), tenant.clone());
    let session = wait_for(async move { Session::begin(&own, &of, Purpose::Read).await })??;
    let snapshot = Snapshot { session: Arc::new(session), tenant: tenant.clone() };
    let mut known = known.to_vec();
    let head = snapshot.read(|session, tenant| async move {
        let sql = "SELECT seq, hash FROM toolfold.head WHERE tenant = $1 AND seq > 0";
        let row = session.row(sql, &[&&*tenant]).await?;
        row.map(|row| Ok(Checkpoint { seq: get::<i64>(&row, 0)?.cast_unsigned(), hash: get(&row, 1)? })).transpose()
    })?;
    let is_headless = head.is_none();
    known.extend(head);
    let (mut after, mut ready, mut broken) = (0, Vec::new().into_iter(), None);
    let rows = std::iter::from_fn(|| {
        if let Some(row) = ready.next() {
            return Some(Some(row));
        }
        let next = snapshot.read(|session, tenant| async move { page(&session, &tenant, after, PAGE).await });
        ready = next.map_err(|why| broken = Some(why)).unwrap_or_default().into_iter();
        after = ready.as_slice().last().map_or(after, |(seq, ..): &Stored| seq.cast_signed());
        ready.next().map(Some)
    });
    let mut consented = Consented::default();
    let mut verified = verify(rows, &known, &mut consented);
    if let Some(why) = broken {
        return Err(why.into());
    }
    if is_headless && verified.records > 0 {
        verified.faults.push(Fault::NoHead);
    }
    unrecorded(&snapshot, &consented, &mut verified.faults)?;
    Ok(verified)
}

/// What the tables hold without a matching record.
fn unrecorded(snapshot: &Snapshot, consented: &Consented, faults: &mut Vec<Fault>) -> Result<(), ApprovalError> {
    let mut hold = |sql: &'static str, knows: &dyn Fn(&str, &str, &str) -> Result<(), String>| {
        let mut after = 0_i64;
        loop {
            let rows = snapshot.read(|session, tenant| async move {
                let rows = session.rows(sql, &[&&*tenant, &after, &PAGE]).await?;
                let read = |row: &Row| Ok((get::<i64>(row, 0)?, get(row, 1)?, get(row, 2)?, get(row, 3)?));
                rows.iter().map(read).collect::<Result<Vec<(i64, String, String, String)>, Failure>>()
            })?;
            let Some((last, ..)) = rows.last() else { return Ok::<(), ApprovalError>(()) };
            after = *last;
            for (_, id, state, body) in rows {
                if let Err(why) = knows(&id, &state, &body)
                    && faults.len() < MAX_FAULTS
                {
                    faults.push(Fault::Unrecorded { id, why });
                }
            }
        }
    };
    let unread = |why: serde_json::Error| format!("it cannot be read: {why}");
    let approvals = "SELECT number, id, state, body FROM toolfold.approval WHERE tenant = $1 AND number > $2
                     ORDER BY number LIMIT $3";
    hold(approvals, &|id, state, body| {
        let approval: Approval = serde_json::from_str(body).map_err(unread)?;
        if approval.state.to_string() != state {
            return Err(format!("its column is {state}, its body is {}", approval.state));
        }
        consented.knows(id, &approval).map_err(|why| why.to_string())
    })?;
    // A revoked grant has no effect, even if it was revoked in the table only.
    let grants = "SELECT number, id, 'live', body FROM toolfold.remembered
                  WHERE tenant = $1 AND number > $2 AND NOT revoked ORDER BY number LIMIT $3";
    hold(grants, &|id, _, body| {
        let grant: Grant = serde_json::from_str(body).map_err(unread)?;
        consented.knows_grant(id, &grant).map_err(|why| why.to_string())
    })
}
