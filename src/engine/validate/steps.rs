//! A budget for one validation, since neither crate has one.
//!
//! `oneOf` of two branches that lead back to the root costs 2^depth while its errors are collected. So every subschema
//! gets one more keyword, [`KEYWORD`], that spends steps and looks at how much stack is in use. When either runs out the
//! evaluation is left by unwinding (no panic hook runs, nothing is printed), or, where the program is built with
//! `panic = "abort"`, by failing everything that is still to be asked.
//!
//! The crate asks a custom keyword last, and not at all where another has failed already. That covers collecting errors,
//! which asks everything, and all that succeeds; the rest is [`super::work`]'s.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};

use crate::schema;

/// The keyword that is put into every subschema of the compiled copy. What a schema says under this name is replaced.
pub(super) const KEYWORD: &str = "x-toolfold-step";

/// Steps of one pass over the arguments. A million took 0.8 s here while errors were collected, in a release build; a
/// table of 5,000 rows of 20 cells, each a union behind a `$ref`, fits.
const STEPS: u64 = 1_000_000;

/// Stack that one pass may use, in bytes: half of what `std` gives a thread, less a good margin.
const STACK: usize = 768 * 1024;

/// Steps for one look at a pattern that needs backtracking: reaching its own limit takes some 0.3 ms.
const BACKTRACKING: u64 = 2_000;

thread_local! {
    /// What is left of the pass that runs on this thread: steps, and where its stack began.
    static LEFT: Cell<Option<(u64, usize)>> = const { Cell::new(None) };
}

/// The budget ran out, or the crate itself failed: nothing is known about the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfBudget;

/// Runs one pass with a fresh budget.
pub(super) fn bounded<T>(pass: impl FnOnce() -> T) -> Result<T, OutOfBudget> {
    let before = LEFT.replace(Some((STEPS, stack_position())));
    let outcome = catch_unwind(AssertUnwindSafe(pass));
    let left = LEFT.replace(before);
    match outcome {
        Ok(value) if left.is_some_and(|(steps, _)| steps > 0) => Ok(value),
        Ok(_) => Err(OutOfBudget),
        // A panic of the crate has been reported by its hook; here it is one more way of not knowing.
        Err(_) => Err(OutOfBudget),
    }
}

/// An address near the top of the stack.
fn stack_position() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Takes steps from the budget of this thread. `false`: there are none left.
fn spend(steps: u64) -> bool {
    let Some((left, began)) = LEFT.get() else { return true };
    let in_use = began.abs_diff(stack_position());
    let left = if in_use > STACK { 0 } else { left.saturating_sub(steps) };
    LEFT.set(Some((left, began)));
    if left == 0 && cfg!(panic = "unwind") {
        let marker: Box<dyn Any + Send> = Box::new(OutOfBudget);
        resume_unwind(marker);
    }
    left > 0
}

/// What one visit of a subschema costs.
#[derive(Debug)]
struct Step {
    visit: u64,
    /// For every property of the instance.
    key: u64,
    /// For every 256 bytes of a string.
    text: u64,
}

impl Step {
    fn of_subschema(subschema: &Map<String, Value>) -> Self {
        let mut step = Self { visit: 1, key: 0, text: 0 };
        for (keyword, value) in subschema {
            let parts = match value {
                Value::Array(list) => list.len(),
                Value::Object(map) => map.len(),
                _ => 0,
            };
            step.visit = step.visit.saturating_add(u64::try_from(parts / 32).unwrap_or(u64::MAX));
            match (keyword.as_str(), value) {
                ("pattern", Value::String(pattern)) => {
                    step.text = 1;
                    step.visit = step.visit.saturating_add(if backtracks(pattern) { BACKTRACKING } else { 0 });
                }
                ("patternProperties", Value::Object(patterns)) => {
                    let heavy = patterns.keys().map(|pattern| if backtracks(pattern) { BACKTRACKING } else { 1 });
                    step.key = heavy.fold(step.key, u64::saturating_add);
                }
                // The crate's error holds a copy of it.
                ("not", _) => step.visit = step.visit.saturating_add(size(value) / 8),
                _ => {}
            }
        }
        step
    }

    fn cost_of(&self, instance: &Value) -> u64 {
        let (keys, bytes) = match instance {
            Value::Object(map) => (map.len(), 0),
            Value::String(text) => (0, text.len() / 256),
            _ => (0, 0),
        };
        let times = |count: usize, each: u64| u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(each);
        self.visit.saturating_add(times(keys, self.key)).saturating_add(times(bytes, self.text))
    }
}

impl<'i> Keyword<'i> for Step {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if spend(self.cost_of(instance)) { Ok(()) } else { Err(ValidationError::custom("out of budget")) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        spend(self.cost_of(instance))
    }
}

/// The factory of [`KEYWORD`].
pub(super) fn step<'a>(
    subschema: &'a Map<String, Value>,
    _value: &'a Value,
    _path: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    Ok(Box::new(Step::of_subschema(subschema)))
}

/// How many values a value is made of.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(list) => list.iter().map(size).fold(1, u64::saturating_add),
        Value::Object(map) => map.values().map(size).fold(1, u64::saturating_add),
        _ => 1,
    }
}

/// Whether a pattern may need backtracking: look-around, or a reference to a group. Everything else runs in linear time.
fn backtracks(pattern: &str) -> bool {
    let mut escaped = false;
    ["(?=", "(?!", "(?<=", "(?<!", "(?>"].iter().any(|group| pattern.contains(group))
        || pattern.chars().any(|c| {
            let reference = escaped && (c.is_ascii_digit() || c == 'k');
            escaped = c == '\\' && !escaped;
            reference
        })
}

/// A copy of a schema with [`KEYWORD`] in every subschema, and whether it has references.
///
/// # Errors
/// Names a reference into `const` or `enum`, where a keyword would change what is valid.
pub(super) fn with_steps(root: &Value) -> Result<(Value, bool), String> {
    let mut copy = root.clone();
    mark_schemas(&mut copy);
    let document = schema::Document::new(root);
    // A reference may lead where no keyword expects a schema; what is there is evaluated all the same.
    for reference in document.references() {
        for pointer in document.pointers(reference) {
            let target = copy.pointer_mut(&pointer).filter(|found| found.is_object() && found.get(KEYWORD).is_none());
            let Some(target) = target else { continue };
            if pointer.split('/').any(|key| matches!(key, "const" | "enum")) {
                return Err(format!("reference `{}` leads into a value, not a schema", super::words::clip(reference)));
            }
            mark_schemas(target);
        }
    }
    Ok((copy, !document.references().is_empty()))
}

/// Puts [`KEYWORD`] into a schema and every schema below it.
fn mark_schemas(node: &mut Value) {
    schema::walk_mut(node, &mut |inner| {
        if let Some(map) = inner.as_object_mut() {
            map.insert(KEYWORD.to_owned(), Value::Bool(true));
        }
    });
}
