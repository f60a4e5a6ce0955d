//! Reads event logs conversation by conversation.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;
use toolfold::conversation::{Event, LogRecord, ReplyKind};
use toolfold::profile::EXPAND_TOOLS;

/// A conversation of an event log: the unit of a live experiment.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LiveConversation {
    /// Its id; empty if it has none.
    pub id: String,
    /// The variant of the experiment.
    pub variant: Option<String>,
    /// The arm; `None` if the log lacks the beginning.
    pub arm: Option<String>,
    /// Calls that the model made.
    pub calls: usize,
    /// Calls of `expand_tools`.
    pub expanded: usize,
    /// Calls answered with errors in their arguments.
    pub repaired: usize,
    /// Calls answered with hidden parameters.
    pub shown: usize,
    /// Calls of tools that do not exist.
    pub unknown: usize,
    /// Calls answered with a directive.
    pub loops: usize,
    /// Calls that the policy did not allow.
    pub refused: usize,
    /// Calls that went to the host.
    pub forwarded: usize,
    /// The forwarded calls made before the model had seen the tool's full schema.
    pub blind: usize,
    /// The forwarded calls that the host reported as failed.
    pub failed: usize,
    /// The number of arrays that the host counted, and their tokens, by meter: each array once.
    pub arrays: BTreeMap<String, (usize, usize)>,
    #[serde(skip)]
    pub(super) counted: Vec<String>,
    /// The indices of its records: a record that two logs contain counts once.
    #[serde(skip)]
    pub(super) seen: BTreeSet<u64>,
}

/// Groups records by conversation: by id, or without ids from one beginning to the next.
#[derive(Debug, Default)]
pub struct LiveLog {
    conversations: Vec<LiveConversation>,
    places: IndexMap<String, usize>,
}

impl LiveLog {
    /// Adds the next record of a log.
    pub fn add_record(&mut self, record: &LogRecord) {
        let begins = record.conversation.is_empty() && matches!(record.event, Event::Started { .. });
        let at = match self.places.get(&record.conversation) {
            Some(at) if !begins => *at,
            _ => {
                self.conversations.push(LiveConversation { id: record.conversation.clone(), ..Default::default() });
                self.places.insert(record.conversation.clone(), self.conversations.len() - 1);
                self.conversations.len() - 1
            }
        };
        if let Some(own) = self.conversations.get_mut(at)
            && (record.conversation.is_empty() || own.seen.insert(record.seq))
        {
            own.tally_record(record);
        }
    }

    /// Ends a log: later records without an id belong to another conversation.
    pub fn end_of_log(&mut self) {
        self.places.shift_remove("");
    }

    /// Every conversation, in order of their beginnings.
    #[must_use]
    pub fn conversations(self) -> Vec<LiveConversation> {
        self.conversations
    }
}

impl LiveConversation {
    fn tally_record(&mut self, record: &LogRecord) {
        if self.variant.is_none() {
            self.variant.clone_from(&record.variant);
        }
        match &record.event {
            Event::Started { arm, .. } => self.arm = Some(arm.to_string()),
            Event::Presented { .. } => self.counted.clear(),
            Event::Counted { meter, tokens } if !self.counted.contains(meter) => {
                self.counted.push(meter.clone());
                let (arrays, sum) = self.arrays.entry(meter.clone()).or_default();
                // The host's counts are untrusted, so the sum saturates.
                (*arrays, *sum) = (arrays.saturating_add(1), sum.saturating_add(*tokens));
            }
            Event::Called { target, meta, .. } => {
                self.calls += 1;
                self.expanded += usize::from(*meta && target == EXPAND_TOOLS);
            }
            Event::Answered { answer, .. } => match answer.kind {
                ReplyKind::Invalid => self.repaired += 1,
                ReplyKind::Shown => self.shown += 1,
                ReplyKind::UnknownTool => self.unknown += 1,
                ReplyKind::Loop => self.loops += 1,
                _ => {}
            },
            Event::Refused { .. } | Event::Rejected { .. } => self.refused += 1,
            Event::Forwarded { notes, .. } => {
                self.forwarded += 1;
                self.blind += usize::from(notes.blind);
            }
            Event::Resumed { .. } => self.forwarded += 1,
            Event::Finished { ok: false, .. } => self.failed += 1,
            _ => {}
        }
    }
}
