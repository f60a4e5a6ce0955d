//! What rules over earlier calls know about them: series of counted calls, and their summaries.
//!
//! A call that a rule with memory covers adds events to series when it is forwarded. The store
//! keeps the events and returns a summary of each series that a decision asks for. The decision is
//! a function of these summaries, so the same summaries give the same decision.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a decision needs to know about a series.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Series {
    /// The digest that identifies the series: its rule, its conversation or tenant, and, for a
    /// rule about identical calls, the call.
    pub key: String,
    /// The first millisecond since 1970 of the window. `i64::MIN`: every event counts.
    pub since_ms: i64,
    /// The values of the new call. The summary states how many of them are known.
    pub values: Vec<String>,
}

impl Series {
    /// A series of which every event counts.
    #[must_use]
    pub(crate) fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), since_ms: i64::MIN, values: Vec::new() }
    }

    /// Whether a decision counts an event of the series: it is in the window, and its call ran.
    pub(crate) fn counts(&self, event: &Event) -> bool {
        event.time_ms >= self.since_ms && event.state != CallState::Released
    }
}

/// An event that a call adds to a series, as its audit record contains it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Counted {
    /// The [key](Series::key) of the series.
    pub series: String,
    /// The digest of the argument that is counted; empty if calls are counted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The amount that is summed, in millionths; 0 if nothing is summed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub amount: i64,
    /// The [revision](Summary::revision) that the decision was based on. A store that has another
    /// one refuses the record. `None`: the decision does not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(amount: &i64) -> bool {
    *amount == 0
}

/// The state of a counted call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallState {
    /// Forwarded, and no result is known.
    #[default]
    Forwarded,
    /// Ended without an error.
    Ok,
    /// Ended with an error.
    Failed,
    /// Did not run. Counts for nothing but the revision.
    Released,
}

/// A summary of the events of a series. Released calls count only for the revision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of events that were ever added, whatever the window.
    pub revision: u64,
    /// The number of events.
    pub count: u64,
    /// The number of events whose call ended without an error.
    pub succeeded: u64,
    /// The sum of the amounts, in millionths.
    pub sum: i64,
    /// The number of distinct values.
    pub distinct: u64,
    /// The number of the new call's values that are among them.
    pub known: u64,
    /// The time of the first event, and the state of its call.
    pub first: Option<(i64, CallState)>,
}

/// An event, as a store keeps it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Event {
    /// The event.
    pub counted: Counted,
    /// The time in milliseconds since 1970.
    pub time_ms: i64,
    /// The call that added it.
    pub call: String,
    /// The state of that call.
    pub state: CallState,
}

impl Summary {
    /// The summary of a series over its events, oldest first.
    #[must_use]
    pub(crate) fn of<'e>(series: &Series, events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut summary = Self::default();
        let mut values = std::collections::BTreeSet::new();
        for event in events {
            summary.revision += 1;
            if !series.counts(event) {
                continue;
            }
            summary.count += 1;
            summary.succeeded += u64::from(event.state == CallState::Ok);
            summary.sum = summary.sum.saturating_add(event.counted.amount);
            if values.insert(event.counted.value.as_str()) {
                summary.known += u64::from(series.values.contains(&event.counted.value));
            }
            summary.first = summary.first.or(Some((event.time_ms, event.state)));
        }
        summary.distinct = values.len() as u64;
        summary
    }
}

/// A summary of the earlier calls, which the caller provides: the same summary gives the same
/// decision. A series without a summary has no events. Default: no earlier calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct History {
    /// The summaries.
    pub series: BTreeMap<Series, Summary>,
    /// Whether the earlier calls are unknown. Then every rule over them applies.
    pub is_unknown: bool,
}

impl History {
    /// The history of a store that cannot be read: every rule over earlier calls applies.
    #[must_use]
    pub fn unknown() -> Self {
        Self { is_unknown: true, ..Self::default() }
    }

    /// A history of these summaries.
    #[must_use]
    pub fn of(series: BTreeMap<Series, Summary>) -> Self {
        Self { series, is_unknown: false }
    }

    /// The summary of a series.
    pub(crate) fn summary(&self, series: &Series) -> Summary {
        self.series.get(series).cloned().unwrap_or_default()
    }
}
