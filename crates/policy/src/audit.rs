//! The audit trail: a hash chain of records that makes every change evident.
//!
//! Each record contains the hash of the previous one. Editing, deleting or reordering records
//! breaks the chain at that place. Truncation is detected by the head that the store keeps beside
//! the chain, or by a checkpoint kept elsewhere. Field names follow the OpenTelemetry conventions
//! for generative AI; those that it lacks begin with `toolfold.`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::canonical::canonical;
use super::context::ToolOrigin;
use super::decision::Decision;
use super::history::{CallState, Counted};
use toolfold_diagnostic::sha256_hex;

mod consent;
mod redact;

pub use consent::Consented;
pub(crate) use consent::grant_digest;
pub use redact::redact;
pub(crate) use redact::redact_lines;
pub use redact::redact_text;

/// The previous hash of the first record.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The kind of event that a record is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// The policy decided on a call.
    #[default]
    Decision,
    /// A call needs approval.
    Asked,
    /// A person approved a call. The name is the one that stored records have.
    Accepted,
    /// A person rejected a call.
    Rejected,
    /// An approval was used: the call runs now.
    Consumed,
    /// A call ended.
    Outcome,
    /// What the model was shown: a disclosure receipt.
    Disclosure,
    /// An approval was remembered.
    Granted,
    /// A remembered approval was revoked.
    Revoked,
    /// Approvals that were over were removed from the store. Their records stay.
    Purged,
    /// A person undid a call: once before anything is restored, and once after.
    Undone,
    /// A person set or replaced the key with which they approve.
    Approver,
}

impl std::fmt::Display for Kind {
    /// The name of the kind, as in JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// A record before it is added to the chain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Entry {
    /// The time in milliseconds since 1970 UTC, by the host's clock.
    #[serde(rename = "toolfold.time_ms")]
    pub time_ms: i64,
    /// The kind of event.
    #[serde(rename = "toolfold.kind")]
    pub kind: Kind,
    /// The conversation.
    #[serde(rename = "gen_ai.conversation.id", default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The agent in the conversation.
    #[serde(rename = "gen_ai.agent.name", default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who provides the tool.
    #[serde(rename = "toolfold.origin", default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ToolOrigin>,
    /// The tool's name at its origin.
    #[serde(rename = "gen_ai.tool.name", default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The id of the call.
    #[serde(rename = "gen_ai.tool.call.id", default, skip_serializing_if = "String::is_empty")]
    pub call_id: String,
    /// The decision, as [`Decision`] is serialized.
    #[serde(rename = "toolfold.decision", default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The decision that enforcement would have made, where the policy only audits.
    #[serde(rename = "toolfold.would_be", default, skip_serializing_if = "Option::is_none")]
    pub would_be: Option<String>,
    /// The reasons. The deciding one comes first.
    #[serde(rename = "toolfold.rule", default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The digest of the request that was decided on or approved.
    #[serde(rename = "toolfold.digest", default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The arguments, redacted.
    #[serde(rename = "gen_ai.tool.call.arguments", default, skip_serializing_if = "Value::is_null")]
    pub arguments: Value,
    /// The effects of the call.
    #[serde(rename = "toolfold.effects", default, skip_serializing_if = "Value::is_null")]
    pub effects: Value,
    /// How it ended.
    #[serde(rename = "toolfold.outcome", default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(rename = "toolfold.duration_ms", default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How the call can be undone.
    #[serde(rename = "toolfold.undo", default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The call that the counted events belong to; empty if no rule counts calls.
    #[serde(rename = "toolfold.call", default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// The events that the call adds to the series of rules over earlier calls.
    #[serde(rename = "toolfold.counted", default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Counted>,
    /// Details that depend on the kind: the id of an approval, the digest of the tools shown, the
    /// opened categories.
    #[serde(rename = "toolfold.detail", default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

impl Entry {
    /// Adds a detail. What was there under this key is replaced, and so are details that are no
    /// object.
    pub fn add_detail(&mut self, key: &str, value: Value) {
        if !self.detail.is_object() {
            self.detail = json!({});
        }
        if let Some(detail) = self.detail.as_object_mut() {
            detail.insert(key.to_owned(), value);
        }
    }

    /// The state of the counted events of a new record: a call that runs is forwarded, any other
    /// one does not count.
    #[must_use]
    pub fn counted_state(&self) -> CallState {
        let runs = [Decision::Allow, Decision::AllowAudited].map(Decision::name);
        let decided = self.kind == Kind::Decision && self.decision.as_deref().is_some_and(|name| runs.contains(&name));
        if decided || self.kind == Kind::Consumed { CallState::Forwarded } else { CallState::Released }
    }

    /// How an outcome settles the counted events of its call. `None`: it settles nothing.
    #[must_use]
    pub fn settles(&self) -> Option<CallState> {
        let settles = self.kind == Kind::Outcome && !self.call.is_empty();
        settles.then(|| if self.outcome.as_deref() == Some("ok") { CallState::Ok } else { CallState::Failed })
    }

    /// A record of this kind, otherwise empty.
    #[must_use]
    pub fn new(kind: Kind, time_ms: i64) -> Self {
        Self { time_ms, kind, ..Self::default() }
    }
}

/// A record in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Sealed {
    /// Its number, from 1, without gaps.
    #[serde(rename = "toolfold.seq")]
    pub seq: u64,
    /// The record.
    #[serde(flatten)]
    pub entry: Entry,
    /// The hash of the previous record; [`GENESIS`] for the first.
    #[serde(rename = "toolfold.prev")]
    pub prev: String,
    /// SHA-256 over the number, the previous hash and the canonical record.
    #[serde(rename = "toolfold.hash")]
    pub hash: String,
}

impl Sealed {
    /// A record as a store holds it.
    #[must_use]
    pub fn new(seq: u64, entry: Entry, prev: String, hash: String) -> Self {
        Self { seq, entry, prev, hash }
    }
}

/// The hash of a record, given its number, the previous hash and its canonical text.
#[must_use]
pub fn link(seq: u64, prev: &str, body: &str) -> String {
    sha256_hex(format!("{seq}\n{prev}\n{body}").as_bytes())
}

/// The canonical text of a record, which is hashed and stored.
///
/// # Errors
/// If the record cannot be written as JSON, which no record made here can.
pub fn body(entry: &Entry) -> Result<String, serde_json::Error> {
    serde_json::to_value(entry).map(|value| canonical(&value))
}

/// The number and hash of a record, kept elsewhere: the chain must still contain it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// The number of the record.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

/// A fault in a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "fault")]
#[non_exhaustive]
pub enum Fault {
    /// The hash of the record does not match its content.
    #[error("record {seq} was edited: its content does not match its hash")]
    Edited {
        /// The number of the record.
        seq: u64,
    },
    /// The record does not contain the hash of the previous one.
    #[error("record {seq} does not follow the one before it: a record was deleted, inserted or moved")]
    Broken {
        /// The number of the record.
        seq: u64,
    },
    /// A number is missing or out of order.
    #[error("record {expected} is missing: record {found} is in its place")]
    Missing {
        /// The number that should follow.
        expected: u64,
        /// The number that follows.
        found: u64,
    },
    /// The chain ends before the head or the checkpoint.
    #[error("the chain ends at record {found}, but record {expected} was written")]
    Truncated {
        /// The number of the last record that is known to have been written.
        expected: u64,
        /// The number of the last record that is present.
        found: u64,
    },
    /// The record differs from the one that the head or a checkpoint recorded.
    #[error("record {seq} differs from the checkpoint")]
    Replaced {
        /// The number of the record.
        seq: u64,
    },
    /// The chain has records but no head, which would identify the last one.
    #[error("the head of the chain is missing: a truncated chain would look intact")]
    NoHead,
    /// The record claims a consent that the records before it do not contain.
    #[error("record {seq} is forged: {why}")]
    Forged {
        /// The number of the record.
        seq: u64,
        /// The unconfirmed claim.
        why: String,
    },
    /// The store has an approval or a grant that the records do not confirm.
    #[error("`{id}` in the store is not confirmed by the records: {why}")]
    Unrecorded {
        /// The approval or grant.
        id: String,
        /// What the records do not confirm.
        why: String,
    },
    /// The record cannot be read.
    #[error("record {seq} cannot be read")]
    Torn {
        /// The number of the record.
        seq: u64,
    },
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Verified {
    /// The number of records.
    pub records: u64,
    /// The last record: a checkpoint to keep elsewhere.
    pub head: Option<Checkpoint>,
    /// The faults. Empty: the chain is intact.
    pub faults: Vec<Fault>,
}

/// A record as a store holds it: `(seq, body, prev, hash)`.
pub(crate) type Stored = (u64, String, String, String);

/// The most faults that a verification keeps.
pub const MAX_FAULTS: usize = 1_000;

/// Checks a chain in the order of the store against what is known to have been written. `None`
/// is a record whose columns cannot be read. Reads each record once and keeps at most
/// [`MAX_FAULTS`] faults.
///
/// Also replays consent: every use needs an approval of exactly that call. `consented` is the
/// result of the replay, which the store compares with its own tables.
pub fn verify(
    rows: impl IntoIterator<Item = Option<Stored>>,
    known: &[Checkpoint],
    consented: &mut Consented,
) -> Verified {
    let mut faults = Vec::new();
    let (mut expected, mut prev, mut records) = (1, GENESIS.to_owned(), 0);
    let mut head: Option<Checkpoint> = None;
    for row in rows {
        records += 1;
        let Some((seq, body, names, hash)) = row else {
            if faults.len() < MAX_FAULTS {
                faults.push(Fault::Torn { seq: expected });
            }
            expected = expected.saturating_add(1);
            continue;
        };
        if faults.len() < MAX_FAULTS {
            if seq != expected {
                faults.push(Fault::Missing { expected, found: seq });
            }
            if link(seq, &names, &body) != hash {
                faults.push(Fault::Edited { seq });
            } else {
                match serde_json::from_str::<Entry>(&body) {
                    Ok(entry) => faults.extend(consented.take(seq, &entry)),
                    Err(_) => faults.push(Fault::Torn { seq }),
                }
            }
            if names != prev {
                faults.push(Fault::Broken { seq });
            }
            if known.iter().any(|k| k.seq == seq && k.hash != hash) {
                faults.push(Fault::Replaced { seq });
            }
        }
        expected = seq.saturating_add(1);
        prev.clone_from(&hash);
        head = Some(Checkpoint { seq, hash });
    }
    let last = if let Some(head) = &head { head.seq } else { 0 };
    if let Some(cut) = known.iter().filter(|k| k.seq > last).max_by_key(|k| k.seq) {
        faults.push(Fault::Truncated { expected: cut.seq, found: last });
    }
    Verified { records, head, faults }
}
