//! Changes of a tenant's approvals, grants and chain. Each checks everything before it writes
//! anything, so that one that is refused leaves its transaction as it was.

use serde_json::json;
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::gate::{about, about_grant};
use toolfold::policy::{
    Answer, Approval, ApprovalError, ApprovalState, Grant, Request, StoreError, StoreErrorKind, canonical,
};

use super::append::Chain;
use super::failure::{Failure, damaged};
use super::proof::proven;
use super::session::{Session, get};
use super::verify::approver;

/// The digits of an id: Crockford's Base32, in the order of their values.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A change.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Record(Box<Entry>),
    /// `once`: unless an approval answers for the call already.
    Ask {
        request: Box<Request>,
        wait_ms: i64,
        once: bool,
    },
    Answer {
        id: String,
        answer: Answer,
        by: String,
    },
    Consume {
        id: String,
        digest: String,
        record: Box<Entry>,
    },
    Grant(Box<Grant>),
    Revoke(String),
    Purge {
        before_ms: i64,
    },
    /// Sets the digest of the approver's key, if `known` is the current one.
    Approver {
        known: Option<String>,
        new: String,
        by: String,
    },
}

/// What a change returns.
#[derive(Debug, Clone)]
pub(super) enum Done {
    Nothing,
    Approval(Box<Approval>),
    Grant(Box<Grant>),
    Revoked(bool),
    Purged(usize),
}

impl Change {
    /// Makes the change in a transaction.
    pub(super) async fn make(&self, chain: &mut Chain) -> Result<Done, ApprovalError> {
        if let Self::Record(entry) = self {
            chain.append(entry).await?;
            return Ok(Done::Nothing);
        }
        // What follows reads the records that earlier changes of the transaction have added.
        chain.flush().await?;
        match self {
            Self::Record(_) => Ok(Done::Nothing),
            Self::Ask { request, wait_ms, once } => {
                if *once && let Some(approval) = standing(chain, request).await? {
                    return Ok(Done::Approval(Box::new(approval)));
                }
                Ok(Done::Approval(Box::new(ask(chain, request, *wait_ms).await?)))
            }
            Self::Answer { id, answer, by } => {
                let approval = fetch(&chain.session, &chain.tenant, id).await?;
                let answered = approval.answered(answer.clone(), by, chain.now_ms)?;
                let kind = if answered.state == ApprovalState::Approved { Kind::Accepted } else { Kind::Rejected };
                chain.append(&about(&answered, kind, chain.now_ms, None)).await?;
                update(chain, &answered, None).await?;
                Ok(Done::Approval(Box::new(answered)))
            }
            Self::Consume { id, digest, record } => {
                let approval = fetch(&chain.session, &chain.tenant, id).await?;
                let consumed = approval.consumed(digest, chain.now_ms)?;
                chain.append(record).await?;
                let by = chain.batch.clone();
                update(chain, &consumed, Some(&by)).await?;
                Ok(Done::Approval(Box::new(consumed)))
            }
            Self::Grant(grant) => {
                let mut grant = grant.clone();
                grant.id = format!("gr-{}", ulid(chain.now_ms)?);
                let sql = "INSERT INTO toolfold.remembered (tenant, id, body) VALUES ($1, $2, $3)";
                chain.append(&about_grant(&grant, Kind::Granted, chain.now_ms)).await?;
                let body = text_of(&*grant)?;
                chain.session.execute(sql, &[&chain.tenant, &grant.id, &body]).await?;
                Ok(Done::Grant(grant))
            }
            Self::Revoke(id) => revoke(chain, id).await.map(Done::Revoked),
            Self::Purge { before_ms } => purge(chain, *before_ms).await.map(Done::Purged),
            Self::Approver { known, new, by } => {
                let current = approver(&chain.session, &chain.tenant).await?;
                if current.as_ref() == Some(new) {
                    return Ok(Done::Nothing);
                }
                if current.is_some() && current != *known {
                    return Err(ApprovalError::Key);
                }
                let mut entry = Entry::new(Kind::Approver, chain.now_ms);
                entry.detail = json!({ "approver": new, "replaces": current, "by": by });
                chain.append(&entry).await?;
                Ok(Done::Nothing)
            }
        }
    }
}

/// An approval with the rows of the store about its call.
async fn standing(chain: &Chain, request: &Request) -> Result<Option<Approval>, ApprovalError> {
    let sql = "SELECT id, body FROM toolfold.approval
               WHERE tenant = $1 AND call = $2 AND state <> 'expired' ORDER BY number";
    let mut of_call = Vec::new();
    for row in chain.session.rows(sql, &[&chain.tenant, &call_of(request)]).await? {
        of_call.push(parse(get(&row, 0)?, get(&row, 1)?)?);
    }
    match Approval::standing(&of_call, request, chain.now_ms).cloned() {
        Some(open) if open.state.is_open() => {
            let id = open.id.clone();
            proven(&chain.session, &chain.tenant, &id, open).await.map(Some)
        }
        over => Ok(over),
    }
}

async fn ask(chain: &mut Chain, request: &Request, wait_ms: i64) -> Result<Approval, ApprovalError> {
    cut_expired(chain).await?;
    let id = format!("ap-{}", ulid(chain.now_ms)?);
    let approval = Approval::pending(id, request.clone(), chain.now_ms, wait_ms);
    chain.append(&about(&approval, Kind::Asked, chain.now_ms, None)).await?;
    let sql = "INSERT INTO toolfold.approval (tenant, id, state, call, expires_ms, body)
               VALUES ($1, $2, $3, $4, $5, $6)";
    let (state, body) = (approval.state.to_string(), text_of(&approval)?);
    let (call, expires_ms) = (call_of(request), approval.expires_ms);
    chain.session.execute(sql, &[&chain.tenant, &approval.id, &state, &call, &expires_ms, &body]).await?;
    Ok(approval)
}

/// Reduces expired approvals to the fields of an ended call, a few at a time, so that no change
/// takes long.
async fn cut_expired(chain: &mut Chain) -> Result<(), ApprovalError> {
    let sql = "SELECT body FROM toolfold.approval WHERE tenant = $1 AND state IN ('pending', 'approved')
                   AND expires_ms <= $2 ORDER BY number LIMIT 32";
    for row in chain.session.rows(sql, &[&chain.tenant, &chain.now_ms]).await? {
        // An unreadable row is left for a verification to report.
        if let Ok(approval) = serde_json::from_str::<Approval>(get(&row, 0)?) {
            update(chain, &approval.expired(chain.now_ms), None).await?;
        }
    }
    Ok(())
}

/// Stores an approval: with the complete call while it may still run, and without secrets
/// afterwards. `by`: the transaction that consumes it.
async fn update(chain: &Chain, approval: &Approval, by: Option<&[u8]>) -> Result<(), ApprovalError> {
    let sql = "UPDATE toolfold.approval SET state = $3, expires_ms = $4, body = $5, consumed_by = $6
               WHERE tenant = $1 AND id = $2";
    let (state, body) = (approval.state.to_string(), text_of(&approval.clone().kept())?);
    let values: super::session::Values<'_> = &[&chain.tenant, &approval.id, &state, &approval.expires_ms, &body, &by];
    chain.session.execute(sql, values).await?;
    Ok(())
}

async fn revoke(chain: &mut Chain, id: &str) -> Result<bool, ApprovalError> {
    if !id.starts_with("gr-") || id.contains('\0') {
        return Ok(false);
    }
    let sql = "SELECT body FROM toolfold.remembered WHERE tenant = $1 AND id = $2 AND NOT revoked";
    let Some(row) = chain.session.row(sql, &[&chain.tenant, &id]).await? else { return Ok(false) };
    // A grant that cannot be read can still be revoked.
    let entry = match serde_json::from_str::<Grant>(get(&row, 0)?) {
        Ok(grant) => about_grant(&grant, Kind::Revoked, chain.now_ms),
        Err(_) => {
            let mut entry = Entry::new(Kind::Revoked, chain.now_ms);
            entry.detail = json!({ "grant": id });
            entry
        }
    };
    chain.append(&entry).await?;
    let sql = "UPDATE toolfold.remembered SET revoked = true WHERE tenant = $1 AND id = $2";
    chain.session.execute(sql, &[&chain.tenant, &id]).await?;
    Ok(true)
}

async fn purge(chain: &mut Chain, before_ms: i64) -> Result<usize, ApprovalError> {
    let sql = "DELETE FROM toolfold.approval
               WHERE tenant = $1 AND expires_ms < $2 AND (state NOT IN ('pending', 'approved') OR expires_ms <= $3)";
    let removed = chain.session.execute(sql, &[&chain.tenant, &before_ms, &chain.now_ms]).await?;
    let removed = usize::try_from(removed).unwrap_or(usize::MAX);
    if removed > 0 {
        let mut entry = Entry::new(Kind::Purged, chain.now_ms);
        entry.detail = json!({ "approvals": removed, "before_ms": before_ms });
        chain.append(&entry).await?;
    }
    Ok(removed)
}

/// Returns the approval if it matches the chain.
pub(super) async fn fetch(session: &Session, tenant: &str, id: &str) -> Result<Approval, ApprovalError> {
    let not_found = || ApprovalError::NotFound(id.to_owned());
    if id.contains('\0') {
        return Err(not_found());
    }
    let sql = "SELECT body FROM toolfold.approval WHERE tenant = $1 AND id = $2";
    let row = session.row(sql, &[&tenant, &id]).await?.ok_or_else(not_found)?;
    proven(session, tenant, id, parse(id, get(&row, 0)?)?).await
}

pub(super) fn parse(id: &str, body: &str) -> Result<Approval, ApprovalError> {
    serde_json::from_str(body).map_err(|why| damaged(&format!("approval `{id}`"), &why))
}

/// What identifies the call of a request: the digest of its session and id, which may be any text.
fn call_of(request: &Request) -> String {
    canonical::digest(&json!([request.session, request.call_id]))
}

fn text_of(value: &impl serde::Serialize) -> Result<String, ApprovalError> {
    let value = serde_json::to_value(value).map_err(|why| StoreError::new(StoreErrorKind::Other, why.to_string()))?;
    Ok(canonical::canonical(&value))
}

/// A ULID (<https://github.com/ulid/spec>): 48 bits of milliseconds since 1970 and 80 random bits,
/// as 26 digits.
fn ulid(now_ms: i64) -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|why| Failure::other(format!("no random bits available: {why}")))?;
    let random = u128::from_be_bytes(bytes) & ((1 << 80) - 1);
    let bits = u128::from(now_ms.cast_unsigned()) << 80 | random;
    let digit = |at: u32| {
        let value = usize::try_from((bits >> (5 * at)) & 31).unwrap_or_default();
        char::from(DIGITS.get(value).copied().unwrap_or(b'0'))
    };
    Ok((0..26).rev().map(digit).collect())
}

#[cfg(test)]
mod tests {
    use super::ulid;

    /// The time is that of the specification's example, `01ARZ3NDEKTSV4RRFFQ69G5FAV`.
    #[test]
    fn a_ulid_begins_with_its_time() {
        let (one, other) = (ulid(1_469_922_850_259).unwrap(), ulid(1_469_922_850_259).unwrap());
        assert!(one.starts_with("01ARZ3NDEK") && one.len() == 26, "{one}");
        assert_ne!(one, other);
    }
}
