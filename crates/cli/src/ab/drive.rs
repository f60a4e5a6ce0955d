//! Plays the rounds one by one, each in its own conversation.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it times what it waits for")]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::output::{Failure, progress};
use super::model::{Model, NoAnswer};
use super::out::Rows;
use super::plan::{Plan, Round};
use super::transcripts::Transcript;
use toolfold_measure::ab::{Answer, Counter, Play, Row, answer_of};

/// Interval between progress lines.
const SAYS_EVERY: Duration = Duration::from_secs(2);

/// Maximum number of consecutive rounds without an answer; then the run stops.
const MAX_FAILED: usize = 5;

/// Plays the remaining rounds. Returns the reason if it stopped before the end.
pub(super) fn play_rounds(
    plan: &Plan,
    mut model: Option<Model>,
    rows: &mut Rows,
    transcripts: Option<&Path>,
) -> Result<Option<String>, Failure> {
    let rounds: Vec<Round<'_>> = plan.rounds().into_iter().filter(|round| !rows.has_round(*round)).collect();
    let mut counter = Counter::new(plan.meter.clone());
    let (started, total, mut failed) = (Instant::now(), rounds.len(), 0);
    let mut said = started;
    for (at, round) in rounds.into_iter().enumerate() {
        if said.elapsed() >= SAYS_EVERY {
            progress(&format!("{at} of {total} tasks and arms played{} …", time_left(started.elapsed(), at, total)));
            said = Instant::now();
        }
        let began = Instant::now();
        let Played { mut row, messages, stops } = play(plan, round, model.as_mut(), &mut counter)?;
        if let Some(why) = stops {
            return Ok(Some(format!("{at} of {total} tasks and arms were played: {why}")));
        }
        row.repeat = round.repeat;
        row.ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        failed = if row.error.is_some() { failed + 1 } else { 0 };
        let error = row.error.clone();
        if let Some(folder) = transcripts {
            Transcript::new(&row, &messages).write(folder)?;
        }
        rows.add_row(row)?;
        if let Some(why) = error.filter(|_| failed >= MAX_FAILED) {
            return Ok(Some(format!("{failed} consecutive tasks had no answer; the last error: {why}")));
        }
    }
    Ok(None)
}

/// The time that the remaining rounds take if they take as long as the first ones did.
fn time_left(elapsed: Duration, played: usize, total: usize) -> String {
    let Some(each) = u32::try_from(played).ok().and_then(|played| elapsed.checked_div(played)) else {
        return String::new();
    };
    let rest = u32::try_from(total.saturating_sub(played)).unwrap_or(u32::MAX);
    let minutes = each.saturating_mul(rest).as_secs().div_ceil(60);
    match minutes {
        0..=1 => ", about a minute left".to_owned(),
        2..=99 => format!(", about {minutes} minutes left"),
        _ => format!(", about {} hours left", minutes.div_ceil(60)),
    }
}

/// A task that was played in one arm.
struct Played {
    row: Row,
    messages: Vec<Value>,
    /// Why no further round can be played.
    stops: Option<String>,
}

/// Plays one task in one arm to its end.
fn play(
    plan: &Plan,
    round: Round<'_>,
    mut model: Option<&mut Model>,
    counter: &mut Counter,
) -> Result<Played, Failure> {
    let (id, arm) = (&round.task.id, round.arm);
    let engine = plan.engine(round.task).ok_or_else(|| Failure::wrong(format!("task `{id}` has no tools")))?;
    let mut play = Play::start_task(round.task, engine, plan.setting(round), counter)
        .map_err(|why| Failure::usage(format!("task `{id}` cannot be played in arm {arm}: {why}")))?;
    let (mut error, mut stops, mut first) = (None, None, true);
    while !play.is_done() && error.is_none() {
        let answer = match (&mut model, round.driver) {
            (Some(model), None) => match model_answer(plan, &mut play, model, std::mem::take(&mut first)) {
                Ok(answer) => answer,
                Err(NoAnswer::Request(why)) => {
                    error = Some(why);
                    break;
                }
                Err(NoAnswer::Everything(why)) => {
                    (error, stops) = (Some(why.clone()), Some(why));
                    break;
                }
            },
            _ => Answer::new(play.scripted(), None),
        };
        error = play.take_answer(&answer.message, answer.usage, counter).err().map(|why| why.to_string());
    }
    let messages = play.messages().to_vec();
    Ok(Played { row: play.finish_row(error), messages, stops })
}

fn model_answer(plan: &Plan, play: &mut Play<'_>, model: &mut Model, first: bool) -> Result<Answer, NoAnswer> {
    let body = play.request_body(&plan.more).map_err(|why| NoAnswer::Everything(why.to_string()))?;
    let response = model.answer_request(&body, first)?;
    answer_of(plan.wire, &response).map_err(|why| NoAnswer::Request(why.to_string()))
}
