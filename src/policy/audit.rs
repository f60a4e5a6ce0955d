//! The audit: a chain of records in which every edit shows.
//!
//! Each record holds the hash of the one before it. Editing, deleting or reordering breaks the chain at the place;
//! cutting off its end shows against the head that the store keeps beside it, or against a checkpoint kept
//! elsewhere. Field names follow OpenTelemetry GenAI, with our own under `toolfold.`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::canonical::canonical;
use super::context::ToolOrigin;
use super::load::hex;

mod redact;

pub use redact::{redact, redact_lines};

/// The `prev` of the first record.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A call was judged.
    Decision,
    /// A call waits for a person.
    Asked,
    /// A person said yes.
    Accepted,
    /// A person said no.
    Rejected,
    /// An approval was used up: the call runs now.
    Consumed,
    /// A call ended.
    Outcome,
    /// What the model was shown: a disclosure receipt.
    Disclosure,
    /// A yes was remembered.
    Granted,
    /// A remembered yes was taken back.
    Revoked,
}

impl Kind {
    /// The name of the kind, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Asked => "asked",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Consumed => "consumed",
            Self::Outcome => "outcome",
            Self::Disclosure => "disclosure",
            Self::Granted => "granted",
            Self::Revoked => "revoked",
        }
    }
}

/// One record, before it is sealed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in milliseconds since 1970 UTC. The host's clock.
    #[serde(rename = "toolfold.time_ms")]
    pub time_ms: i64,
    /// What it is about.
    #[serde(rename = "toolfold.kind")]
    pub kind: Kind,
    /// The conversation.
    #[serde(rename = "gen_ai.conversation.id", default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The agent in it.
    #[serde(rename = "gen_ai.agent.name", default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who offers the tool.
    #[serde(rename = "toolfold.origin", default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ToolOrigin>,
    /// The tool's name at its origin.
    #[serde(rename = "gen_ai.tool.name", default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The call.
    #[serde(rename = "gen_ai.tool.call.id", default, skip_serializing_if = "String::is_empty")]
    pub call_id: String,
    /// The decision, as [`Decision`](super::Decision) is written in JSON.
    #[serde(rename = "toolfold.decision", default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// What would have been decided, where the policy only records.
    #[serde(rename = "toolfold.would_be", default, skip_serializing_if = "Option::is_none")]
    pub would_be: Option<String>,
    /// The reasons, the deciding one first.
    #[serde(rename = "toolfold.rule", default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The digest of what was judged or approved.
    #[serde(rename = "toolfold.digest", default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The arguments, redacted.
    #[serde(rename = "gen_ai.tool.call.arguments", default, skip_serializing_if = "Value::is_null")]
    pub arguments: Value,
    /// What the call would touch.
    #[serde(rename = "toolfold.effects", default, skip_serializing_if = "Value::is_null")]
    pub effects: Value,
    /// How it ended.
    #[serde(rename = "toolfold.outcome", default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(rename = "toolfold.duration_ms", default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How it can be taken back.
    #[serde(rename = "toolfold.undo", default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Whatever else belongs to the kind: an approval's id, the digest of the tools shown, opened categories.
    #[serde(rename = "toolfold.detail", default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

impl Entry {
    /// A record of a kind, otherwise empty.
    #[must_use]
    pub fn new(kind: Kind, time_ms: i64) -> Self {
        Self {
            time_ms,
            kind,
            session: String::new(),
            agent: None,
            origin: None,
            tool: String::new(),
            call_id: String::new(),
            decision: None,
            would_be: None,
            rule: None,
            digest: None,
            arguments: Value::Null,
            effects: Value::Null,
            outcome: None,
            duration_ms: None,
            undo: None,
            detail: Value::Null,
        }
    }

    /// A disclosure receipt: the digest of the tool array that was sent, and what was open.
    #[must_use]
    pub fn disclosure(time_ms: i64, session: &str, tools_digest: &str, opened: &[&str]) -> Self {
        Self {
            session: session.to_owned(),
            detail: json!({ "tools_digest": tools_digest, "opened": opened }),
            ..Self::new(Kind::Disclosure, time_ms)
        }
    }
}

/// A record in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sealed {
    /// Its number, from 1, without gaps.
    #[serde(rename = "toolfold.seq")]
    pub seq: u64,
    /// The record.
    #[serde(flatten)]
    pub entry: Entry,
    /// The hash of the record before it; [`GENESIS`] for the first.
    #[serde(rename = "toolfold.prev")]
    pub prev: String,
    /// SHA-256 over number, previous hash and the canonical record.
    #[serde(rename = "toolfold.hash")]
    pub hash: String,
}

/// The hash that a record must have, given its canonical text.
#[must_use]
pub fn link(seq: u64, prev: &str, body: &str) -> String {
    hex(&Sha256::digest(format!("{seq}\n{prev}\n{body}").as_bytes()))
}

/// The text of a record that is hashed and stored.
///
/// # Errors
/// If the record cannot be written as JSON, which no record made here can.
pub fn body(entry: &Entry) -> Result<String, serde_json::Error> {
    serde_json::to_value(entry).map(|value| canonical(&value))
}

/// A number and a hash that somebody kept: the chain must still have both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The number of the record.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

/// What is wrong with a chain, at which record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "fault")]
#[non_exhaustive]
pub enum Fault {
    /// The record does not have the hash that its content gives.
    #[error("record {seq} was edited: its content does not match its hash")]
    Edited {
        /// Which record.
        seq: u64,
    },
    /// The record does not name the one before it.
    #[error("record {seq} does not follow the one before it: a record was deleted, inserted or moved")]
    Broken {
        /// Which record.
        seq: u64,
    },
    /// A number is missing or out of order.
    #[error("record {expected} is missing: record {found} is in its place")]
    Missing {
        /// The number that should come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The chain ends before the head or the checkpoint.
    #[error("the chain ends at record {found}, but record {expected} was written")]
    Truncated {
        /// The last number that is known to have been written.
        expected: u64,
        /// The last number that is there.
        found: u64,
    },
    /// The chain has another record where the head or the checkpoint knows one.
    #[error("record {seq} differs from the checkpoint")]
    Replaced {
        /// Which record.
        seq: u64,
    },
    /// There are records, but nothing says which was the last.
    #[error("the head of the chain is missing: a truncated chain would look intact")]
    NoHead,
    /// The record cannot be read.
    #[error("record {seq} cannot be read")]
    Torn {
        /// Which record.
        seq: u64,
    },
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many records there are.
    pub records: u64,
    /// The last record: a checkpoint to keep elsewhere.
    pub head: Option<Checkpoint>,
    /// What is wrong. Empty: the chain is whole.
    pub faults: Vec<Fault>,
}

/// A record as a store holds it: `(seq, body, prev, hash)`.
pub type Stored = (u64, String, String, String);

/// Checks a chain in the order of the store against what is known to have been written. `None` stands for a record
/// whose columns cannot be read. Reads each record once and keeps at most 1,000 faults.
pub fn verify(rows: impl IntoIterator<Item = Option<Stored>>, known: &[Checkpoint]) -> Verified {
    let mut faults = Vec::new();
    let (mut expected, mut prev, mut records) = (1, GENESIS.to_owned(), 0);
    let mut head: Option<Checkpoint> = None;
    for row in rows {
        records += 1;
        let Some((seq, body, names, hash)) = row else {
            if faults.len() < 1_000 {
                faults.push(Fault::Torn { seq: expected });
            }
            expected = expected.saturating_add(1);
            continue;
        };
        if faults.len() < 1_000 {
            if seq != expected {
                faults.push(Fault::Missing { expected, found: seq });
            }
            if link(seq, &names, &body) != hash {
                faults.push(Fault::Edited { seq });
            } else if serde_json::from_str::<Entry>(&body).is_err() {
                faults.push(Fault::Torn { seq });
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
    let last = head.as_ref().map_or(0, |h| h.seq);
    if let Some(cut) = known.iter().filter(|k| k.seq > last).max_by_key(|k| k.seq) {
        faults.push(Fault::Truncated { expected: cut.seq, found: last });
    }
    Verified { records, head, faults }
}
