//! The consent that a chain records: requests, approvals, uses, remembered approvals and
//! revocations.
//!
//! The tables of approvals and grants are a cache of the chain. A row that the chain does not
//! confirm is forged.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Entry, Fault, Kind};
use crate::approval::{Approval, ApprovalState, WAIT_MS};
use crate::canonical::digest;
use crate::diagnostic::InvalidValue;
use crate::grant::{Bound, Grant};

/// The consent that the records of a chain amount to, taken one after the other.
#[derive(Debug, Clone, Default)]
pub struct Consented {
    approvals: HashMap<String, Standing>,
    grants: HashMap<String, Remembered>,
}

#[derive(Debug, Clone)]
struct Standing {
    state: ApprovalState,
    digest: String,
    approved_ms: i64,
}

/// What is on record of a grant.
#[derive(Debug, Clone)]
struct Remembered {
    /// What identifies its content: its digest; in a record of an older version, which bound a
    /// grant to nothing, the fields that it has.
    proof: Result<String, Value>,
    revoked: bool,
}

impl Consented {
    /// Takes one record into account. Returns what is wrong with it, and leaves what it claims out.
    pub fn take(&mut self, seq: u64, entry: &Entry) -> Option<Fault> {
        self.check(entry).err().map(|why| Fault::Forged { seq, why })
    }

    fn check(&mut self, entry: &Entry) -> Result<(), String> {
        match entry.kind {
            Kind::Asked => {
                let (id, digest) = (id_of(entry, "approval")?, entry.digest.clone().ok_or("it has no digest")?);
                let standing = Standing { state: ApprovalState::Pending, digest, approved_ms: 0 };
                if self.approvals.insert(id.to_owned(), standing).is_some() {
                    return Err(format!("it requests `{id}` a second time"));
                }
            }
            Kind::Accepted => {
                let standing = self.standing(id_of(entry, "approval")?, ApprovalState::Pending, entry)?;
                (standing.state, standing.approved_ms) = (ApprovalState::Approved, entry.time_ms);
            }
            Kind::Rejected => {
                self.standing(id_of(entry, "approval")?, ApprovalState::Pending, entry)?.state =
                    ApprovalState::Rejected;
            }
            Kind::Consumed => {
                let id = id_of(entry, "approval")?;
                let standing = self.standing(id, ApprovalState::Approved, entry)?;
                standing.state = ApprovalState::Consumed;
                if entry.time_ms.saturating_sub(standing.approved_ms) > WAIT_MS {
                    return Err(format!("it uses `{id}` after its expiry"));
                }
            }
            Kind::Granted => {
                let (id, granted) = (id_of(entry, "grant")?, Remembered { proof: on_record(entry), revoked: false });
                if self.grants.insert(id.to_owned(), granted).is_some() {
                    return Err(format!("it remembers `{id}` a second time"));
                }
            }
            Kind::Revoked => {
                // A grant that could not be read was revoked without its name by older versions.
                let Ok(id) = id_of(entry, "grant") else { return Ok(()) };
                let grant = self.grants.get_mut(id);
                grant.ok_or_else(|| format!("it revokes `{id}`, which was never granted"))?.revoked = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// The approval that a record is about, which must be in a state and have the record's digest.
    fn standing(&mut self, id: &str, state: ApprovalState, entry: &Entry) -> Result<&mut Standing, String> {
        let standing = self.approvals.get_mut(id).ok_or_else(|| format!("`{id}` was never requested"))?;
        if standing.state != state {
            return Err(format!("`{id}` was {}, not {state}", standing.state));
        }
        if entry.digest.as_ref() != Some(&standing.digest) {
            return Err(format!("its digest differs from that of the request `{id}`"));
        }
        Ok(standing)
    }

    /// Whether the chain knows an approval as a store has it.
    ///
    /// # Errors
    /// [`InvalidValue`], with what the chain does not know of it.
    pub fn knows(&self, id: &str, approval: &Approval) -> Result<(), InvalidValue> {
        let standing = self.approvals.get(id).ok_or_else(|| InvalidValue::from("no record requests it"))?;
        if approval.id != id {
            return Err(InvalidValue::from(format!("its id is `{}`", approval.id)));
        }
        if approval.digest != standing.digest {
            return Err(InvalidValue::from("its digest differs from that of the request"));
        }
        // What is over keeps no arguments to compare.
        if approval.state.is_open() && approval.request.digest() != standing.digest {
            return Err(InvalidValue::from("its call differs from the requested one"));
        }
        let expired = approval.state == ApprovalState::Expired && standing.state.is_open();
        if approval.state != standing.state && !expired {
            return Err(InvalidValue::from(format!(
                "its state is {}, but the records have {}",
                approval.state, standing.state
            )));
        }
        let is_late = approval.expires_ms.saturating_sub(standing.approved_ms) > WAIT_MS;
        if is_late && approval.state == ApprovalState::Approved {
            return Err(InvalidValue::from("it expires later than it was approved for"));
        }
        Ok(())
    }

    /// Whether the chain knows a grant that a store has as live.
    ///
    /// # Errors
    /// [`InvalidValue`], with what the chain does not know of it.
    pub fn knows_grant(&self, id: &str, grant: &Grant) -> Result<(), InvalidValue> {
        let known = self.grants.get(id).ok_or_else(|| InvalidValue::from("no record grants it"))?;
        if grant.id != id {
            return Err(InvalidValue::from(format!("its id is `{}`", grant.id)));
        }
        let same = match &known.proof {
            Ok(digest) => *digest == grant_digest(grant),
            Err(fields) => {
                let own = json!([grant.origin, grant.tool, grant.target, grant.scope, grant.expires_ms]);
                *fields == own && grant.bound == Bound::default()
            }
        };
        if !same {
            return Err(InvalidValue::from("it differs from what was granted"));
        }
        if known.revoked { Err(InvalidValue::from("it was revoked")) } else { Ok(()) }
    }
}

fn id_of<'e>(entry: &'e Entry, key: &str) -> Result<&'e str, String> {
    entry.detail.get(key).and_then(Value::as_str).ok_or_else(|| format!("it names no {key}"))
}

/// The digest of a grant, which its record has.
pub(crate) fn grant_digest(grant: &Grant) -> String {
    serde_json::to_value(grant).map(|value| digest(&value)).unwrap_or_default()
}

fn on_record(entry: &Entry) -> Result<String, Value> {
    let field = |key: &str| entry.detail.get(key).cloned().unwrap_or_default();
    let fields = || json!([entry.origin, entry.tool, field("what"), field("holds"), field("expires_ms")]);
    entry.digest.clone().ok_or_else(fields)
}
