//! The counted events of calls, by series, as the records of an audit trail add them.

use std::collections::{BTreeMap, VecDeque};

use self::log::Log;
use super::audit::Entry;
use super::history::{CallState, Counted, Event, History, Series, Summary};

mod log;

/// The most calls whose outcome is still awaited after their events were dropped. An older one
/// stays a call without an outcome.
const MAX_AWAITED: usize = 10_000;

/// The counted events of calls.
#[derive(Debug, Default)]
pub(crate) struct Events {
    logs: BTreeMap<String, Log>,
    /// Where the events of each call are: their series, and their place in its log.
    calls: BTreeMap<String, Vec<(String, usize)>>,
    /// The calls of dropped events without an outcome, oldest first, each with the place.
    awaited: VecDeque<(String, (String, usize))>,
}

impl Events {
    /// Whether a record of a call that runs was made in view of another revision of a series.
    pub(crate) fn has_raced(&self, entry: &Entry) -> bool {
        let revision = |key: &String| self.logs.get(key).map_or(0, Log::revision);
        let raced = |event: &Counted| event.seen.is_some_and(|seen| seen != revision(&event.series));
        entry.counted_state() == CallState::Forwarded && entry.counted.iter().any(raced)
    }

    /// Adds the counted events of a record, and settles those of its call.
    pub(crate) fn add(&mut self, number: u64, entry: &Entry) {
        let state = entry.counted_state();
        for counted in &entry.counted {
            let event = Event { counted: counted.clone(), time_ms: entry.time_ms, call: entry.call.clone(), state };
            let at = self.logs.entry(counted.series.clone()).or_default().push(number, event);
            self.calls.entry(entry.call.clone()).or_default().push((counted.series.clone(), at));
        }
        let (Some(settled), Some(places)) = (entry.settles(), self.calls.get_mut(&entry.call)) else { return };
        // Nothing more is awaited of the events that were dropped.
        places.retain(|(key, at)| self.logs.get_mut(key).is_some_and(|log| log.settle(*at, settled)));
        if places.is_empty() {
            self.calls.remove(&entry.call);
        }
    }

    /// Notes from when on the decisions look at series.
    pub(crate) fn ask(&mut self, series: &[Series]) {
        for one in series {
            let since = series.iter().filter(|other| other.key == one.key).map(|other| other.since_ms).min();
            if let Some(log) = self.logs.get_mut(&one.key) {
                log.since_ms = since;
            }
        }
    }

    /// Drops what no decision looks at any more in the series that a record added to: what lies
    /// before their windows, and the single events where only their sums matter.
    pub(crate) fn prune(&mut self, entry: &Entry) {
        for counted in &entry.counted {
            let Some(log) = self.logs.get_mut(&counted.series) else { continue };
            for (at, event, is_awaited) in log.prune() {
                let place = (counted.series.clone(), at);
                if is_awaited {
                    self.awaited.push_back((event.call, place));
                } else {
                    forget(&mut self.calls, &event.call, &place);
                }
            }
        }
        while self.awaited.len() > MAX_AWAITED {
            let Some((call, place)) = self.awaited.pop_front() else { return };
            forget(&mut self.calls, &call, &place);
        }
    }

    /// The summaries of series. `before`: only of the events that precede those of this call. Where
    /// they depend on events that were dropped, they are unknown.
    pub(crate) fn history(&self, series: &[Series], before: Option<&str>) -> History {
        let end = before.and_then(|call| self.first_of(call));
        let mut summaries = BTreeMap::new();
        for series in series {
            let summary =
                self.logs.get(&series.key).map_or_else(|| Some(Summary::default()), |log| log.summary(series, end));
            let Some(summary) = summary else { return History::unknown() };
            summaries.insert(series.clone(), summary);
        }
        History::of(summaries)
    }

    /// The events of a series that a decision counts, oldest first.
    pub(crate) fn in_window<'e>(&'e self, series: &'e Series) -> impl Iterator<Item = &'e Event> {
        let events = self.logs.get(&series.key).into_iter().flat_map(Log::events);
        events.filter(|event| series.counts(event))
    }

    /// The number of the first record that counted a call.
    fn first_of(&self, call: &str) -> Option<u64> {
        let places = self.calls.get(call)?.iter();
        places.filter_map(|(key, at)| self.logs.get(key)?.number(*at)).min()
    }
}

/// Forgets where an event of a call is.
fn forget(calls: &mut BTreeMap<String, Vec<(String, usize)>>, call: &str, place: &(String, usize)) {
    if let Some(places) = calls.get_mut(call) {
        places.retain(|own| own != place);
        if places.is_empty() {
            calls.remove(call);
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
            let all = || events.logs.get("s").into_iter().flat_map(Log::events);
            for since in -4..time_ms + 2 {
                let mut series = Series::new("s");
                (series.since_ms, series.values) = (since, vec!["0".to_owned(), "9".to_owned()]);
                let found = events.history(std::slice::from_ref(&series), None).summary(&series);
                assert_eq!(found, Summary::of(&series, all()), "case {case} since {since}");
            }
        }
    }

    /// A source of numbers.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }
    }

    /// What `Events` keeps: events, places of calls, and calls that are awaited.
    fn kept(events: &Events) -> usize {
        let places: usize = events.calls.values().map(Vec::len).sum();
        events.logs.values().map(|log| log.events().count()).sum::<usize>() + places + events.awaited.len()
    }

    fn record(kind: Kind, time_ms: i64, call: &str) -> Entry {
        let mut entry = Entry::new(kind, time_ms);
        (entry.call, entry.decision) = (call.to_owned(), Some("allow".to_owned()));
        entry
    }

    fn event(series: &str, value: u64, seen: Option<u64>) -> Counted {
        Counted { series: series.to_owned(), value: value.to_string(), amount: 1, seen }
    }

    /// 102,000 events in one conversation: what is kept does not depend on their number.
    #[test]
    fn what_is_kept_is_bounded() {
        let (mut events, mut most) = (Events::default(), 0);
        let whole = Series::new("whole");
        for number in 0..34_000_u64 {
            let now = i64::try_from(number).unwrap() * 1_000;
            // A minute, and all of the conversation.
            let series = [Series { since_ms: now - 60_000, ..Series::new("window") }, whole.clone()];
            events.ask(&series);
            let call = number.to_string();
            let mut entry = record(Kind::Decision, now, &call);
            entry.counted = vec![event("window", number, Some(number)), event("whole", number % 50, Some(number))];
            // Nobody asks about these.
            entry.counted.push(event("after", 0, None));
            assert!(!events.has_raced(&entry), "{number}");
            events.add(number, &entry);
            events.prune(&entry);
            // The outcome of every fifth call stays unknown.
            if number % 5 != 0 {
                events.add(number, &Entry { outcome: Some("ok".to_owned()), ..record(Kind::Outcome, now, &call) });
            }
            if number % 500 == 499 {
                most = most.max(kept(&events));
            }
        }
        // Three series of at most twice 256 events and their places, and the awaited calls.
        assert!(most <= 3 * 2 * 512 + 2 * MAX_AWAITED, "{most}");
        let history = events.history(&[whole.clone(), Series::new("after")], None);
        let (whole, after) = (history.summary(&whole), history.summary(&Series::new("after")));
        assert_eq!((whole.count, whole.sum, whole.distinct, whole.revision), (34_000, 34_000, 50, 34_000));
        assert_eq!((after.count, after.succeeded, after.first), (34_000, 27_200, Some((0, CallState::Forwarded))));
    }

    /// Events that are pruned have the summaries of events that are not: in windows, over all of
    /// them, after late outcomes, and before a call of the window.
    #[test]
    fn pruned_events_have_the_same_summaries() {
        for case in 0..u64::from(toolfold_testing::cases_of(2, 4)) {
            let (mut pruned, mut all, mut random) = (Events::default(), Events::default(), Random(case));
            let (mut now, mut open) = (0_i64, Vec::new());
            for number in 0..u64::from(toolfold_testing::cases_of(700, 1_800).min(1_800)) {
                // The clock goes back a little in half of the cases.
                let back = if case % 2 == 0 { 0 } else { i64::try_from(random.below(9)).unwrap() };
                now += i64::try_from(random.below(900)).unwrap() - 50 * back;
                let values = vec!["1".to_owned(), "7".to_owned()];
                let short = Series { since_ms: now - 99_000, values: values.clone(), ..Series::new("window") };
                let long = Series { since_ms: now - 200_000, ..short.clone() };
                let series = [short, long, Series { values, ..Series::new("whole") }];
                pruned.ask(&series);
                assert_eq!(pruned.history(&series, None), all.history(&series, None), "case {case}, {number}");
                let call = number.to_string();
                let mut entry = record(Kind::Decision, now, &call);
                if random.below(8) == 0 {
                    entry.decision = Some("deny".to_owned());
                }
                for (key, values) in [("window", 4_000), ("whole", 40)] {
                    entry.counted.push(event(key, random.below(values), Some(number)));
                }
                assert!(!pruned.has_raced(&entry) && !all.has_raced(&entry), "{number}");
                pruned.add(number, &entry);
                all.add(number, &entry);
                pruned.prune(&entry);
                open.push(call);
                if random.below(3) > 0 {
                    let late = open.swap_remove(usize::try_from(random.below(open.len() as u64)).unwrap());
                    let outcome = if random.below(4) == 0 { "error" } else { "ok" };
                    let outcome = Entry { outcome: Some(outcome.to_owned()), ..record(Kind::Outcome, now, &late) };
                    pruned.add(number, &outcome);
                    all.add(number, &outcome);
                }
                if number % 10 > 0 {
                    continue;
                }
                let recent = number.saturating_sub(random.below(100)).to_string();
                let recent = Some(recent.as_str());
                let window = &series[..1];
                assert_eq!(pruned.history(window, recent), all.history(window, recent), "case {case}, {number}");
                // What was dropped cannot be taken apart: then every rule applies.
                let found = pruned.history(&series, recent);
                assert!(found.is_unknown || found == all.history(&series, recent), "case {case}, {number}");
                // Nor can what no decision has asked for.
                let first = pruned.logs.get("whole").and_then(|log| log.events().next()).unwrap().time_ms;
                let whole = |since_ms| Series { since_ms, ..Series::new("whole") };
                for other in [whole(now - 20_000), whole(first), Series::new("window")] {
                    let other = [other];
                    let found = pruned.history(&other, None);
                    assert!(found.is_unknown || found == all.history(&other, None), "case {case}, {number}");
                }
            }
            assert!(kept(&pruned) < kept(&all), "case {case}: {} of {}", kept(&pruned), kept(&all));
        }
    }
}
