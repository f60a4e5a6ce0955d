//! Playing: round by round, each in its own conversation.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it times what it waits for")]

use std::time::{Duration, Instant};

use super::super::output::{Failure, progress};
use super::out::Rows;
use super::plan::{Plan, Round};
use toolfold_measure::ab::{Counter, Play, Row};

/// How often it is said how far it is.
const SAYS_EVERY: Duration = Duration::from_secs(2);

/// Plays what is not played yet. Why it stopped before the end, if it did.
pub(super) fn all(plan: &Plan, rows: &mut Rows) -> Result<Option<String>, Failure> {
    let rounds: Vec<Round<'_>> = plan.rounds().into_iter().filter(|round| !rows.has(*round)).collect();
    let mut counter = Counter::new(plan.meter.clone());
    let (mut said, total) = (Instant::now(), rounds.len());
    for (at, round) in rounds.into_iter().enumerate() {
        if said.elapsed() >= SAYS_EVERY {
            progress(&format!("{at} of {total} tasks and arms played …"));
            said = Instant::now();
        }
        let began = Instant::now();
        let mut row = play(plan, round, &mut counter)?;
        row.repeat = round.repeat;
        row.ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        rows.add(row)?;
    }
    Ok(None)
}

/// Plays one task in one arm to its end.
fn play(plan: &Plan, round: Round<'_>, counter: &mut Counter) -> Result<Row, Failure> {
    let (id, arm) = (&round.task.id, round.arm);
    let engine = plan.engine(round.task).ok_or_else(|| Failure::wrong(format!("task `{id}` has no tools")))?;
    let mut play = Play::start(round.task, engine, plan.setting(round), counter)
        .map_err(|why| Failure::usage(format!("task `{id}` cannot be played in arm {arm}: {why}")))?;
    while !play.is_done() {
        let message = play.scripted();
        if let Err(why) = play.take(&message, None, counter) {
            return Ok(play.finish(Some(why.to_string())));
        }
    }
    Ok(play.finish(None))
}
