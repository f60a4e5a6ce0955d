//! The calls that a conversation remembers, and how they are found.

use super::State;
use super::record::{Became, CallRecord};
use crate::conversation::{CallEnd, CallId};

/// The minimum number of remembered calls; the oldest are dropped first. A dropped id is judged as
/// new.
const MAX_CALLS: usize = 256;

/// The number of calls dropped at once: each removal moves the remaining ones to the front.
const FORGOTTEN_AT_ONCE: usize = 64;

/// The maximum size of remembered answers in bytes; the oldest are dropped first.
const MAX_REMEMBERED_BYTES: usize = 1 << 20;

impl State {
    pub(super) fn remember(&mut self, id: &CallId, record: CallRecord) {
        self.called += 1;
        self.message = self.message.max(record.identity.message);
        let label = record.identity.label(id).clone();
        let uses = self.uses(&label);
        match self.calls.insert(id.clone(), record) {
            // A call that is judged again stays in its place.
            Some(before) => self.remembered -= before.became.bytes(),
            None if uses > 0 => {
                self.repeated.shift_remove(&label);
                self.repeated.insert(label, uses + 1);
                if self.repeated.len() > MAX_CALLS {
                    self.repeated.shift_remove_index(0);
                }
            }
            None => {}
        }
        self.forget();
    }

    /// Whether an earlier call with the same target and arguments ran with a note.
    pub(in crate::conversation) fn was_noted(&self, digest: &str) -> bool {
        let noted = |became: &Became| matches!(became, Became::Forwarded { notes, .. } if notes.note.is_some());
        self.calls.values().any(|record| noted(&record.became) && record.digest == digest)
    }

    /// The number of remembered calls with a label.
    pub(in crate::conversation) fn uses(&self, label: &CallId) -> u64 {
        match self.repeated.get(label) {
            Some(uses) => *uses,
            None => u64::from(self.calls.contains_key(label)),
        }
    }

    /// The calls of a message, in order.
    pub(in crate::conversation) fn calls_of(
        &self,
        message: u64,
    ) -> impl DoubleEndedIterator<Item = (&CallId, &CallRecord)> {
        self.calls.iter().filter(move |(_, record)| record.identity.message == message)
    }

    /// The number of the last message with a key.
    pub(in crate::conversation) fn message_of(&self, key: &str) -> Option<u64> {
        let keyed = self.calls.values().filter(|record| record.identity.key.as_deref() == Some(key));
        keyed.map(|record| record.identity.message).max()
    }

    pub(super) fn became(&mut self, id: &CallId, became: Became) {
        if let Some(record) = self.calls.get_mut(id) {
            self.remembered = self.remembered - record.became.bytes() + became.bytes();
            record.became = became;
        }
        self.forget();
    }

    /// Drops the oldest calls beyond the limits, but never the newest.
    fn forget(&mut self) {
        let many = self.calls.len() >= MAX_CALLS + FORGOTTEN_AT_ONCE;
        let mut oldest = if many { FORGOTTEN_AT_ONCE } else { 0 };
        let forgotten = self.calls.values().take(oldest).map(|record| record.became.bytes());
        let mut left = self.remembered - forgotten.sum::<usize>();
        while left > MAX_REMEMBERED_BYTES && oldest + 1 < self.calls.len() {
            left -= self.calls.get_index(oldest).map_or(0, |(_, record)| record.became.bytes());
            oldest += 1;
        }
        self.forgot |= oldest > 0;
        self.calls.drain(..oldest);
        self.remembered = left;
    }

    /// Recomputes the size of remembered answers in a deserialized state.
    pub(in crate::conversation) fn recount(&mut self) {
        self.remembered = self.calls.values().map(|record| record.became.bytes()).sum();
    }

    pub(super) fn finished(&mut self, id: &CallId, end: CallEnd) {
        let Some(record) = self.calls.get_mut(id) else { return };
        match &mut record.became {
            Became::Forwarded { ok, .. } | Became::Resumed { ok, .. } => *ok = Some(end == CallEnd::Succeeded),
            _ => return,
        }
        match end {
            CallEnd::Succeeded => self.breaker.succeeded(&record.digest),
            CallEnd::Failed => self.breaker.failed(&record.digest),
            // The model did nothing wrong: the same call is right once the server is back.
            CallEnd::NotRun => {}
        }
    }

    /// Whether a call was forwarded and not reported yet.
    pub(in crate::conversation) fn is_at_host(&self, id: &CallId) -> bool {
        self.calls.get(id).is_some_and(|record| record.became.is_at_host())
    }

    /// The call at the host with this host id: the first of the last message, otherwise the newest.
    pub(in crate::conversation) fn at_host(&self, id: &CallId) -> Option<CallId> {
        let last = self.calls_of(self.message);
        for (own, record) in last.chain(self.calls.iter().rev()) {
            if record.became.is_at_host() && record.identity.host_id(own) == id {
                return Some(own.clone());
            }
        }
        None
    }
}
