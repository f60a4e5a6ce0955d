//! A budget for one validation, because neither crate has one.
//!
//! `oneOf` of two branches that refer to the root costs 2^depth while its errors are collected. So
//! every subschema gets one more keyword, [`KEYWORD`], that consumes steps and checks the used
//! stack. If either runs out, the evaluation is aborted by unwinding (no panic hook runs, nothing
//! is printed), or, in a program built with `panic = "abort"`, by failing every remaining
//! evaluation.
//!
//! The crate evaluates a custom keyword last, and not at all if another keyword has failed. That
//! covers the collection of errors, which evaluates everything, and all that succeeds;
//! [`super::work`] covers the rest.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};

use crate::schema;

/// The keyword that is added to every subschema of the compiled copy. It replaces a keyword of this
/// name in the schema.
pub(super) const KEYWORD: &str = "x-toolfold-step";

/// The steps of one pass over the arguments. A million took 0.8 s here while errors were collected,
/// in a release build; a table of 5,000 rows of 20 cells, each a union behind a `$ref`, fits.
const STEPS: u64 = 1_000_000;

/// The maximum stack that one pass may use, in bytes: half of what `std` gives a thread, less a
/// margin.
const STACK: usize = 768 * 1024;

/// The steps of one match of a pattern with backtracking: reaching its own limit takes about 0.3
/// ms.
const BACKTRACKING: u64 = 2_000;

thread_local! {
    /// The remaining steps of the pass on this thread, and the address at which its stack began.
    static LEFT: Cell<Option<(u64, usize)>> = const { Cell::new(None) };
}

/// The budget ran out, or the crate panicked: the validity of the arguments is unknown.
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
        // The crate's hook has reported its panic; here the result is unknown.
        Err(_) => Err(OutOfBudget),
    }
}

/// An address near the top of the stack.
fn stack_position() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Consumes steps of this thread's budget. `false` if none are left.
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

/// The cost of one visit of a subschema.
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
                // The crate's error contains a copy of the value.
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

/// The number of values in a value, including itself.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(list) => list.iter().map(size).fold(1, u64::saturating_add),
        Value::Object(map) => map.values().map(size).fold(1, u64::saturating_add),
        _ => 1,
    }
}

/// Whether a pattern may require backtracking: look-around, or a reference to a group. Everything
/// else runs in linear time.
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
/// The reference into `const` or `enum`, if there is one: adding a keyword there would change what
/// is valid.
pub(super) fn with_steps(root: &Value) -> Result<(Value, bool), String> {
    let mut copy = root.clone();
    mark_schemas(&mut copy);
    let document = schema::Document::new(root);
    // A reference may point to a place where no keyword expects a schema; it is still evaluated as
    // one.
    for reference in document.references() {
        for pointer in document.pointers(reference) {
            let target = copy.pointer_mut(&pointer).filter(|found| found.is_object() && found.get(KEYWORD).is_none());
            let Some(target) = target else { continue };
            if pointer.split('/').any(|key| matches!(key, "const" | "enum")) {
                return Err(format!("reference `{}` points to a value, not a schema", super::words::clip(reference)));
            }
            mark_schemas(target);
        }
    }
    Ok((copy, !document.references().is_empty()))
}

/// Adds [`KEYWORD`] to a schema and every schema below it.
fn mark_schemas(node: &mut Value) {
    schema::walk_mut(node, &mut |inner| {
        if let Some(map) = inner.as_object_mut() {
            map.insert(KEYWORD.to_owned(), Value::Bool(true));
        }
    });
}
