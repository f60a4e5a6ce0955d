//! Arguments against the real JSON Schema, and what is wrong with them in words that a model can act on.
//!
//! # Why `jsonschema` and not `boon`
//!
//! Measured on 2026-11-22 with the official JSON-Schema-Test-Suite (the copy in PyPI's `jsonschema` 4.25.1), 842
//! schemas of 20 MCP servers, and 30 hostile schemas; two busy cores.
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
//! No schema of the 842 uses look-around, but ECMA patterns may, and a cycle that refuses every call breaks the promise
//! that no call is lost. The price is build time. Neither crate bounds its work: both hang on `oneOf` of two ways
//! back to the root. The modules `steps` and `work` do; with them every required test holds that needs no second
//! document.
//!
//! # What this module does not do
//!
//! It coerces nothing, reads no file, opens no connection, and knows no tool. `format` is an annotation in 2019-09 and
//! 2020-12, as these drafts say, and an assertion in draft 7 ("both an annotation and as an assertion", validation
//! §7.1). A check that cannot be finished within its budget is [`Checked::Unsettled`]: the caller lets the call through
//! with a mark, because a schema that cannot be judged says nothing against the call.

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

use crate::schema::{self, MAX_DEPTH};

/// The most errors of one check.
pub const MAX_INVALID: usize = 20;

/// The most text that the errors of one check come to, in bytes, each as displayed and with a line end.
pub const MAX_INVALID_BYTES: usize = 2_048;

/// Subschemas that are asked one below the other, over all levels of the arguments. A debug build
/// bore 10,000 on a stack of 2 MB, and not 30,000.
const MAX_FRAMES: usize = 4_000;

/// Where the regular expressions that need backtracking stop. `fancy-regex` itself would stop at a million.
const BACKTRACK_LIMIT: usize = 10_000;

/// A schema that is made ready to judge arguments. Immutable, `Send + Sync`.
pub struct Validator {
    compiled: jsonschema::Validator,
    /// The schema as it came, for the words.
    schema: Arc<Value>,
    /// Whether errors may be asked for: their number is bounded by unwinding, or by the schema having no references.
    explains: bool,
    /// How many subschemas can be asked of one value, one below the other.
    chain: usize,
}

/// How sure it is that arguments are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[must_use]
pub enum Checked {
    /// They are.
    Valid,
    /// Not known: the schema asks for more work than a check may cost.
    Unsettled,
}

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InvalidKind {
    /// Something required is not there.
    Missing,
    /// Something is there that the schema does not know.
    Unknown,
    /// Something is there and is not what the schema says.
    Mismatch,
    /// Not an error of its own: more of them than are listed.
    More,
}

/// Why a schema cannot be compiled. Its `Display` is one line in lower case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(String);

/// One thing that is wrong with the arguments. [`Display`](fmt::Display) is a line for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Invalid {
    /// Where, as a JSON Pointer (RFC 6901); empty for the arguments themselves.
    pub path: String,
    /// What is wrong.
    pub kind: InvalidKind,
    /// What the schema expects there, as a noun phrase. For something unknown: the closest known name, or nothing.
    pub expected: String,
    /// What came, shortened to 80 characters, with control characters escaped.
    pub found: String,
}

impl Validator {
    /// Makes a schema ready. Drafts 4 to 2020-12: `$schema` says which, 2020-12 if it does not.
    ///
    /// # Errors
    /// [`SchemaError`]: the schema is nested too deep, breaks the rules of its draft, or has a reference that
    /// leads outside or nowhere. Nothing is ever fetched.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile_shared(Arc::new(schema.clone()))
    }

    /// The same for a schema that others hold as well.
    pub(super) fn compile_shared(shared: Arc<Value>) -> Result<Self, SchemaError> {
        let schema = &*shared;
        if schema::deeper_than(schema, MAX_DEPTH) {
            return Err(SchemaError(format!("the schema is nested more than {MAX_DEPTH} levels deep")));
        }
        let chain = usize::try_from(work::chain(schema).map_err(SchemaError)?).unwrap_or(usize::MAX);
        let (instrumented, references) = steps::with_steps(schema).map_err(SchemaError)?;
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
            Ok(Err(error)) => Err(SchemaError(compile_error(&error))),
            Err(steps::OutOfBudget) => Err(SchemaError("the schema is too intricate to be compiled".to_owned())),
        }
    }

    /// Judges arguments.
    ///
    /// # Errors
    /// What is wrong, by path, then by what was expected: at most [`MAX_INVALID`] entries of together at most
    /// [`MAX_INVALID_BYTES`] bytes, and at least one. If there are more, the last entry says how many.
    pub fn check_arguments(&self, arguments: &Value) -> Result<Checked, Vec<Invalid>> {
        if schema::deeper_than(arguments, MAX_DEPTH) {
            let expected = format!("arguments nested at most {MAX_DEPTH} levels deep");
            return Err(vec![Invalid::mismatch(String::new(), expected, "deeper nesting".to_owned())]);
        }
        // The stack: so many levels of values, and for each so many subschemas.
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
            // It is invalid, and why cannot be said within the budget.
            Ok(_) | Err(steps::OutOfBudget) => {
                let expected = "arguments that match the schema".to_owned();
                Err(vec![Invalid::mismatch(String::new(), expected, words::found(arguments))])
            }
        }
    }
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

/// `$schema` is there and means "the current draft", whichever it was when it was written.
fn names_no_draft(schema: &Value) -> bool {
    let named = schema.get("$schema").and_then(Value::as_str).unwrap_or_default().trim_end_matches('#');
    matches!(named, "http://json-schema.org/schema" | "https://json-schema.org/schema")
}

/// Why a schema does not compile, in one line.
fn compile_error(error: &ValidationError<'_>) -> String {
    use jsonschema::ReferencingError as Broken;
    let at = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Referencing(Broken::Unretrievable { uri, .. }) => {
            format!("reference `{}` leads outside the schema, and nothing is fetched", words::clip(uri))
        }
        ValidationErrorKind::Referencing(
            Broken::PointerToNowhere { pointer: target } | Broken::NoSuchAnchor { anchor: target },
        ) => format!("reference `{}` leads nowhere", words::clip(target)),
        ValidationErrorKind::Referencing(Broken::UnknownSpecification { specification }) => {
            format!("`$schema` names `{}`, which is not a known draft", words::clip(specification))
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
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
