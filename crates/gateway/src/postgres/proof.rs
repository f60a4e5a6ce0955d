//! Checks one approval or grant against the chain: the tables are a cache of it, and a row that
//! does not match has no effect.

use toolfold::policy::audit::{Consented, Entry, link};
use toolfold::policy::{Approval, ApprovalError, Grant};

use super::failure::forged;
use super::session::{Session, get};

/// The consent that the records about an approval or a grant amount to.
async fn consented(session: &Session, tenant: &str, id: &str) -> Result<Consented, ApprovalError> {
    let sql = "SELECT seq, body, prev, hash FROM toolfold.audit WHERE tenant = $1 AND about = $2 ORDER BY seq";
    let mut consented = Consented::default();
    for row in session.rows(sql, &[&tenant, &id]).await? {
        let (seq, body, prev) = (get::<i64>(&row, 0)?.cast_unsigned(), get::<String>(&row, 1)?, get::<&str>(&row, 2)?);
        let is_whole = link(seq, prev, &body) == get::<&str>(&row, 3)?;
        let entry = serde_json::from_str::<Entry>(&body).ok().filter(|_| is_whole);
        let entry = entry.ok_or_else(|| forged(id, &format!("record {seq} was changed")))?;
        if let Some(fault) = consented.take(seq, &entry) {
            return Err(forged(id, &fault.to_string()));
        }
    }
    Ok(consented)
}

/// Returns the approval if it matches the chain.
pub(super) async fn proven(
    session: &Session,
    tenant: &str,
    id: &str,
    approval: Approval,
) -> Result<Approval, ApprovalError> {
    consented(session, tenant, id).await?.knows(id, &approval).map_err(|why| forged(id, &why.to_string()))?;
    Ok(approval)
}

/// Returns the grant if it matches the chain.
pub(super) async fn proven_grant(
    session: &Session,
    tenant: &str,
    id: &str,
    grant: Grant,
) -> Result<Grant, ApprovalError> {
    consented(session, tenant, id).await?.knows_grant(id, &grant).map_err(|why| forged(id, &why.to_string()))?;
    Ok(grant)
}
