//! Compares the rows of every arm with those of arm full, with error bars.

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::Serialize;

use super::row::{Calls, Row};
use super::stats::{Estimate, difference, ratio, saved};
use crate::figures::{grouped, number, percent};

const CONTROL: &str = "full";
/// The maximum loss of right tasks, in percentage points, for an arm to count as no worse.
pub const MARGIN_POINTS: f64 = 5.0;

/// The result of comparing an arm with the control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The arm is the control.
    Control,
    /// A loss of more than [`MARGIN_POINTS`] is excluded.
    NoWorse,
    /// A loss is significant.
    Worse,
    /// Neither; more tasks are needed.
    Undecided,
}

/// All rows of one driver and arm.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Cell {
    /// The driver.
    pub driver: String,
    /// The arm.
    pub arm: String,
    /// The arms actually played, with their number of rows: more than one only for `auto`.
    pub taken: IndexMap<String, usize>,
    /// The number of completed rows.
    pub rows: usize,
    /// The number of failed rows.
    pub failed: usize,
    /// The number of tasks with a row.
    pub tasks: usize,
    /// The sum of calls.
    #[serde(flatten)]
    pub calls: Calls,
    /// The share of tasks that are right: all true calls, and no other call that may have written.
    pub task_share: Estimate,
    /// The share of true calls that are right, per task.
    pub right_share: Estimate,
    /// The share of true calls that are valid, ran, and are wrong, per task.
    pub silent_share: Estimate,
    /// The sum of requests.
    pub requests: usize,
    /// The number of requests that ran nothing.
    pub extra_requests: usize,
    /// The number of turns that were ended for too many requests.
    pub cut: usize,
    /// The number of changes of the array.
    pub breaks: usize,
    /// The mean tokens of the first array per row.
    pub first: usize,
    /// The mean tokens of input per row.
    pub input: usize,
    /// The mean tokens of output per row.
    pub output: usize,
    /// The mean input that the provider reports, over the rows that have it.
    pub reported_input: Option<usize>,
    /// The paired difference of right tasks to the control, as a share of tasks.
    pub task_difference: Option<Estimate>,
    /// The paired difference of right calls to the control, as a share of true calls.
    pub right_difference: Option<Estimate>,
    /// The paired share of input tokens saved against the control on the same tasks. Uses the
    /// provider's figures if every row of both has them.
    pub input_saved: Option<Estimate>,
    /// The verdict, by right tasks.
    pub verdict: Verdict,
    /// If it is undecided: about how many tasks would decide, if they differ as these do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_to_decide: Option<usize>,
}

/// The results of every driver and arm.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "toolfold.ab-report/1")]
#[non_exhaustive]
pub struct Comparison {
    /// Always `toolfold.ab-report/1`.
    pub schema: &'static str,
    /// The meters of the tool arrays; more than one if the rows differ.
    pub meters: Vec<String>,
    /// Per driver and arm, in the order of the rows' first appearance.
    pub cells: Vec<Cell>,
    /// A sentence per driver, and one per arm that is worse or undecided.
    pub sentences: Vec<String>,
}

/// Compares rows. Of two rows with the same key the later counts, unless it failed.
#[must_use]
pub fn compare(rows: &[Row], drivers: &[&str], arms: &[&str]) -> Comparison {
    let mut latest: IndexMap<(&str, &str, &str, usize), &Row> = IndexMap::new();
    for row in rows {
        match latest.get(&row.key()) {
            Some(known) if row.error.is_some() && known.error.is_none() => {}
            _ => drop(latest.insert(row.key(), row)),
        }
    }
    let rows: Vec<&Row> = latest.into_values().collect();
    let drivers = in_order(drivers, rows.iter().map(|row| row.driver.as_str()));
    let arms = in_order(arms, rows.iter().map(|row| row.arm.as_str()));
    let mut groups: IndexMap<(&str, &str), Vec<&Row>> = IndexMap::new();
    for row in &rows {
        groups.entry((&row.driver, &row.arm)).or_default().push(row);
    }
    let mut cells = Vec::new();
    for driver in &drivers {
        let control = groups.get(&(*driver, CONTROL)).map(Vec::as_slice).unwrap_or_default();
        for arm in &arms {
            if let Some(own) = groups.get(&(*driver, *arm)) {
                cells.push(cell(driver, arm, own, (*arm != CONTROL).then_some(control)));
            }
        }
    }
    let mut sentences = Vec::new();
    for driver in &drivers {
        sentences.push(sentence(driver, &cells));
        sentences.extend(cells.iter().filter(|cell| cell.driver == *driver).filter_map(lost));
    }
    let mut meters: Vec<String> = Vec::new();
    for row in rows {
        if !meters.contains(&row.tokens.meter) {
            meters.push(row.tokens.meter.clone());
        }
    }
    Comparison { schema: "toolfold.ab-report/1", meters, cells, sentences }
}

/// The names that rows have: the wanted ones first, in their order.
fn in_order<'n>(wanted: &[&'n str], found: impl Iterator<Item = &'n str>) -> IndexSet<&'n str> {
    let found: IndexSet<&str> = found.collect();
    let mut names: IndexSet<&str> = wanted.iter().copied().collect();
    names.retain(|name| found.contains(name));
    names.extend(found);
    names
}

fn cell(driver: &str, arm: &str, rows: &[&Row], control: Option<&[&Row]>) -> Cell {
    let done: Vec<&Row> = rows.iter().copied().filter(|row| row.error.is_none()).collect();
    let mut calls = Calls::default();
    let mut taken: IndexMap<String, usize> = IndexMap::new();
    for row in &done {
        calls.add(&row.calls);
        *taken.entry(row.taken.clone()).or_default() += 1;
    }
    let right_share = share_of_truths(&done, |calls| calls.right);
    let reported: Vec<usize> = done.iter().filter_map(|row| Some(row.usage?.input)).collect();
    let pairs = beside(&done, control.unwrap_or_default());
    let found = |of: fn(&Beside) -> (f64, f64, f64)| {
        Some(difference(&pairs.iter().map(of).collect::<Vec<_>>())).filter(|own| own.units > 0)
    };
    let (task_difference, right_difference) = (found(|own| own.tasks), found(|own| own.right));
    let input: Vec<(f64, f64)> = pairs.iter().map(|own| own.input).collect();
    let input_saved = Some(saved(&input)).filter(|own| own.units > 0);
    Cell {
        driver: driver.to_owned(),
        arm: arm.to_owned(),
        taken,
        rows: done.len(),
        failed: rows.len() - done.len(),
        tasks: right_share.units,
        calls,
        task_share: right_tasks(&done),
        right_share,
        silent_share: share_of_truths(&done, |calls| calls.silent),
        requests: sum(&done, |row| row.requests),
        extra_requests: sum(&done, |row| row.extra_requests),
        cut: sum(&done, |row| row.cut),
        breaks: sum(&done, |row| row.breaks),
        first: rounded_mean(&done, |row| row.tokens.first),
        input: rounded_mean(&done, |row| row.tokens.input),
        output: rounded_mean(&done, |row| row.tokens.output),
        reported_input: reported.iter().sum::<usize>().checked_div(reported.len()),
        task_difference,
        right_difference,
        input_saved,
        verdict: if control.is_none() { Verdict::Control } else { accuracy_verdict(task_difference) },
        tasks_to_decide: control.and(task_difference).and_then(tasks_to_decide),
    }
}

/// The share of right tasks; of a repeated task, the mean of its repeats.
fn right_tasks(rows: &[&Row]) -> Estimate {
    let mut tasks: IndexMap<&str, (f64, f64)> = IndexMap::new();
    for row in rows {
        let (right, all) = tasks.entry(&row.task).or_default();
        *right += number(usize::from(row.is_right()));
        *all += 1.0;
    }
    ratio(&tasks.into_values().map(|(right, all)| (right / all, 1.0)).collect::<Vec<_>>())
}

fn share_of_truths(rows: &[&Row], outcome: fn(&Calls) -> usize) -> Estimate {
    let mut tasks: IndexMap<&str, (f64, f64)> = IndexMap::new();
    for row in rows {
        let (own, truths) = tasks.entry(&row.task).or_default();
        *own += number(outcome(&row.calls));
        *truths += number(row.calls.truths);
    }
    ratio(&tasks.into_values().collect::<Vec<_>>())
}

fn sum(rows: &[&Row], of: fn(&Row) -> usize) -> usize {
    rows.iter().map(|row| of(row)).sum()
}

fn rounded_mean(rows: &[&Row], of: fn(&Row) -> usize) -> usize {
    (sum(rows, of) + rows.len() / 2) / rows.len().max(1)
}

/// A task here and in the control, summed over the repeats that both have.
#[derive(Debug, Clone, Copy, Default)]
struct Beside {
    /// Repeats that are right here, in the control, and all.
    tasks: (f64, f64, f64),
    /// Right calls here, in the control, and the true ones.
    right: (f64, f64, f64),
    /// Input tokens here and in the control.
    input: (f64, f64),
}

/// Every task that both arms have.
fn beside(rows: &[&Row], control: &[&Row]) -> Vec<Beside> {
    let mut in_control: IndexMap<(&str, usize), &Row> = IndexMap::new();
    for row in control {
        if row.error.is_none() {
            in_control.insert((&row.task, row.repeat), row);
        }
    }
    let mut pairs: Vec<(&Row, &Row)> = Vec::new();
    for row in rows {
        if let Some(other) = in_control.get(&(row.task.as_str(), row.repeat)) {
            pairs.push((row, other));
        }
    }
    let all_reported = pairs.iter().all(|(own, other)| own.usage.is_some() && other.usage.is_some());
    let mut tasks: IndexMap<&str, Beside> = IndexMap::new();
    for (own, other) in pairs {
        let sums = tasks.entry(&own.task).or_default();
        sums.right.0 += number(own.calls.right);
        sums.right.1 += number(other.calls.right);
        sums.right.2 += number(own.calls.truths);
        sums.tasks.0 += number(usize::from(own.is_right()));
        sums.tasks.1 += number(usize::from(other.is_right()));
        sums.tasks.2 += 1.0;
        for (sum, row) in [(&mut sums.input.0, own), (&mut sums.input.1, other)] {
            *sum += number(match row.usage {
                Some(usage) if all_reported => usage.input,
                _ => row.tokens.input,
            });
        }
    }
    tasks.into_values().collect()
}

/// About how many tasks would decide an undecided comparison: the bar shrinks with the square root
/// of their number, until a loss of [`MARGIN_POINTS`] is excluded or a loss is significant. `None`
/// if it is decided, if there is no bar, or if no number that can be played would decide.
fn tasks_to_decide(own: Estimate) -> Option<usize> {
    /// No recorded task set is larger.
    const MOST: f64 = 10_000.0;
    let (bar, undecided) = (own.bar?, accuracy_verdict(Some(own)) == Verdict::Undecided);
    let wanted = (own.value + MARGIN_POINTS / 100.0).max(-own.value);
    let tasks = (number(own.units) * (bar / wanted).powi(2)).ceil();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and MOST")]
    let tasks = (undecided && tasks <= MOST).then_some(tasks as usize);
    tasks
}

fn accuracy_verdict(right: Option<Estimate>) -> Verdict {
    let Some(Estimate { value, bar: Some(bar), .. }) = right else { return Verdict::Undecided };
    if value - bar >= -MARGIN_POINTS / 100.0 {
        Verdict::NoWorse
    } else if value + bar < 0.0 {
        Verdict::Worse
    } else {
        Verdict::Undecided
    }
}

/// The verdict on an arm that is worse than the control, or undecided.
fn lost(cell: &Cell) -> Option<String> {
    let Cell { driver, arm, task_difference, .. } = cell;
    let points = signed(*task_difference);
    match cell.verdict {
        Verdict::Worse => Some(format!("{driver}: {arm} is worse than full: {points} points of right tasks")),
        Verdict::Undecided if task_difference.is_some() => {
            let more = match cell.tasks_to_decide {
                Some(tasks) => format!("about {} tasks would decide", grouped(tasks)),
                None => "more tasks are needed to decide".to_owned(),
            };
            Some(format!("{driver}: {arm} is undecided: {points} points of right tasks; {more}"))
        }
        _ => None,
    }
}

fn sentence(driver: &str, cells: &[Cell]) -> String {
    let own: Vec<&Cell> = cells.iter().filter(|cell| cell.driver == driver).collect();
    let Some(control) = own.iter().find(|cell| cell.verdict == Verdict::Control) else {
        return format!("{driver}: arm full was not played, so there is no comparison");
    };
    let mut best: Option<(&Cell, Estimate)> = None;
    for cell in &own {
        if let (Verdict::NoWorse, Some(saves)) = (cell.verdict, cell.input_saved)
            && best.is_none_or(|(_, most)| saves.value.total_cmp(&most.value).is_ge())
        {
            best = Some((cell, saves));
        }
    }
    let full = percent(control.task_share.value);
    match best {
        Some((cell, saves)) if saves.value > saves.bar.unwrap_or(f64::INFINITY) => format!(
            "{driver}: arm {} is no worse than full within the error bar ({} points of right tasks; full has {full}) and \
             saves {} of the input",
            cell.arm,
            signed(cell.task_difference),
            with_bar(saves),
        ),
        Some((cell, _)) => format!(
            "{driver}: arm {} is no worse than full ({} points; full has {full} right), without a measurable saving of input",
            cell.arm,
            signed(cell.task_difference)
        ),
        None if own.len() < 2 => format!("{driver}: only arm full was played: {full} of the tasks are right"),
        None => {
            let bars = own.iter().filter_map(|cell| cell.task_difference?.bar).fold(f64::NAN, f64::min);
            let tasks = control.tasks;
            let seen = if bars.is_nan() {
                "without an error bar".to_owned()
            } else {
                format!("± {:.0} points at best", bars * 100.0)
            };
            format!(
                "{driver}: with {tasks} tasks, no arm is proven to be within {MARGIN_POINTS:.0} points of full ({seen})"
            )
        }
    }
}

pub(super) fn with_bar(own: Estimate) -> String {
    let share = percent(own.value);
    match own.bar {
        Some(bar) => format!("{share} ± {:.0} %", bar * 100.0),
        None => format!("{share} ± ?"),
    }
}

fn signed(own: Option<Estimate>) -> String {
    let Some(own) = own else { return "unknown".to_owned() };
    match own.bar {
        Some(bar) => format!("{:+.1} ± {:.1}", own.value * 100.0, bar * 100.0),
        None => format!("{:+.1} ± ?", own.value * 100.0),
    }
}

impl Calls {
    fn add(&mut self, other: &Self) {
        self.truths += other.truths;
        self.right += other.right;
        self.at_once += other.at_once;
        self.silent += other.silent;
        self.missed += other.missed;
        self.stray += other.stray;
        self.writes += other.writes;
        self.siblings += other.siblings;
        self.made += other.made;
        self.forwarded += other.forwarded;
        self.blind += other.blind;
        self.coerced += other.coerced;
        self.repaired += other.repaired;
        self.shown += other.shown;
        self.unknown += other.unknown;
        self.loops += other.loops;
        self.refused += other.refused;
        self.expanded += other.expanded;
    }
}
