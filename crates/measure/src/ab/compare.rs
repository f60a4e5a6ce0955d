//! Compares the rows of every arm with those of arm full, with error bars.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::row::{Calls, Row, Tokens};
use super::stats::{Estimate, difference, ratio, saved};
use crate::figures::{number, percent};

/// The arm that the others are compared with.
const CONTROL: &str = "full";
/// The maximum loss of right calls, in percentage points, for an arm to count as no worse.
pub const MARGIN_POINTS: f64 = 5.0;

/// The result of comparing an arm with the control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
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
    /// The paired difference of right calls to the control, as a share of true calls.
    pub right_difference: Option<Estimate>,
    /// The paired share of input tokens saved against the control on the same tasks. Uses the
    /// provider's figures if every row of both has them.
    pub input_saved: Option<Estimate>,
    /// The verdict.
    pub verdict: Verdict,
}

/// The results of every driver and arm.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Always `toolfold.ab-report/1`.
    pub schema: &'static str,
    /// The meters of the tool arrays; more than one if the rows differ.
    pub meters: Vec<String>,
    /// Per driver and arm, in the order of the rows' first appearance.
    pub cells: Vec<Cell>,
    /// One sentence per driver.
    pub sentences: Vec<String>,
}

/// Compares rows. Of two rows with the same key the later counts, unless it failed.
#[must_use]
pub fn compare(rows: &[Row], drivers: &[&str], arms: &[&str]) -> Comparison {
    let mut latest: IndexMap<(&str, &str, &str, usize), &Row> = IndexMap::new();
    for row in rows {
        let known = latest.get(&row.key());
        if known.is_none_or(|known| row.error.is_none() || known.error.is_some()) {
            latest.insert(row.key(), row);
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
    let sentences = drivers.iter().map(|driver| sentence(driver, &cells)).collect();
    let meters: IndexSet<String> = rows.iter().map(|row| row.tokens.meter.clone()).collect();
    Comparison { schema: "toolfold.ab-report/1", meters: meters.into_iter().collect(), cells, sentences }
}

/// The names that rows have: the wanted ones first, in their order.
fn in_order<'n>(wanted: &[&'n str], found: impl Iterator<Item = &'n str>) -> IndexSet<&'n str> {
    let found: IndexSet<&str> = found.collect();
    let first = wanted.iter().copied().filter(|name| found.contains(name));
    first.chain(found.iter().copied()).collect()
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
    let beside = control.map(|control| beside(&done, control)).unwrap_or_default();
    let right_difference =
        Some(difference(&beside.iter().map(|own| (own.here, own.there, own.truths)).collect::<Vec<_>>()))
            .filter(|own| own.units > 0);
    let input_saved = Some(saved(&beside.iter().map(|own| (own.input, own.control_input)).collect::<Vec<_>>()))
        .filter(|own| own.units > 0);
    Cell {
        driver: driver.to_owned(),
        arm: arm.to_owned(),
        taken,
        rows: done.len(),
        failed: rows.len() - done.len(),
        tasks: right_share.units,
        calls,
        right_share,
        silent_share: share_of_truths(&done, |calls| calls.silent),
        requests: done.iter().map(|row| row.requests).sum(),
        extra_requests: done.iter().map(|row| row.extra_requests).sum(),
        cut: done.iter().map(|row| row.cut).sum(),
        breaks: done.iter().map(|row| row.breaks).sum(),
        first: rounded_mean(&done, |tokens| tokens.first),
        input: rounded_mean(&done, |tokens| tokens.input),
        output: rounded_mean(&done, |tokens| tokens.output),
        reported_input: (!reported.is_empty()).then(|| reported.iter().sum::<usize>() / reported.len()),
        right_difference,
        input_saved,
        verdict: if control.is_none() { Verdict::Control } else { accuracy_verdict(right_difference) },
    }
}

/// The share of true calls with an outcome, per task.
fn share_of_truths(rows: &[&Row], outcome: fn(&Calls) -> usize) -> Estimate {
    let tasks = per_task(rows, |row| [number(outcome(&row.calls)), number(row.calls.truths)]);
    ratio(&tasks.into_values().map(|[own, truths]| (own, truths)).collect::<Vec<_>>())
}

/// The mean of a count over rows, rounded.
fn rounded_mean(rows: &[&Row], of: fn(&Tokens) -> usize) -> usize {
    (rows.iter().map(|row| of(&row.tokens)).sum::<usize>() + rows.len() / 2) / rows.len().max(1)
}

/// The sums over the rows of each task.
fn per_task<'r, const N: usize>(rows: &[&'r Row], of: impl Fn(&Row) -> [f64; N]) -> IndexMap<&'r str, [f64; N]> {
    let mut sums: IndexMap<&str, [f64; N]> = IndexMap::new();
    for row in rows {
        let sum = sums.entry(row.task.as_str()).or_insert([0.0; N]);
        sum.iter_mut().zip(of(row)).for_each(|(sum, own)| *sum += own);
    }
    sums
}

/// A task in an arm and in the control.
#[derive(Default)]
struct Beside {
    here: f64,
    there: f64,
    truths: f64,
    input: f64,
    control_input: f64,
}

/// Every task in both arms, with the repeats that both have.
fn beside(rows: &[&Row], control: &[&Row]) -> Vec<Beside> {
    let control: IndexMap<(&str, usize), &Row> =
        control.iter().filter(|row| row.error.is_none()).map(|row| ((row.task.as_str(), row.repeat), *row)).collect();
    let pairs: Vec<(&Row, &Row)> =
        rows.iter().filter_map(|row| Some((*row, *control.get(&(row.task.as_str(), row.repeat))?))).collect();
    let all_reported = pairs.iter().all(|(own, other)| own.usage.is_some() && other.usage.is_some());
    let mut tasks: IndexMap<&str, Beside> = IndexMap::new();
    for (own, other) in pairs {
        let sum = tasks.entry(own.task.as_str()).or_default();
        sum.here += number(own.calls.right);
        sum.there += number(other.calls.right);
        sum.truths += number(own.calls.truths);
        let [input, control] = [own, other].map(|row| match row.usage {
            Some(usage) if all_reported => usage.input,
            _ => row.tokens.input,
        });
        sum.input += number(input);
        sum.control_input += number(control);
    }
    tasks.into_values().collect()
}

fn accuracy_verdict(right: Option<Estimate>) -> Verdict {
    let Some((value, bar)) = right.and_then(|own| Some((own.value, own.bar?))) else { return Verdict::Undecided };
    if value - bar >= -MARGIN_POINTS / 100.0 {
        Verdict::NoWorse
    } else if value + bar < 0.0 {
        Verdict::Worse
    } else {
        Verdict::Undecided
    }
}

/// A summary of one driver's cells.
fn sentence(driver: &str, cells: &[Cell]) -> String {
    let own: Vec<&Cell> = cells.iter().filter(|cell| cell.driver == driver).collect();
    let Some(control) = own.iter().find(|cell| cell.verdict == Verdict::Control) else {
        return format!("{driver}: arm full was not played, so there is no comparison");
    };
    let best = own
        .iter()
        .filter(|cell| cell.verdict == Verdict::NoWorse)
        .filter_map(|cell| Some((cell, cell.input_saved?)))
        .max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    let full = percent(control.right_share.value);
    match best {
        Some((cell, saves)) if saves.value > saves.bar.unwrap_or(f64::INFINITY) => format!(
            "{driver}: arm {} is no worse than full within the error bar ({} points of right calls; full has {full}) and \
             saves {} of the input",
            cell.arm,
            signed(cell.right_difference),
            with_bar(saves),
        ),
        Some((cell, _)) => format!(
            "{driver}: arm {} is no worse than full ({} points; full has {full} right), without a measurable saving of input",
            cell.arm,
            signed(cell.right_difference)
        ),
        None if own.len() < 2 => format!("{driver}: only arm full was played: {full} of the true calls are right"),
        None => {
            let bars = own.iter().filter_map(|cell| cell.right_difference?.bar).fold(f64::NAN, f64::min);
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
    let bar = own.bar.map_or_else(|| "± ?".to_owned(), |bar| format!("± {:.0} %", bar * 100.0));
    format!("{} {bar}", percent(own.value))
}

fn signed(own: Option<Estimate>) -> String {
    let Some(own) = own else { return "unknown".to_owned() };
    let bar = own.bar.map_or_else(|| "?".to_owned(), |bar| format!("{:.1}", bar * 100.0));
    format!("{:+.1} ± {bar}", own.value * 100.0)
}

impl Calls {
    /// Adds another row's counts.
    fn add(&mut self, other: &Self) {
        self.truths += other.truths;
        self.right += other.right;
        self.at_once += other.at_once;
        self.silent += other.silent;
        self.missed += other.missed;
        self.stray += other.stray;
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
