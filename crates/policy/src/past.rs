//! Earlier calls as audit records state them, for a decision away from the store: `toolfold policy
//! explain --history`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::audit::Entry;
use super::canonical::canonical;
use super::context::{Context, PolicyCall, ToolOrigin};
use super::events::Events;
use super::history::{CallState, History};
use super::memory::conditions;
use super::policy_set::Policy;
use super::prepared::Prepared;

/// The maximum number of calls that are shown for one condition. More would not be read.
const MAX_SHOWN: usize = 20;

/// The earlier calls of an audit trail.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Past {
    /// The conversation of the last record that names one; empty if none does.
    pub session: String,
    /// The time of the last record in milliseconds since 1970; 0 without records.
    pub time_ms: i64,
    events: Events,
    /// The calls that ran, by the key of their events, each without its state.
    calls: BTreeMap<String, EarlierCall>,
    records: u64,
}

/// An earlier call that a condition counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EarlierCall {
    /// When it ran, in milliseconds since 1970.
    pub time_ms: i64,
    /// Its conversation; empty if its record names none.
    pub session: String,
    /// Its tool, as rules name it.
    pub tool: String,
    /// Its id in the conversation; empty if its record names none.
    pub call_id: String,
    /// How it ended.
    pub state: CallState,
}

/// A condition on earlier calls that concerns a call, with the calls that it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EarlierCalls {
    /// The rule with its place, or the record that asks about repeated calls.
    pub rule: String,
    /// Why the rule applies. `None`: it does not apply.
    pub why: Option<String>,
    /// The number of calls that the condition counts.
    pub count: u64,
    /// The newest of them, at most 20, oldest first.
    pub calls: Vec<EarlierCall>,
}

impl Past {
    /// Adds the next record of a trail. The events that the record contains count as they are. A
    /// rule of this policy without events in the record counts what the record states about the
    /// call: then a redacted argument counts as its redacted text. `context`: the circumstances of
    /// the calls; their conversation and time are those of the record.
    pub fn add(&mut self, policy: &Policy, context: &Context, record: &Entry) {
        self.records += 1;
        self.time_ms = record.time_ms;
        if !record.session.is_empty() {
            self.session.clone_from(&record.session);
        }
        let mut entry = record.clone();
        if entry.call.is_empty() {
            entry.call = canonical(&json!([record.session, record.call_id]));
        }
        if entry.counted_state() == CallState::Forwarded {
            let origin = record.origin.clone().unwrap_or(ToolOrigin::Native);
            let context = context.clone().with_session(&*record.session).with_now_ms(record.time_ms);
            let call = PolicyCall::new(&origin, &record.tool, &record.arguments);
            let known: BTreeSet<&str> = record.counted.iter().map(|event| event.series.as_str()).collect();
            let own = policy.prepare(call, &context, None, History::default()).counted();
            entry.counted.extend(own.into_iter().filter(|event| !known.contains(event.series.as_str())));
            let earlier = EarlierCall {
                time_ms: record.time_ms,
                session: record.session.clone(),
                tool: origin.identity(&record.tool),
                call_id: record.call_id.clone(),
                state: CallState::Forwarded,
            };
            self.calls.insert(entry.call.clone(), earlier);
        }
        self.events.add(self.records, &entry);
    }

    /// A call with these earlier calls.
    #[must_use]
    pub fn before<'p>(&self, call: Prepared<'p>) -> Prepared<'p> {
        let history = self.events.history(&call.series(), None);
        call.with_history(history)
    }

    /// The conditions on earlier calls that concern a call, which has its
    /// [history](Self::before), with the calls that each counts.
    #[must_use]
    pub fn conditions(&self, call: &Prepared<'_>) -> Vec<EarlierCalls> {
        let mut all = Vec::new();
        for condition in conditions(call) {
            // A call with several values has several events in a series.
            let mut seen = BTreeSet::new();
            let mut calls = Vec::new();
            for event in condition.series.iter().flat_map(|series| self.events.in_window(series)) {
                if let Some(earlier) = self.calls.get(&event.call).filter(|_| seen.insert(event.call.as_str())) {
                    calls.push(EarlierCall { state: event.state, ..earlier.clone() });
                }
            }
            calls.sort_by_cached_key(|call| call.time_ms);
            let count = calls.len() as u64;
            calls.drain(..calls.len().saturating_sub(MAX_SHOWN));
            all.push(EarlierCalls { rule: condition.rule, why: condition.why, count, calls });
        }
        all
    }
}
