//! The counted events of calls, for rules over earlier calls.

use toolfold::policy::audit::Entry;
use toolfold::policy::{ApprovalError, CallState, History, Series, Summary};

use super::failure::Failure;
use super::session::{Session, get};

/// The number of a state in the table.
fn number(state: CallState) -> i16 {
    match state {
        CallState::Ok => 1,
        CallState::Failed => 2,
        CallState::Released => 3,
        _ => 0,
    }
}

fn state(number: i16) -> CallState {
    match number {
        1 => CallState::Ok,
        2 => CallState::Failed,
        3 => CallState::Released,
        _ => CallState::Forwarded,
    }
}

/// Adds the counted events of a record in its transaction, and settles those of its call. Nothing
/// is added if it has raced another call.
pub(super) async fn count(session: &Session, tenant: &str, entry: &Entry) -> Result<(), ApprovalError> {
    let new = entry.counted_state();
    if new == CallState::Forwarded {
        for event in &entry.counted {
            if let Some(seen) = event.seen
                && revision(session, tenant, &event.series).await? != seen
            {
                return Err(ApprovalError::Raced);
            }
        }
    }
    for event in &entry.counted {
        let sql = "INSERT INTO toolfold.counted (tenant, series, value, amount, time_ms, call, state)
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let (series, value, amount) = (&event.series, &event.value, &event.amount);
        session.execute(sql, &[&tenant, series, value, amount, &entry.time_ms, &entry.call, &number(new)]).await?;
    }
    if let Some(settled) = entry.settles() {
        let sql = "UPDATE toolfold.counted SET state = $3 WHERE tenant = $1 AND call = $2 AND state = 0";
        session.execute(sql, &[&tenant, &entry.call, &number(settled)]).await?;
    }
    Ok(())
}

async fn revision(session: &Session, tenant: &str, series: &str) -> Result<u64, Failure> {
    let sql = "SELECT count(*) FROM toolfold.counted WHERE tenant = $1 AND series = $2";
    let row = session.row(sql, &[&tenant, &series]).await?;
    Ok(row.map_or(Ok(0), |row| get::<i64>(&row, 0))?.cast_unsigned())
}

/// The summaries of series, from the snapshot of the session.
pub(super) async fn history(
    session: &Session,
    tenant: &str,
    series: &[Series],
    before: Option<&str>,
) -> Result<History, Failure> {
    let mut end = i64::MAX;
    if let Some(call) = before {
        let sql = "SELECT min(number) FROM toolfold.counted WHERE tenant = $1 AND call = $2";
        if let Some(row) = session.row(sql, &[&tenant, &call]).await? {
            end = get::<Option<i64>>(&row, 0)?.unwrap_or(end);
        }
    }
    let mut summaries = std::collections::BTreeMap::new();
    for own in series {
        summaries.insert(own.clone(), summary(session, tenant, own, end).await?);
    }
    Ok(History::of(summaries))
}

async fn summary(session: &Session, tenant: &str, series: &Series, end: i64) -> Result<Summary, Failure> {
    let events = "FROM toolfold.counted
                  WHERE tenant = $1 AND series = $2 AND time_ms >= $3 AND number < $4 AND state <> 3";
    // A sum beyond 64 bits is the largest or smallest number that they hold.
    let sql = format!(
        "SELECT count(*), count(*) FILTER (WHERE state = 1),
             greatest(least(coalesce(sum(amount), 0), 9223372036854775807), -9223372036854775808)::bigint,
             count(DISTINCT value), count(DISTINCT value) FILTER (WHERE value = ANY ($5)) {events}"
    );
    let mut found = Summary::default();
    if let Some(row) = session.row(&sql, &[&tenant, &series.key, &series.since_ms, &end, &series.values]).await? {
        let whole = |at| get::<i64>(&row, at).map(i64::cast_unsigned);
        (found.count, found.succeeded, found.sum) = (whole(0)?, whole(1)?, get(&row, 2)?);
        (found.distinct, found.known) = (whole(3)?, whole(4)?);
    }
    let sql = format!("SELECT time_ms, state {events} ORDER BY number LIMIT 1");
    if let Some(row) = session.row(&sql, &[&tenant, &series.key, &series.since_ms, &end]).await? {
        found.first = Some((get(&row, 0)?, state(get(&row, 1)?)));
    }
    found.revision = revision(session, tenant, &series.key).await?;
    Ok(found)
}
