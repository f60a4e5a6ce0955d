//! Counts the events of a log.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::Serialize;
use toolfold::conversation::{ApprovalId, Event, LogRecord, ReplyKind};
use toolfold::profile::EXPAND_TOOLS;
use toolfold::skill::Caller;

use super::super::clock::time;

const CONTRACT: &str = "toolfold.log/1";

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "toolfold.log/1")]
pub(in super::super) struct LogReport {
    pub(super) schema: &'static str,
    pub(super) records: usize,
    pub(super) bad_lines: usize,
    /// Every conversation, in order of its start; one without an id is listed once per session.
    pub(super) conversations: Vec<ConversationSummary>,
    /// The sums by arm and variant, in order of their start.
    pub(super) totals: Vec<Total>,
}

/// Counts of what happened to the calls of one or several conversations.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(super) struct Counts {
    /// Arrays that the model was shown. An array counts when it replaces a different one.
    pub(super) arrays: usize,
    /// Tokens of the arrays that the host counted, by meter; each array counts once.
    pub(super) array_tokens: BTreeMap<String, usize>,
    pub(super) calls: usize,
    pub(super) expansions: usize,
    /// Activations of skills, and those that a person started.
    pub(super) skills: usize,
    pub(super) skills_by_person: usize,
    /// The activations of each skill.
    pub(super) activated: BTreeMap<String, usize>,
    /// Calls that were answered with a validation error.
    pub(super) repairs: usize,
    /// Calls that were answered with parameters that the model had not been shown.
    pub(super) shown: usize,
    pub(super) unknown: usize,
    /// Calls that were answered with a directive because the model repeated itself.
    pub(super) loops: usize,
    pub(super) refused: usize,
    /// Calls that were forwarded to the host, including approved ones.
    pub(super) forwarded: usize,
    /// Forwarded calls whose tool the model had not seen in full.
    pub(super) blind: usize,
    /// Forwarded calls that the host reported as succeeded.
    pub(super) ok: usize,
    /// Forwarded calls that the host reported as failed.
    pub(super) failed: usize,
    /// Calls that required approval.
    pub(super) asked: usize,
    /// Calls that were approved and ran.
    pub(super) approved: usize,
    /// Calls that were rejected, or whose approval became invalid.
    pub(super) rejected: usize,
    pub(super) waiting: usize,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ConversationSummary {
    /// Its id; empty if it has none.
    pub(super) id: String,
    /// Null if the log does not contain its start.
    pub(super) arm: Option<String>,
    pub(super) variant: Option<String>,
    pub(super) wire: Option<String>,
    pub(super) model: Option<String>,
    /// Times of its first and last record in UTC.
    pub(super) first: String,
    pub(super) last: String,
    #[serde(flatten)]
    pub(super) counts: Counts,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Total {
    pub(super) arm: Option<String>,
    pub(super) variant: Option<String>,
    pub(super) conversations: usize,
    #[serde(flatten)]
    pub(super) counts: Counts,
}

#[derive(Debug, Default)]
pub(super) struct Reader {
    records: usize,
    conversations: Vec<Reading>,
    /// The index of the current conversation of each id.
    current: IndexMap<String, usize>,
}

#[derive(Debug)]
struct Reading {
    summary: ConversationSummary,
    next: u64,
    waiting: IndexSet<ApprovalId>,
    counted: BTreeSet<String>,
}

impl Reader {
    /// Adds a record. Returns a note if its position in the log is unusual.
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
        gap.then(|| format!("record {} is out of order: expected record {expected}", record.seq))
    }

    pub(super) fn report(self, bad_lines: usize) -> LogReport {
        let conversations: Vec<ConversationSummary> =
            self.conversations.into_iter().map(Reading::into_summary).collect();
        let totals = totals(&conversations);
        LogReport { schema: CONTRACT, records: self.records, bad_lines, conversations, totals }
    }
}

impl LogReport {
    /// The conversations with this id only; the error lists the existing ids.
    pub(super) fn only(self, id: &str) -> Result<Self, Vec<String>> {
        let (own, others): (Vec<ConversationSummary>, Vec<ConversationSummary>) =
            self.conversations.into_iter().partition(|summary| summary.id == id);
        if own.is_empty() {
            return Err(others.into_iter().map(|summary| summary.id).collect());
        }
        Ok(Self { totals: totals(&own), conversations: own, ..self })
    }

    pub(super) fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        for total in &self.totals {
            sum.add_counts(&total.counts);
        }
        sum
    }
}

fn totals(conversations: &[ConversationSummary]) -> Vec<Total> {
    let mut totals: IndexMap<(Option<String>, Option<String>), Total> = IndexMap::new();
    for summary in conversations {
        let (arm, variant) = (summary.arm.clone(), summary.variant.clone());
        let total = totals.entry((arm.clone(), variant.clone())).or_insert_with(|| Total {
            arm,
            variant,
            conversations: 0,
            counts: Counts::default(),
        });
        total.conversations += 1;
        total.counts.add_counts(&summary.counts);
    }
    totals.into_values().collect()
}

impl Reading {
    fn new(record: &LogRecord) -> Self {
        let mut summary = ConversationSummary {
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
                (summary.arm, summary.wire) = (Some(arm.to_string()), Some(wire.to_string()));
                summary.model.clone_from(model);
            }
            Event::Forked { state } => {
                // A snapshot's state is read by its JSON keys: it has no public type.
                let state = serde_json::to_value(state).unwrap_or_default();
                let [arm, wire, model] = ["arm", "wire", "model"].map(|key| Some(state.get(key)?.as_str()?.to_owned()));
                (summary.arm, summary.wire, summary.model) = (arm, wire, model);
            }
            _ => {}
        }
        Self { summary, next: 0, waiting: IndexSet::new(), counted: BTreeSet::new() }
    }

    fn tally_record(&mut self, record: &LogRecord) {
        self.summary.last = time(record.at_ms);
        let counts = &mut self.summary.counts;
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
            Event::Activated { caller, name, .. } => {
                counts.skills += 1;
                counts.skills_by_person += usize::from(*caller == Caller::User);
                *counts.activated.entry(name.clone()).or_default() += 1;
            }
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
                // A later identical call waits for the same approval.
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

    fn into_summary(self) -> ConversationSummary {
        let mut summary = self.summary;
        summary.counts.waiting = self.waiting.len();
        summary
    }
}

impl Counts {
    /// Adds tokens that a host counted. The host may report any number, so the sum saturates.
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
        self.skills_by_person += other.skills_by_person;
        for (name, number) in &other.activated {
            *self.activated.entry(name.clone()).or_default() += number;
        }
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
