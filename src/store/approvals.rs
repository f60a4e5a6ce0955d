//! Approvals and grants in the store.

use rusqlite::{Connection, OptionalExtension, Params};
use serde_json::json;

use super::proof::{now, proven, proven_grant};
use super::{SqliteStore, append, damaged, failed};
use crate::policy::approval::{Answer, Approval, ApprovalError, ApprovalState, Request};
use crate::policy::audit::{Entry, Kind};
use crate::policy::gate::{ApprovalStore, Consent, JudgedAgain, about, about_grant};
use crate::policy::{Grant, History, Series, StoreError, StoreErrorKind, canonical};

impl ApprovalStore for SqliteStore {
    fn record(&self, entry: &Entry) -> Result<(), ApprovalError> {
        let entry = entry.clone();
        self.write_transaction(move |transaction| append(transaction, &entry))
    }

    fn ask(&self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
        self.write_transaction(move |transaction| insert(transaction, request, now_ms, wait_ms))
    }

    fn ask_once(&self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
        self.write_transaction(move |transaction| match standing(transaction, &request, now_ms)? {
            Some(approval) => Ok(approval),
            None => insert(transaction, request, now_ms, wait_ms),
        })
    }

    fn get(&self, id: &str) -> Result<Approval, ApprovalError> {
        fetch(&self.reading(), id, row_number(id, "ap-")?)
    }

    fn pending(&self, now_ms: i64) -> Result<Vec<Approval>, ApprovalError> {
        let (all, now_ms) = read_open(&self.reading(), now_ms)?;
        Ok(all.into_iter().filter(|a| a.state_at(now_ms) == ApprovalState::Pending).collect())
    }

    fn open(&self, session: &str, now_ms: i64) -> Result<Vec<Approval>, ApprovalError> {
        let (all, now_ms) = read_open(&self.reading(), now_ms)?;
        Ok(all.into_iter().filter(|a| a.request.session == session && a.is_open_at(now_ms)).collect())
    }

    fn answer(&self, consent: &Consent, id: &str, answer: Answer, now_ms: i64) -> Result<Approval, ApprovalError> {
        let (number, id, by) = (row_number(id, "ap-")?, id.to_owned(), consent.by().to_owned());
        self.write_transaction(move |transaction| {
            let now_ms = now(transaction, now_ms)?;
            let answered = fetch(transaction, &id, number)?.answered(answer, &by, now_ms)?;
            let kind = if answered.state == ApprovalState::Approved { Kind::Accepted } else { Kind::Rejected };
            update_approval(transaction, number, &answered)?;
            append(transaction, &about(&answered, kind, now_ms, None))?;
            Ok(answered)
        })
    }

    fn consume(
        &self,
        _: &JudgedAgain,
        id: &str,
        digest: &str,
        now_ms: i64,
        record: &Entry,
    ) -> Result<Approval, ApprovalError> {
        let (number, id, digest, record) = (row_number(id, "ap-")?, id.to_owned(), digest.to_owned(), record.clone());
        self.write_transaction(move |transaction| {
            let now_ms = now(transaction, now_ms)?;
            let consumed = fetch(transaction, &id, number)?.consumed(&digest, now_ms)?;
            update_approval(transaction, number, &consumed)?;
            append(transaction, &record)?;
            Ok(consumed)
        })
    }

    fn history(&self, series: &[Series], before: Option<&str>) -> Result<History, ApprovalError> {
        super::memory::history(&mut self.reading(), series, before)
    }

    fn add_grant(&self, _: &Consent, mut grant: Grant, now_ms: i64) -> Result<Grant, ApprovalError> {
        self.write_transaction(move |transaction| {
            transaction.execute("INSERT INTO remembered (body) VALUES ('')", []).map_err(|why| failed(&why))?;
            let number = transaction.last_insert_rowid();
            grant.id = format!("gr-{number}");
            let body = serde_json::to_string(&grant).map_err(|why| not_json(&why))?;
            transaction
                .execute("UPDATE remembered SET body = ?2 WHERE number = ?1", (number, body))
                .map_err(|why| failed(&why))?;
            append(transaction, &about_grant(&grant, Kind::Granted, now_ms))?;
            Ok(grant)
        })
    }

    fn grants(&self, now_ms: i64) -> Result<Vec<Grant>, ApprovalError> {
        let connection = self.reading();
        let mut statement = connection
            .prepare_cached("SELECT number, body FROM remembered WHERE revoked = 0 ORDER BY number")
            .map_err(|why| failed(&why))?;
        let rows = statement
            .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
            .map_err(|why| failed(&why))?;
        let rows = rows.collect::<Result<Vec<_>, _>>().map_err(|why| failed(&why))?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let now_ms = now(&connection, now_ms)?;
        let mut live = Vec::new();
        for (number, body) in rows {
            let grant: Grant = serde_json::from_str(&body).map_err(|why| damaged("a remembered approval", &why))?;
            if grant.expires_ms.is_none_or(|end| now_ms < end) {
                // A grant without matching records has no effect; `verify` reports it.
                live.extend(proven_grant(&connection, &format!("gr-{number}"), grant).ok());
            }
        }
        Ok(live)
    }

    fn revoke(&self, id: &str, now_ms: i64) -> Result<bool, ApprovalError> {
        let Ok(number) = row_number(id, "gr-") else { return Ok(false) };
        self.write_transaction(move |transaction| {
            let body: Option<String> = transaction
                .query_row("SELECT body FROM remembered WHERE number = ?1 AND revoked = 0", [number], |row| row.get(0))
                .optional()
                .map_err(|why| failed(&why))?;
            let Some(body) = body else { return Ok(false) };
            transaction
                .execute("UPDATE remembered SET revoked = 1 WHERE number = ?1", [number])
                .map_err(|why| failed(&why))?;
            // A grant that cannot be read can still be revoked.
            let entry = match serde_json::from_str::<Grant>(&body) {
                Ok(grant) => about_grant(&grant, Kind::Revoked, now_ms),
                Err(_) => {
                    let mut entry = Entry::new(Kind::Revoked, now_ms);
                    entry.detail = json!({ "grant": format!("gr-{number}") });
                    entry
                }
            };
            append(transaction, &entry)?;
            Ok(true)
        })
    }

    fn now(&self, clock_ms: i64) -> i64 {
        now(&self.reading(), clock_ms).unwrap_or(clock_ms)
    }
}

fn row_number(id: &str, prefix: &str) -> Result<i64, ApprovalError> {
    id.strip_prefix(prefix).and_then(|n| n.parse().ok()).ok_or_else(|| ApprovalError::NotFound(id.to_owned()))
}

/// Creates an approval and its record.
fn insert(transaction: &Connection, request: Request, clock_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
    let now_ms = now(transaction, clock_ms)?;
    cut_expired(transaction, now_ms)?;
    // The row is inserted first: its number is part of the id that is stored in it.
    transaction
        .execute("INSERT INTO approval (state, expires_ms, body) VALUES ('pending', 0, '')", [])
        .map_err(|why| failed(&why))?;
    let number = transaction.last_insert_rowid();
    let approval = Approval::pending(format!("ap-{number}"), request, now_ms, wait_ms);
    update_approval(transaction, number, &approval)?;
    append(transaction, &about(&approval, Kind::Asked, now_ms, None))?;
    Ok(approval)
}

/// Selects the approvals of a call with the index `approval_call`.
const OF_CALL: &str = include_str!("approvals_of_call.sql");

/// The approval that applies to a call. An open approval must match the chain; for one that has
/// ended, the row is sufficient. A row that is not valid JSON cannot be attributed to the call and
/// is left for `verify`.
fn standing(transaction: &Connection, request: &Request, clock_ms: i64) -> Result<Option<Approval>, ApprovalError> {
    let of_call = numbered(transaction, OF_CALL, (&request.session, &request.call_id))?
        .into_iter()
        .map(|(number, body)| parse_approval(&format!("ap-{number}"), Some(body)))
        .collect::<Result<Vec<_>, _>>()?;
    match Approval::standing(&of_call, request, now(transaction, clock_ms)?).cloned() {
        Some(approval) if approval.state.is_open() => proven(transaction, &approval.id.clone(), approval).map(Some),
        over => Ok(over),
    }
}

/// Returns the approval if it matches the chain.
fn fetch(connection: &Connection, id: &str, number: i64) -> Result<Approval, ApprovalError> {
    let body = connection
        .prepare_cached("SELECT body FROM approval WHERE number = ?1")
        .and_then(|mut s| s.query_row([number], |row| row.get(0)).optional())
        .map_err(|why| failed(&why))?;
    proven(connection, id, parse_approval(id, body)?)
}

fn parse_approval(id: &str, body: Option<String>) -> Result<Approval, ApprovalError> {
    let body = body.ok_or_else(|| ApprovalError::NotFound(id.to_owned()))?;
    serde_json::from_str(&body).map_err(|why| damaged(&format!("approval `{id}`"), &why))
}

/// The error for a value that cannot be serialized, which cannot happen for values created here.
fn not_json(why: &serde_json::Error) -> ApprovalError {
    StoreError::new(StoreErrorKind::Other, why.to_string()).into()
}

/// The approvals whose calls may still run, with the effective time. Expired approvals stay in the
/// table and are not read, nor are those that do not match the records, which `get` and `verify`
/// report.
fn read_open(connection: &Connection, clock_ms: i64) -> Result<(Vec<Approval>, i64), ApprovalError> {
    let now_ms = now(connection, clock_ms)?;
    let sql =
        "SELECT number, body FROM approval WHERE state IN ('pending', 'approved') AND expires_ms > ?1 ORDER BY number";
    let rows = numbered(connection, sql, [now_ms])?;
    let open = rows.into_iter().map(|(number, body)| (format!("ap-{number}"), body));
    let read =
        open.map(|(id, body)| Ok((parse_approval(&id, Some(body))?, id))).collect::<Result<Vec<_>, ApprovalError>>()?;
    let open = read.into_iter().filter_map(|(approval, id)| proven(connection, &id, approval).ok()).collect();
    Ok((open, now_ms))
}

/// Reduces expired approvals to the fields of an ended call, a few at a time, so that no change
/// takes long.
fn cut_expired(transaction: &Connection, now_ms: i64) -> Result<(), ApprovalError> {
    let sql = "SELECT number, body FROM approval WHERE state IN ('pending', 'approved') AND expires_ms <= ?1
        ORDER BY number LIMIT 32";
    for (number, body) in numbered(transaction, sql, [now_ms])? {
        // An unreadable row is left for `verify` to report.
        if let Ok(approval) = serde_json::from_str::<Approval>(&body) {
            update_approval(transaction, number, &approval.expired(now_ms))?;
        }
    }
    Ok(())
}

/// The number and body of each approval that a query returns.
fn numbered(connection: &Connection, sql: &str, with: impl Params) -> Result<Vec<(i64, String)>, ApprovalError> {
    let mut statement = connection.prepare_cached(sql).map_err(|why| failed(&why))?;
    let rows = statement.query_map(with, |row| Ok((row.get(0)?, row.get(1)?))).map_err(|why| failed(&why))?;
    rows.collect::<Result<_, _>>().map_err(|why| failed(&why))
}

/// Stores an approval: with the complete call while it may still run, and without secrets
/// afterwards.
fn update_approval(transaction: &Connection, number: i64, approval: &Approval) -> Result<(), ApprovalError> {
    let kept = approval.clone().kept();
    let body = serde_json::to_value(kept).map_err(|why| not_json(&why))?;
    transaction
        .prepare_cached("UPDATE approval SET state = ?2, expires_ms = ?3, body = ?4 WHERE number = ?1")
        .and_then(|mut s| {
            s.execute((number, approval.state.to_string(), approval.expires_ms, canonical::canonical(&body)))
        })
        .map(drop)
        .map_err(|why| failed(&why))
}
