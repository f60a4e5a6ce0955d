//! The events of one series, and their sums.

use std::collections::{BTreeMap, VecDeque};

use crate::history::{CallState, Event, Series, Summary};

/// The fewest events of a series at which some are dropped.
const FEWEST: usize = 256;

/// How much longer than the window of the last decision an event is kept, in milliseconds: other
/// decisions may have begun before it.
const SLACK_MS: i64 = 60_000;

/// The events of one series, oldest first, with sums from the first event to each, so that a
/// summary does not depend on the number of events.
#[derive(Debug)]
pub(super) struct Log {
    /// Each event with the number of the record that added it, behind the dropped ones.
    events: VecDeque<(u64, Event)>,
    /// What the events up to each place add up to.
    totals: VecDeque<Total>,
    /// The place of the last event with each value that counts.
    last: BTreeMap<String, usize>,
    /// Whether an event is older than one before it: the clock went back.
    goes_back: bool,
    /// The first millisecond of the longest window that the latest decision asked for. `i64::MIN`:
    /// all events. `None`: no decision has asked.
    pub(super) since_ms: Option<i64>,
    /// Whether a decision depends on the revision, so that one asks before each event is added.
    is_bound: bool,
    dropped: Dropped,
    /// The number of events at which the next ones are dropped.
    prune_at: usize,
}

/// The oldest events, of which only this is kept.
#[derive(Debug, Default)]
struct Dropped {
    count: usize,
    /// The number of the record that added the last of them.
    number: u64,
    total: Total,
    /// The times of the oldest and of the newest one.
    times_ms: Option<(i64, i64)>,
    /// The first one that counts: its place, its time and its state.
    first: Option<(usize, i64, CallState)>,
    /// Whether a value was forgotten.
    lost_values: bool,
}

/// Sums over events that count, from the first one.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    count: u64,
    succeeded: u64,
    /// In millionths. 64 bits hold no more than a thousand of the largest amounts.
    sum: i128,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            events: VecDeque::new(),
            totals: VecDeque::new(),
            last: BTreeMap::new(),
            goes_back: false,
            since_ms: None,
            is_bound: false,
            dropped: Dropped::default(),
            prune_at: FEWEST,
        }
    }
}

impl Log {
    /// The number of events that were ever added.
    pub(super) fn revision(&self) -> u64 {
        (self.dropped.count + self.events.len()) as u64
    }

    /// The events that are kept.
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().map(|(_, event)| event)
    }

    /// The number of the record that added the event at a place, if that is kept.
    pub(super) fn number(&self, at: usize) -> Option<u64> {
        let (number, _) = self.events.get(at.checked_sub(self.dropped.count)?)?;
        Some(*number)
    }

    /// Adds an event. Returns its place.
    pub(super) fn push(&mut self, number: u64, event: Event) -> usize {
        let at = self.dropped.count + self.events.len();
        self.goes_back |= self.events.back().is_some_and(|(_, last)| event.time_ms < last.time_ms);
        self.is_bound |= event.counted.seen.is_some();
        let mut total = self.totals.back().copied().unwrap_or(self.dropped.total);
        if event.state != CallState::Released {
            total.count += 1;
            total.sum += i128::from(event.counted.amount);
            self.last.insert(event.counted.value.clone(), at);
        }
        self.totals.push_back(total);
        self.events.push_back((number, event));
        at
    }

    /// Sets the state of an event whose outcome was unknown. Returns whether the event is kept.
    pub(super) fn settle(&mut self, at: usize, settled: CallState) -> bool {
        let kept = at.checked_sub(self.dropped.count);
        if let Some(kept) = kept {
            match self.events.get_mut(kept) {
                Some((_, event)) if event.state == CallState::Forwarded => event.state = settled,
                _ => return true,
            }
        } else if let Some((first, _, state)) = &mut self.dropped.first
            && *first == at
        {
            *state = settled;
        }
        if settled == CallState::Ok {
            self.totals.iter_mut().skip(kept.unwrap_or(0)).for_each(|total| total.succeeded += 1);
            self.dropped.total.succeeded += u64::from(kept.is_none());
        }
        kept.is_some()
    }

    /// Drops the events that no decision looks at one by one: those before the window, or all where
    /// there is no window. Returns them with their places, and whether their outcome still counts.
    pub(super) fn prune(&mut self) -> Vec<(usize, Event, bool)> {
        let mut gone = Vec::new();
        let before = match self.since_ms {
            Some(since_ms) if since_ms > i64::MIN => since_ms.saturating_sub(SLACK_MS),
            None if self.is_bound => return gone,
            _ => i64::MAX,
        };
        if self.events.len() < self.prune_at {
            return gone;
        }
        let has_window = before < i64::MAX;
        // A replay asks for what was before one of the newest calls.
        let most = if has_window { usize::MAX } else { self.events.len() - FEWEST / 2 };
        while gone.len() < most
            && self.events.front().is_some_and(|(_, event)| event.time_ms < before)
            && let (Some((number, event)), Some(total)) = (self.events.pop_front(), self.totals.pop_front())
        {
            let dropped = &mut self.dropped;
            let (oldest, newest) = dropped.times_ms.unwrap_or((event.time_ms, event.time_ms));
            dropped.times_ms = Some((oldest.min(event.time_ms), newest.max(event.time_ms)));
            (dropped.number, dropped.total) = (number, total);
            if event.state != CallState::Released {
                dropped.first.get_or_insert((dropped.count, event.time_ms, event.state));
            }
            let is_awaited = !has_window && event.state == CallState::Forwarded;
            gone.push((dropped.count, event, is_awaited));
            dropped.count += 1;
        }
        if has_window {
            let values = self.last.len();
            self.last.retain(|_, at| *at >= self.dropped.count);
            self.dropped.lost_values |= self.last.len() < values;
        }
        self.prune_at = FEWEST.max(2 * self.events.len());
        gone
    }

    /// The same as [`Summary::of`] over all events that were ever added, before the record with the
    /// number `end`. `None`: it depends on dropped events of which too little is kept.
    pub(super) fn summary(&self, series: &Series, end: Option<u64>) -> Option<Summary> {
        let with_dropped = match self.dropped.times_ms {
            Some((oldest, newest)) if series.since_ms <= newest => {
                let all = series.since_ms == i64::MIN || series.since_ms <= oldest && !self.goes_back;
                if !all || self.dropped.lost_values || end.is_some() {
                    return None;
                }
                true
            }
            _ => false,
        };
        if end.is_some_and(|end| self.dropped.count > 0 && end <= self.dropped.number) {
            return None;
        }
        if end.is_none() && (!self.goes_back || series.since_ms == i64::MIN) {
            return Some(self.sums(series, with_dropped));
        }
        let kept = self.events.iter().filter(|(number, _)| end.is_none_or(|end| *number < end));
        let summary = Summary::of(series, kept.map(|(_, event)| event));
        Some(Summary { revision: self.dropped.count as u64 + summary.revision, ..summary })
    }

    /// The summary of a window of events in the order of their times, or of all.
    fn sums(&self, series: &Series, with_dropped: bool) -> Summary {
        let start = self.events.partition_point(|(_, event)| event.time_ms < series.since_ms);
        let end = self.totals.back().copied().unwrap_or(self.dropped.total);
        let begin = match start.checked_sub(1) {
            Some(at) => self.totals.get(at).copied().unwrap_or_default(),
            None if with_dropped => Total::default(),
            None => self.dropped.total,
        };
        let place = if with_dropped { 0 } else { self.dropped.count + start };
        let is_known = |value: &&String| self.last.get(*value).is_some_and(|at| *at >= place);
        let dropped = self.dropped.first.filter(|_| with_dropped).map(|(_, time_ms, state)| (time_ms, state));
        let mut counted = self.events().skip(start).filter(|event| series.counts(event));
        Summary {
            revision: self.revision(),
            count: end.count - begin.count,
            succeeded: end.succeeded - begin.succeeded,
            sum: i64::try_from(end.sum - begin.sum).unwrap_or(i64::MAX),
            distinct: self.last.values().filter(|at| **at >= place).count() as u64,
            known: series.values.iter().filter(is_known).count() as u64,
            first: dropped.or_else(|| counted.next().map(|event| (event.time_ms, event.state))),
        }
    }
}
