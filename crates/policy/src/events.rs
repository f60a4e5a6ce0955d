//! The counted events of calls, by series, as the records of an audit trail add them.

use std::collections::BTreeMap;

use super::audit::Entry;
use super::history::{CallState, Counted, Event, History, Series, Summary};

/// The counted events of calls.
#[derive(Debug, Default)]
pub(crate) struct Events {
    logs: BTreeMap<String, Log>,
    /// Where the events of each call are: their series, and their place in its log.
    calls: BTreeMap<String, Vec<(String, usize)>>,
}

/// The events of one series, oldest first, with sums from the first event to each, so that a
/// summary does not depend on the number of events.
#[derive(Debug, Default)]
struct Log {
    /// Each event with the number of the record that added it.
    events: Vec<(u64, Event)>,
    /// What the events up to each place add up to.
    totals: Vec<Total>,
    /// The place of the last event with each value that counts.
    last: BTreeMap<String, usize>,
    /// Whether an event is older than one before it: the clock went back.
    goes_back: bool,
}

/// Sums over events that count, from the first one.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    count: u64,
    succeeded: u64,
    /// In millionths. 64 bits hold no more than a thousand of the largest amounts.
    sum: i128,
}

impl Events {
    /// Whether a record of a call that runs was made in view of another revision of a series.
    pub(crate) fn has_raced(&self, entry: &Entry) -> bool {
        let revision = |key: &String| self.logs.get(key).map_or(0, |log| log.events.len() as u64);
        let raced = |event: &Counted| event.seen.is_some_and(|seen| seen != revision(&event.series));
        entry.counted_state() == CallState::Forwarded && entry.counted.iter().any(raced)
    }

    /// Adds the counted events of a record, and settles those of its call.
    pub(crate) fn add(&mut self, number: u64, entry: &Entry) {
        let state = entry.counted_state();
        for counted in &entry.counted {
            let event = Event { counted: counted.clone(), time_ms: entry.time_ms, call: entry.call.clone(), state };
            let log = self.logs.entry(counted.series.clone()).or_default();
            let place = (counted.series.clone(), log.events.len());
            log.push(number, event);
            self.calls.entry(entry.call.clone()).or_default().push(place);
        }
        let Some(settled) = entry.settles() else { return };
        for (key, at) in self.calls.get(&entry.call).into_iter().flatten() {
            if let Some(log) = self.logs.get_mut(key) {
                log.settle(*at, settled);
            }
        }
    }

    /// The summaries of series. `before`: only of the events that precede those of this call.
    pub(crate) fn history(&self, series: &[Series], before: Option<&str>) -> History {
        let end = before.and_then(|call| self.first_of(call));
        let summary = |series: &Series| match (self.logs.get(&series.key), end) {
            (None, _) => Summary::default(),
            (Some(log), None) if !log.goes_back => log.summary(series),
            (Some(log), end) => {
                let end = end.unwrap_or(u64::MAX);
                let events = log.events.iter().filter(|(number, _)| *number < end);
                Summary::of(series, events.map(|(_, event)| event))
            }
        };
        History::of(series.iter().map(|series| (series.clone(), summary(series))).collect())
    }

    /// The events of a series that a decision counts, oldest first.
    pub(crate) fn in_window<'e>(&'e self, series: &'e Series) -> impl Iterator<Item = &'e Event> {
        let events = self.logs.get(&series.key).into_iter().flat_map(|log| &log.events);
        events.map(|(_, event)| event).filter(|event| series.counts(event))
    }

    /// The number of the first record that counted a call.
    fn first_of(&self, call: &str) -> Option<u64> {
        let places = self.calls.get(call)?.iter();
        places.filter_map(|(key, at)| self.logs.get(key)?.events.get(*at)).map(|(number, _)| *number).min()
    }
}

impl Log {
    fn push(&mut self, number: u64, event: Event) {
        let at = self.events.len();
        self.goes_back |= self.events.last().is_some_and(|(_, last)| event.time_ms < last.time_ms);
        let mut total = self.totals.last().copied().unwrap_or_default();
        if event.state != CallState::Released {
            total.count += 1;
            total.sum += i128::from(event.counted.amount);
            self.last.insert(event.counted.value.clone(), at);
        }
        self.totals.push(total);
        self.events.push((number, event));
    }

    /// Sets the state of an event whose outcome was unknown.
    fn settle(&mut self, at: usize, settled: CallState) {
        let Some((_, event)) = self.events.get_mut(at).filter(|(_, event)| event.state == CallState::Forwarded) else {
            return;
        };
        event.state = settled;
        if settled == CallState::Ok {
            self.totals.iter_mut().skip(at).for_each(|total| total.succeeded += 1);
        }
    }

    /// The same as [`Summary::of`] over all events, which must be in the order of their times.
    fn summary(&self, series: &Series) -> Summary {
        let start = self.events.partition_point(|(_, event)| event.time_ms < series.since_ms);
        let end = self.totals.last().copied().unwrap_or_default();
        let begin = start.checked_sub(1).and_then(|at| self.totals.get(at)).copied().unwrap_or_default();
        let is_known = |value: &&String| self.last.get(*value).is_some_and(|at| *at >= start);
        let mut counted = self.events.iter().skip(start).map(|(_, event)| event);
        Summary {
            revision: self.events.len() as u64,
            count: end.count - begin.count,
            succeeded: end.succeeded - begin.succeeded,
            sum: i64::try_from(end.sum - begin.sum).unwrap_or(i64::MAX),
            distinct: self.last.values().filter(|at| **at >= start).count() as u64,
            known: series.values.iter().filter(is_known).count() as u64,
            first: counted.find(|event| series.counts(event)).map(|event| (event.time_ms, event.state)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Kind;

    /// Random logs, with ties in time, clocks that go back, calls that did not run and outcomes of
    /// each kind: each window of each log has the summary that its events have one by one.
    #[test]
    fn a_summary_is_that_of_the_events_one_by_one() {
        let mut seed = 5_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for case in 0..400 {
            let (mut events, mut time_ms) = (Events::default(), 0_i64);
            for number in 0..12 {
                // Every fourth log has a clock that goes back.
                let back = if case % 4 == 0 { i64::try_from(random(3)).unwrap() } else { 0 };
                time_ms += i64::try_from(random(4)).unwrap() - back;
                let kind = if random(3) == 0 { Kind::Outcome } else { Kind::Decision };
                let mut entry = Entry::new(kind, time_ms);
                entry.call = random(6).to_string();
                entry.outcome = Some(["ok", "failed"].map(str::to_owned)[random(2) as usize].clone());
                entry.decision = Some(["allow", "deny"].map(str::to_owned)[usize::from(random(4) == 0)].clone());
                if kind == Kind::Decision {
                    let amount = i64::try_from(random(5)).unwrap();
                    let value = random(3).to_string();
                    entry.counted = vec![Counted { series: "s".to_owned(), value, amount, seen: None }];
                }
                events.add(number, &entry);
            }
            let all = || events.logs.get("s").into_iter().flat_map(|log| &log.events).map(|(_, event)| event);
            for since in -4..time_ms + 2 {
                let mut series = Series::new("s");
                (series.since_ms, series.values) = (since, vec!["0".to_owned(), "9".to_owned()]);
                let found = events.history(std::slice::from_ref(&series), None).summary(&series);
                assert_eq!(found, Summary::of(&series, all()), "case {case} since {since}");
            }
        }
    }
}
