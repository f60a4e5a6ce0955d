//! Validates arguments against the full JSON Schema and describes errors so that a model can fix
//! them.
//!
//! # Why `jsonschema` and not `boon`
//!
//! Measured on 2026-11-22 with the official JSON-Schema-Test-Suite (the copy in PyPI's `jsonschema`
//! 4.25.1), 842 schemas of 20 MCP servers, and 30 hostile schemas; two busy cores.
//!
//! | | `jsonschema` 0.60.2, no default features | `boon` 0.6.1 |
//! |---|---|---|
//! | required, draft 7 / 2019-09 / 2020-12 | 913 / 1227 / 1257, all | 913 / 1227 / 1257, all |
//! | optional, of 118 / 154 / 158 | 118 / 154 / 158 | 113 / 153 / 156 |
//! | `format` asserted, of 434 / 483 / 491 | 398 / 447 / 455 (no `idna`) | all |
//! | compile a schema, median (sum of 842) | 16 µs (47 ms) | 29 µs (105 ms) |
//! | validate, median | 0.05 µs | 0.4 µs |
//! | `{"$ref": "#"}` | holds | refuses every call |
//! | look-around in `pattern` | works, with a backtrack limit | the whole schema does not compile |
//! | schema nested 1,000 deep | fine | stack overflow |
//! | clean release build, user CPU, crates | 173 s, 66 | 74 s, 62 |
//! | alone in a stripped binary | 6.8 MB | 3.2 MB |
//!
//! No schema of the 842 uses look-around, but ECMA patterns may, and a pattern error that rejects
//! every call would break the guarantee that no call is lost. The price is build time. Neither
//! crate bounds its work: both hang on `oneOf` of two references to the root. The modules `steps`
//! and `work` add the bounds; with them, every required test passes that needs no second document.
//!
//! # What this module does not do
//!
//! The validator coerces nothing, reads no file, opens no connection, and is independent of tools.
//! `format` is an annotation in 2019-09 and 2020-12, as these drafts specify, and an assertion in
//! draft 7 ("both an annotation and as an assertion", validation §7.1). A check that exceeds its
//! budget is [`Checked::Unsettled`]: the caller forwards the call with a mark, because an
//! unfinished check is no evidence against the call.

mod explain;
mod steps;
mod words;
mod work;

use std::fmt;
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError};
use serde::Serialize;
use serde_json::Value;

use crate::diagnostic::InvalidValue;
use crate::schema::{self, MAX_DEPTH, text_member};

/// The maximum number of errors of one check.
pub(super) const MAX_INVALID: usize = 20;

/// The maximum size of the errors of one check in bytes, each as displayed and with a line end.
pub(super) const MAX_INVALID_BYTES: usize = 2_048;

/// The maximum number of nested subschema evaluations, over all levels of the arguments. A debug
/// build supports 10,000 on a stack of 2 MB, but not 30,000.
const MAX_FRAMES: usize = 4_000;

/// The backtracking limit of regular expressions. The default of `fancy-regex` is a million.
const BACKTRACK_LIMIT: usize = 10_000;

/// A compiled schema that validates arguments. Immutable, `Send + Sync`.
pub struct Validator {
    compiled: jsonschema::Validator,
    /// The schema as given, for error messages.
    schema: Arc<Value>,
    /// Whether errors may be collected: their number is bounded by unwinding, or by the schema
    /// having no references.
    explains: bool,
    /// The maximum number of nested subschemas that are evaluated for one value.
    chain: usize,
}

/// The certainty that arguments are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[must_use]
#[non_exhaustive]
pub enum Checked {
    /// The arguments are valid.
    Valid,
    /// Unknown: the schema is too expensive to check.
    Unsettled,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InvalidKind {
    /// A required value is missing.
    Missing,
    /// The schema does not have this property.
    Unknown,
    /// A value does not match the schema.
    Mismatch,
    /// Not an error itself: the number of further errors.
    More,
}

/// An error in the arguments. [`Display`](fmt::Display) is a line for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Invalid {
    /// The place as a JSON Pointer (RFC 6901); empty for the arguments themselves.
    pub path: String,
    /// The kind of the error.
    pub kind: InvalidKind,
    /// The expected value, as a noun phrase. For an unknown property: the closest known name, or
    /// nothing.
    pub expected: String,
    /// The value that was found, shortened to 80 characters, with control characters escaped.
    pub found: String,
}

impl Validator {
    /// Compiles a schema. Drafts 4 to 2020-12: `$schema` selects the draft; the default is 2020-12.
    ///
    /// # Errors
    /// [`InvalidValue`] if the schema is nested too deep, violates its draft, or has an external or
    /// unresolvable reference. References are never fetched.
    pub fn compile(schema: &Value) -> Result<Self, InvalidValue> {
        Self::compile_shared(Arc::new(schema.clone()))
    }

    /// Checks what [`compile`](Self::compile) refuses without compiling: the depth, the cost of
    /// references and combinations, and references to values. The time is linear in the schema.
    ///
    /// # Errors
    /// [`InvalidValue`], as [`compile`](Self::compile) returns it.
    pub(super) fn check_limits(schema: &Value) -> Result<(), InvalidValue> {
        limits(schema)?;
        // Only a reference is a reason not to mark a schema, and few schemas have one.
        let has_references = !schema::Document::new(schema).references().is_empty();
        if has_references { steps::with_steps(schema).map(drop).map_err(InvalidValue::from) } else { Ok(()) }
    }

    /// Like [`compile`](Self::compile), for a schema with shared ownership.
    pub(super) fn compile_shared(shared: Arc<Value>) -> Result<Self, InvalidValue> {
        let schema = &*shared;
        let chain = limits(schema)?;
        let (instrumented, references) = steps::with_steps(schema).map_err(InvalidValue::from)?;
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        let mut options = options.with_keyword(steps::KEYWORD, steps::step);
        if names_no_draft(schema) {
            options = options.with_draft(Draft::Draft202012);
        }
        match steps::bounded(|| options.build(&instrumented)) {
            Ok(Ok(compiled)) => {
                let explains = cfg!(panic = "unwind") || !references;
                Ok(Self { compiled, schema: shared, explains, chain })
            }
            Ok(Err(error)) => Err(InvalidValue::from(compile_error(&error))),
            Err(steps::OutOfBudget) => Err(InvalidValue::from("the schema is too complex to compile".to_owned())),
        }
    }

    /// Validates arguments.
    ///
    /// # Errors
    /// The errors, by path, then by expected value: at least one and at most 20, with at most 2,048
    /// bytes in total. If there are more errors, the last entry contains their number.
    pub fn check_arguments(&self, arguments: &Value) -> Result<Checked, Vec<Invalid>> {
        if schema::deeper_than(arguments, MAX_DEPTH) {
            let expected = format!("arguments nested at most {MAX_DEPTH} levels deep");
            return Err(vec![Invalid::mismatch(String::new(), expected, "deeper nesting".to_owned())]);
        }
        // The stack: this number of value levels, each with the maximum number of nested
        // subschemas.
        let levels = MAX_FRAMES / self.chain.max(1);
        if levels < MAX_DEPTH && schema::deeper_than(arguments, levels) {
            return Ok(Checked::Unsettled);
        }
        match steps::bounded(|| self.compiled.is_valid(arguments)) {
            Ok(true) => return Ok(Checked::Valid),
            Ok(false) => {}
            Err(steps::OutOfBudget) => return Ok(Checked::Unsettled),
        }
        let explained = if self.explains {
            steps::bounded(|| explain::explain(&self.schema, self.compiled.iter_errors(arguments)))
        } else {
            Err(steps::OutOfBudget)
        };
        match explained {
            Ok(explain::Explained { invalid, .. }) if !invalid.is_empty() => Err(invalid),
            Ok(explain::Explained { unsettled: true, .. }) => Ok(Checked::Unsettled),
            // Invalid, but the errors cannot be collected within the budget.
            Ok(_) | Err(steps::OutOfBudget) => {
                let expected = "arguments that match the schema".to_owned();
                Err(vec![Invalid::mismatch(String::new(), expected, words::found(arguments))])
            }
        }
    }
}

/// The maximum number of nested subschemas that are evaluated for one value.
///
/// # Errors
/// The schema is nested too deep, or its references and combinations multiply.
fn limits(schema: &Value) -> Result<usize, InvalidValue> {
    if schema::deeper_than(schema, MAX_DEPTH) {
        return Err(InvalidValue::from(format!("the schema is nested more than {MAX_DEPTH} levels deep")));
    }
    let chain = work::chain(schema).map_err(InvalidValue::from)?;
    Ok(usize::try_from(chain).unwrap_or(usize::MAX))
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").field("draft", &self.compiled.draft()).finish_non_exhaustive()
    }
}

impl Invalid {
    fn mismatch(path: String, expected: String, found: String) -> Self {
        Self { path, kind: InvalidKind::Mismatch, expected, found }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind, expected, found } = self;
        let place = if path.is_empty() { "arguments".to_owned() } else { words::clip_expected(path) };
        match kind {
            InvalidKind::Missing => write!(f, "{place}: missing, expected {expected}{found}"),
            InvalidKind::Unknown if expected.is_empty() => write!(f, "{place}: {found}"),
            InvalidKind::Unknown => write!(f, "{place}: {found}; did you mean `{expected}`?"),
            InvalidKind::Mismatch => write!(f, "{place}: expected {expected}, got {found}"),
            InvalidKind::More => write!(f, "{found}"),
        }
    }
}

/// `$schema` refers to "the current draft" at the time of writing.
fn names_no_draft(schema: &Value) -> bool {
    let named = text_member(schema, "$schema").unwrap_or_default().trim_end_matches('#');
    matches!(named, "http://json-schema.org/schema" | "https://json-schema.org/schema")
}

/// Why a schema does not compile, in one line.
fn compile_error(error: &ValidationError<'_>) -> String {
    use jsonschema::ReferencingError as Broken;
    let at = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Referencing(Broken::Unretrievable { uri, .. }) => {
            format!("reference `{}` is external; references are never fetched", words::clip(uri))
        }
        ValidationErrorKind::Referencing(
            Broken::PointerToNowhere { pointer: target } | Broken::NoSuchAnchor { anchor: target },
        ) => format!("reference `{}` cannot be resolved", words::clip(target)),
        ValidationErrorKind::Referencing(Broken::UnknownSpecification { specification }) => {
            format!("`$schema` is `{}`, which is not a known draft", words::clip(specification))
        }
        ValidationErrorKind::Referencing(other) => words::clip_expected(&lower(&other.to_string())),
        ValidationErrorKind::Format { format } => {
            format!("at `{}`: {} is not a valid {format}", words::clip(at), words::found(error.instance()))
        }
        _ if at.is_empty() => words::clip_expected(&lower(&error.to_string())),
        _ => words::clip_expected(&format!("at `{}`: {}", words::clip(at), lower(&error.to_string()))),
    }
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    first.to_lowercase().chain(chars).collect()
}
