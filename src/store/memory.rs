//! The counted events of calls in the store, for rules over earlier calls.

use rusqlite::{Connection, OptionalExtension};

use super::failed;
use crate::policy::audit::Entry;
use crate::policy::{ApprovalError, CallState, History, Series, Summary};

/// The number of a state in the table.
fn number(state: CallState) -> i64 {
    match state {
        CallState::Ok => 1,
        CallState::Failed => 2,
        CallState::Released => 3,
        _ => 0,
    }
}

fn state(number: i64) -> CallState {
    match number {
        1 => CallState::Ok,
        2 => CallState::Failed,
        3 => CallState::Released,
        _ => CallState::Forwarded,
    }
}

/// Adds the counted events of a record in its transaction, and settles those of its call.
pub(super) fn count(transaction: &Connection, entry: &Entry) -> Result<(), ApprovalError> {
    let new = entry.counted_state();
    if new == CallState::Forwarded {
        for event in &entry.counted {
            if let Some(seen) = event.seen
                && revision(transaction, &event.series)? != seen
            {
                return Err(ApprovalError::Raced);
            }
        }
    }
    for event in &entry.counted {
        let values = (&event.series, &event.value, event.amount, entry.time_ms, &entry.call, number(new));
        transaction
            .prepare_cached(
                "INSERT INTO counted (series, value, amount, time_ms, call, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )
            .and_then(|mut insert| insert.execute(values))
            .map_err(|why| failed(&why))?;
    }
    if let Some(settled) = entry.settles() {
        transaction
            .prepare_cached("UPDATE counted SET state = ?2 WHERE call = ?1 AND state = 0")
            .and_then(|mut update| update.execute((&entry.call, number(settled))))
            .map_err(|why| failed(&why))?;
    }
    Ok(())
}

fn revision(connection: &Connection, series: &str) -> Result<u64, ApprovalError> {
    connection
        .prepare_cached("SELECT count(*) FROM counted WHERE series = ?1")
        .and_then(|mut query| query.query_row([series], |row| row.get(0)))
        .map_err(|why| failed(&why))
}

/// The summaries of series, from one snapshot.
pub(super) fn history(
    connection: &mut Connection,
    series: &[Series],
    before: Option<&str>,
) -> Result<History, ApprovalError> {
    let read = connection.transaction().map_err(|why| failed(&why))?;
    let end = match before {
        Some(call) => read
            .prepare_cached("SELECT min(number) FROM counted WHERE call = ?1")
            .and_then(|mut query| query.query_row([call], |row| row.get::<_, Option<i64>>(0)).optional())
            .map_err(|why| failed(&why))?
            .flatten(),
        None => None,
    };
    let end = end.unwrap_or(i64::MAX);
    let summaries = series.iter().map(|series| Ok((series.clone(), summary(&read, series, end)?)));
    summaries.collect::<Result<_, _>>().map(History::of)
}

fn summary(connection: &Connection, series: &Series, end: i64) -> Result<Summary, ApprovalError> {
    // The first event's state is that of the row with the smallest number.
    let sql = "SELECT count(*), coalesce(sum(state = 1), 0), coalesce(sum(amount), 0), count(DISTINCT value),
            count(DISTINCT CASE WHEN value IN (SELECT value FROM json_each(?4)) THEN value END),
            min(number), time_ms, state
        FROM counted WHERE series = ?1 AND time_ms >= ?2 AND number < ?3 AND state <> 3";
    let values = serde_json::Value::from(series.values.clone()).to_string();
    let mut summary = Summary::default();
    connection
        .prepare_cached(sql)
        .and_then(|mut query| {
            query.query_row((&series.key, series.since_ms, end, values), |row| {
                summary.count = row.get(0)?;
                summary.succeeded = row.get(1)?;
                summary.sum = row.get(2)?;
                summary.distinct = row.get(3)?;
                summary.known = row.get(4)?;
                summary.first = match row.get::<_, Option<i64>>(5)? {
                    Some(_) => Some((row.get(6)?, state(row.get(7)?))),
                    None => None,
                };
                Ok(())
            })
        })
        .map_err(|why| failed(&why))?;
    summary.revision = revision(connection, &series.key)?;
    Ok(summary)
}
