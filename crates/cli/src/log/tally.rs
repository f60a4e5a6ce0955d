//! Counting what a log tells.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use toolfold::conversation::{ApprovalId, Event, LogRecord, ReplyKind};
use toolfold::profile::EXPAND_TOOLS;

use super::super::ledger::time;

/// The name of the contract.
const CONTRACT: &str = "toolfold.log/1";

/// What a log tells.
#[derive(Debug, Serialize)]
pub(super) struct LogReport {
    /// Always `toolfold.log/1`.
    pub(super) schema: &'static str,
    /// How many records were read.
    pub(super) records: usize,
    /// How many lines could not be read.
    pub(super) bad_lines: usize,
    /// Every conversation, in the order of their beginnings. One without an id stands once for each session.
    pub(super) conversations: Vec<Told>,
    /// The same summed, by arm and variant in the order of their beginnings.
    pub(super) totals: Vec<Total>,
}

/// What became of the calls of one or several conversations.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Counts {
    /// Arrays that the model was shown, each counted when it was shown instead of another.
    pub(super) arrays: usize,
    /// The tokens of those that the host counted, by meter; each counted once however often it was asked for.
    pub(super) array_tokens: BTreeMap<String, usize>,
    /// Calls that the model made.
    pub(super) calls: usize,
    /// Calls of `expand_tools`.
    pub(super) expansions: usize,
    /// Skills that were activated.
    pub(super) skills: usize,
    /// Calls that were answered with what is wrong with their arguments.
    pub(super) repairs: usize,
    /// Calls that were answered with parameters that the model had not been shown.
    pub(super) shown: usize,
    /// Calls of tools that do not exist.
    pub(super) unknown: usize,
    /// Calls that were answered with a directive, because the model went in circles.
    pub(super) loops: usize,
    /// Calls that policy did not let run.
    pub(super) refused: usize,
    /// Calls that went to the host, those that a person approved among them.
    pub(super) forwarded: usize,
    /// Those of them that were made before the model had been shown the tool's whole schema.
    pub(super) blind: usize,
    /// Forwarded calls that the host reported as succeeded.
    pub(super) ok: usize,
    /// Forwarded calls that the host reported as failed.
    pub(super) failed: usize,
    /// Calls that were put before a person.
    pub(super) asked: usize,
    /// Those that a person approved and that ran.
    pub(super) approved: usize,
    /// Those that a person rejected, or whose approval became void.
    pub(super) rejected: usize,
    /// Those that still wait.
    pub(super) waiting: usize,
}

/// One conversation.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Told {
    /// Its id; empty if it has none.
    pub(super) id: String,
    /// Null if the log does not hold its beginning.
    pub(super) arm: Option<String>,
    pub(super) variant: Option<String>,
    pub(super) wire: Option<String>,
    pub(super) model: Option<String>,
    /// When its first and last records were written, in UTC.
    pub(super) first: String,
    pub(super) last: String,
    #[serde(flatten)]
    pub(super) counts: Counts,
}

/// The conversations of one arm and variant.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Total {
    pub(super) arm: Option<String>,
    pub(super) variant: Option<String>,
    /// How many conversations.
    pub(super) conversations: usize,
    #[serde(flatten)]
    pub(super) counts: Counts,
}

/// Takes the records of a log, one by one.
#[derive(Debug, Default)]
pub(super) struct Reader {
    records: usize,
    conversations: Vec<Reading>,
    /// The place of the conversation that goes on under an id.
    current: IndexMap<String, usize>,
}

#[derive(Debug)]
struct Reading {
    told: Told,
    next: u64,
    waiting: IndexSet<ApprovalId>,
    /// The meters that counted the array which was shown last.
    counted: BTreeSet<String>,
}

impl Reader {
    /// Takes a record. What is worth knowing about its place among the others.
    pub(super) fn take_record(&mut self, record: &LogRecord) -> Option<String> {
        self.records += 1;
        let begins = matches!(record.event, Event::Started { .. } | Event::Forked { .. });
        let at = match self.current.get(&record.conversation) {
            Some(at) if !begins => *at,
            _ => {
                self.conversations.push(Reading::new(record));
                self.current.insert(record.conversation.clone(), self.conversations.len() - 1);
                self.conversations.len() - 1
            }
        };
        let reading = self.conversations.get_mut(at)?;
        let expected = std::mem::replace(&mut reading.next, record.seq.saturating_add(1));
        reading.tally_record(record);
        let gap = record.seq != expected;
        gap.then(|| format!("record {} follows where record {expected} should stand", record.seq))
    }

    pub(super) fn report(self, bad_lines: usize) -> LogReport {
        let conversations: Vec<Told> = self.conversations.into_iter().map(Reading::told).collect();
        let totals = totals(&conversations);
        LogReport { schema: CONTRACT, records: self.records, bad_lines, conversations, totals }
    }
}

impl LogReport {
    /// The same for the conversation of an id; the ids that there are if it is not among them.
    pub(super) fn only(self, id: &str) -> Result<Self, Vec<String>> {
        let (own, others): (Vec<Told>, Vec<Told>) = self.conversations.into_iter().partition(|told| told.id == id);
        if own.is_empty() {
            return Err(others.into_iter().map(|told| told.id).collect());
        }
        Ok(Self { totals: totals(&own), conversations: own, ..self })
    }

    /// Everything summed.
    pub(super) fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        self.totals.iter().for_each(|total| sum.add_counts(&total.counts));
        sum
    }
}

fn totals(conversations: &[Told]) -> Vec<Total> {
    let mut totals: IndexMap<(Option<String>, Option<String>), Total> = IndexMap::new();
    for told in conversations {
        let (arm, variant) = (told.arm.clone(), told.variant.clone());
        let new = || Total { arm: arm.clone(), variant: variant.clone(), conversations: 0, counts: Counts::default() };
        let total = totals.entry((arm.clone(), variant.clone())).or_insert_with(new);
        total.conversations += 1;
        total.counts.add_counts(&told.counts);
    }
    totals.into_values().collect()
}

impl Reading {
    fn new(record: &LogRecord) -> Self {
        let mut told = Told {
            id: record.conversation.clone(),
            arm: None,
            variant: record.variant.clone(),
            wire: None,
            model: None,
            first: time(record.at_ms),
            last: String::new(),
            counts: Counts::default(),
        };
        match &record.event {
            Event::Started { wire, model, arm, .. } => {
                (told.arm, told.wire) = (Some(arm.to_string()), Some(wire.to_string()));
                told.model.clone_from(model);
            }
            Event::Forked { state } => {
                // What a conversation knew when it was forked is read by its keys: it has no other form.
                let state = serde_json::to_value(state).unwrap_or_default();
                let text = |key: &str| state.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
                (told.arm, told.wire, told.model) = (text("arm"), text("wire"), text("model"));
            }
            _ => {}
        }
        Self { told, next: 0, waiting: IndexSet::new(), counted: BTreeSet::new() }
    }

    fn tally_record(&mut self, record: &LogRecord) {
        self.told.last = time(record.at_ms);
        let counts = &mut self.told.counts;
        match &record.event {
            Event::Presented { .. } => {
                counts.arrays += 1;
                self.counted.clear();
            }
            Event::Counted { meter, tokens } => {
                let more = if self.counted.insert(meter.clone()) { *tokens } else { 0 };
                counts.add_tokens(meter, more);
            }
            Event::Called { target, meta, .. } => {
                counts.calls += 1;
                counts.expansions += usize::from(*meta && target == EXPAND_TOOLS);
            }
            Event::Activated { .. } => counts.skills += 1,
            Event::Answered { answer, .. } => match answer.kind {
                ReplyKind::Invalid => counts.repairs += 1,
                ReplyKind::Shown => counts.shown += 1,
                ReplyKind::UnknownTool => counts.unknown += 1,
                ReplyKind::Loop => counts.loops += 1,
                _ => {}
            },
            Event::Refused { .. } => counts.refused += 1,
            Event::Forwarded { notes, .. } => {
                counts.forwarded += 1;
                counts.blind += usize::from(notes.blind);
            }
            Event::Finished { ok: true, .. } => counts.ok += 1,
            Event::Finished { ok: false, .. } => counts.failed += 1,
            Event::Asked { approval, .. } => {
                // A later call that is the same waits for the same approval.
                counts.asked += usize::from(self.waiting.insert(approval.clone()));
            }
            Event::Resumed { approval, .. } => {
                self.waiting.shift_remove(approval);
                counts.approved += 1;
                counts.forwarded += 1;
            }
            Event::Rejected { approval, .. } => {
                self.waiting.shift_remove(approval);
                counts.rejected += 1;
            }
            _ => {}
        }
    }

    fn told(self) -> Told {
        let mut told = self.told;
        told.counts.waiting = self.waiting.len();
        told
    }
}

impl Counts {
    /// What a host counted is its own word: no sum of such words is too large to be told.
    fn add_tokens(&mut self, meter: &str, more: usize) {
        let sum = self.array_tokens.entry(meter.to_owned()).or_default();
        *sum = sum.saturating_add(more);
    }

    fn add_counts(&mut self, other: &Self) {
        self.arrays += other.arrays;
        for (meter, tokens) in &other.array_tokens {
            self.add_tokens(meter, *tokens);
        }
        self.calls += other.calls;
        self.expansions += other.expansions;
        self.skills += other.skills;
        self.repairs += other.repairs;
        self.shown += other.shown;
        self.unknown += other.unknown;
        self.loops += other.loops;
        self.refused += other.refused;
        self.forwarded += other.forwarded;
        self.blind += other.blind;
        self.ok += other.ok;
        self.failed += other.failed;
        self.asked += other.asked;
        self.approved += other.approved;
        self.rejected += other.rejected;
        self.waiting += other.waiting;
    }
}
