//! The end of the audit trail, and whether the chain verifies.

use std::collections::VecDeque;

use serde::Serialize;
use toolfold::diagnostic::visible;
use toolfold::policy::audit::{Sealed, Verified};
use toolfold::policy::{ApprovalError, ToolOrigin};
use toolfold::store::AuditedStore;

/// Maximum number of displayed records.
const SHOWN: usize = 50;
/// Maximum number of records per read.
const PAGE: usize = 500;
/// Maximum number of displayed faults.
const FAULTS: usize = 10;
/// How long a verification remains valid: existing records may be modified.
const GOOD_MS: i64 = 60_000;
/// Minimum interval between two verifications.
const REST_MS: i64 = 5_000;

#[derive(Debug, Default)]
pub(super) struct Audit {
    tail: VecDeque<Row>,
    /// The number of the last record that was read.
    last: Option<u64>,
    error: Option<String>,
    verified: Option<Checked>,
    underway: bool,
    /// When the next verification may begin.
    rests_until: i64,
}

#[derive(Debug, Clone, Serialize)]
struct Row {
    seq: u64,
    time_ms: i64,
    kind: String,
    session: String,
    tool: String,
    /// The server of the tool; empty if no server provides it.
    server: String,
    about: String,
    what: String,
}

#[derive(Debug, Clone, Serialize)]
struct Checked {
    at_ms: i64,
    /// Whether the chain verifies; `None` if it could not be checked.
    intact: Option<bool>,
    records: u64,
    head: u64,
    faults: Vec<String>,
}

#[derive(Serialize)]
struct Shown<'a> {
    last: u64,
    records: &'a VecDeque<Row>,
    verified: &'a Option<Checked>,
    error: &'a Option<String>,
}

impl Audit {
    pub(super) fn read_new_records(&mut self, store: &dyn AuditedStore) {
        self.error = self.read_on(store).err().map(|why| visible(&why.to_string()).into_owned());
    }

    fn read_on(&mut self, store: &dyn AuditedStore) -> Result<(), ApprovalError> {
        let mut after = match self.last {
            Some(last) => last,
            // If records are missing, the last number exceeds their count, and more pages are read.
            None => store.count()?.saturating_sub(u64::try_from(SHOWN).unwrap_or(u64::MAX)),
        };
        loop {
            let page = store.records(after, PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            self.last = Some(after);
            self.tail.extend(page.iter().skip(page.len().saturating_sub(SHOWN)).map(audit_row));
            self.tail.drain(..self.tail.len().saturating_sub(SHOWN));
        }
    }

    /// Whether a verification is due: for the first time, after new records, or after [`GOOD_MS`].
    pub(super) fn is_due(&self, now_ms: i64) -> bool {
        let Some(checked) = &self.verified else { return !self.underway };
        let is_new = checked.head != self.last.unwrap_or_default();
        !self.underway && now_ms >= self.rests_until && (is_new || now_ms >= checked.at_ms.saturating_add(GOOD_MS))
    }

    pub(super) fn begin(&mut self, now_ms: i64) -> bool {
        let begins = self.is_due(now_ms);
        self.underway |= begins;
        begins
    }

    /// Stores the result of a verification. The longer it took, the later the next one is due.
    pub(super) fn verified(&mut self, verified: Result<Verified, ApprovalError>, began_ms: i64, now_ms: i64) {
        let took = now_ms.saturating_sub(began_ms).max(0);
        self.underway = false;
        self.rests_until = now_ms.saturating_add(REST_MS.max(took.saturating_mul(20)));
        self.verified = Some(match verified {
            Ok(Verified { records, head, faults, .. }) => Checked {
                at_ms: now_ms,
                intact: Some(faults.is_empty()),
                records,
                head: head.map_or(0, |head| head.seq),
                faults: faults.iter().take(FAULTS).map(|own| visible(&own.to_string()).into_owned()).collect(),
            },
            Err(why) => Checked {
                at_ms: now_ms,
                intact: None,
                records: 0,
                head: self.last.unwrap_or_default(),
                faults: vec![visible(&why.to_string()).into_owned()],
            },
        });
    }

    pub(super) fn to_json(&self) -> String {
        let Self { tail, last, error, verified, .. } = self;
        let shown = Shown { last: last.unwrap_or_default(), records: tail, verified, error };
        serde_json::to_string(&shown).unwrap_or_else(|_| "null".to_owned())
    }
}

fn audit_row(record: &Sealed) -> Row {
    let entry = &record.entry;
    let about = ["approval", "grant", "undone"].iter().find_map(|key| entry.detail.get(key)?.as_str());
    let what = [entry.decision.as_deref(), entry.outcome.as_deref(), entry.rule.as_deref()];
    let what: Vec<&str> = what.into_iter().flatten().collect();
    Row {
        seq: record.seq,
        time_ms: entry.time_ms,
        kind: entry.kind.to_string(),
        session: visible_excerpt(&entry.session),
        tool: visible_excerpt(&entry.tool),
        server: match &entry.origin {
            Some(ToolOrigin::Mcp(server)) => visible_excerpt(server),
            _ => String::new(),
        },
        about: visible_excerpt(about.unwrap_or(&entry.call_id)),
        what: visible_excerpt(&what.join(": ")),
    }
}

fn visible_excerpt(text: &str) -> String {
    const MOST: usize = 240;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", visible(text.get(..end).unwrap_or_default())),
        None => visible(text).into_owned(),
    }
}
