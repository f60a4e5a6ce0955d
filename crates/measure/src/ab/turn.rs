//! Judges a turn: which of its true calls the driver made.

use std::collections::BTreeSet;

use serde_json::Value;
use toolfold::catalog::Tool;
use toolfold::engine::Engine;

use super::row::{Calls, Wrong};
use super::tasks::{Task, TrueCall};

/// A call of a tool in a turn, by its catalog name.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) tool: String,
    /// The arguments with which it ran; `None` if it was answered instead.
    pub(super) ran: Option<Value>,
}

impl Made {
    /// Whether it ran and is this true call, or one of its alternatives.
    pub(super) fn is_true(&self, engine: &Engine, truth: &TrueCall) -> bool {
        let Some(arguments) = &self.ran else { return false };
        let is_form = |form: &TrueCall| form.tool == self.tool && form.wrong_in(engine, arguments).is_empty();
        truth.forms().any(is_form)
    }
}

impl TrueCall {
    /// The call itself and its alternatives.
    fn forms(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.alternatives)
    }

    /// The arguments in which a call of the same tool differs.
    fn wrong_in(&self, engine: &Engine, arguments: &Value) -> Vec<String> {
        let schema = engine.catalog().get(&self.tool).map_or(&Value::Null, Tool::parameters);
        self.differences(schema, arguments)
    }
}

/// The calls of a turn against its true calls.
#[derive(Debug)]
pub(super) struct Judge<'t> {
    engine: &'t Engine,
    task: &'t Task,
    truths: &'t [TrueCall],
    made: &'t [Made],
    /// For each call of `made`, the true call that it is.
    right: Vec<Option<usize>>,
}

impl<'t> Judge<'t> {
    pub(super) fn new(engine: &'t Engine, task: &'t Task, truths: &'t [TrueCall], made: &'t [Made]) -> Self {
        let mut fits: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, truth) in truths.iter().enumerate() {
            let own = made.iter().enumerate().filter(|(_, call)| call.is_true(engine, truth));
            fits.push((at, own.map(|(call, _)| call).collect()));
        }
        // The true call with the fewest candidates chooses first, because another may have more.
        fits.sort_by_cached_key(|(_, calls)| calls.len());
        let mut right = vec![None; made.len()];
        for (truth, calls) in fits {
            let free = calls.into_iter().find(|call| right.get(*call) == Some(&None));
            if let Some(slot) = free.and_then(|call| right.get_mut(call)) {
                *slot = Some(truth);
            }
        }
        Self { engine, task, truths, made, right }
    }

    /// Adds the turn's counts, and the true calls that are not right.
    pub(super) fn add(&self, turn: usize, calls: &mut Calls, wrong: &mut Vec<Wrong>) {
        let mut disturbed: BTreeSet<&str> = BTreeSet::new();
        let mut left: Vec<&Made> = Vec::new();
        for (call, right) in self.made.iter().zip(&self.right) {
            if right.is_some() {
                calls.right += 1;
                calls.at_once += usize::from(!disturbed.contains(call.tool.as_str()));
                continue;
            }
            disturbed.insert(&call.tool);
            if call.ran.is_some() {
                left.push(call);
            }
        }
        let mut missed = 0;
        for (at, truth) in self.truths.iter().enumerate() {
            if self.right.contains(&Some(at)) {
                continue;
            }
            let place = left.iter().position(|call| truth.forms().any(|form| form.tool == call.tool));
            let arguments = match place.map(|at| left.remove(at)) {
                Some(Made { tool, ran }) => {
                    calls.silent += 1;
                    let form = truth.forms().find(|form| form.tool == *tool).unwrap_or(truth);
                    form.wrong_in(self.engine, ran.as_ref().unwrap_or(&Value::Null))
                }
                None => {
                    missed += 1;
                    Vec::new()
                }
            };
            wrong.push(Wrong { turn, tool: truth.tool.clone(), arguments });
        }
        calls.missed += missed;
        calls.stray += left.len();
        calls.writes += left.iter().filter(|call| self.may_write(&call.tool)).count();
        let is_asked = |tool: &str| self.truths.iter().any(|truth| truth.forms().any(|form| form.tool == tool));
        calls.siblings += missed.min(left.iter().filter(|call| !is_asked(&call.tool)).count());
    }

    /// Whether a call may change something: the task does not list the tool as reading, and its
    /// server does not describe it as read-only (an absent hint is not harmless).
    fn may_write(&self, tool: &str) -> bool {
        let annotations = self.engine.catalog().get(tool).and_then(Tool::annotations);
        let reads = annotations.and_then(|own| own.read_only_hint).unwrap_or_default();
        !reads && !self.task.reads.iter().any(|own| own == tool)
    }
}

/// The recorded result of the true call that this call is, given the calls before it; of several
/// equal true calls the next, and of a repeated call the last again. `None` without a recording.
pub(super) fn recorded<'t>(engine: &Engine, truths: &'t [TrueCall], before: &[Made], call: &Made) -> Option<&'t str> {
    let meant: Vec<&TrueCall> = truths.iter().filter(|truth| call.is_true(engine, truth)).collect();
    let first = meant.first()?;
    let earlier = before.iter().filter(|own| own.is_true(engine, first)).count();
    meant.get(earlier.min(meant.len() - 1))?.result.as_deref()
}
