//! Checks arguments against the real schema.

use std::borrow::Cow;
#[cfg(feature = "validate")]
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::Engine;
#[cfg(feature = "validate")]
use super::coerce::coerced;
#[cfg(feature = "validate")]
use super::validate::{self, Validator};
#[cfg(feature = "validate")]
use crate::catalog::{Catalog, Tool};
#[cfg(feature = "validate")]
use crate::diagnostic::{Diagnostic, InvalidValue, Place};

/// The result of checking a call's arguments.
pub(crate) enum Checked {
    #[cfg_attr(not(feature = "validate"), allow(dead_code, reason = "only a validator returns it"))]
    Valid,
    /// The errors, one line each, for the model.
    #[cfg_attr(not(feature = "validate"), allow(dead_code, reason = "only a validator returns it"))]
    Invalid(Vec<String>),
    /// The arguments could not be checked: the reason. The call continues, because only policy
    /// fails closed.
    Unchecked(&'static str),
}

/// Coerced arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coerced {
    /// The arguments as JSON text.
    pub(crate) text: String,
    /// The coercions, one line each.
    pub(crate) notes: Vec<String>,
}

/// The schema of each tool, in catalog order; `None` if it exceeds the limits of a validator. The
/// others are compiled when a call is checked for the first time: a session calls few of its tools,
/// and compiling all of them was most of what its start cost.
#[cfg(feature = "validate")]
#[derive(Debug, Clone)]
pub(super) struct Validators(Vec<Option<Arc<LazyValidator>>>);

/// A schema, and its validator after the first call; `None` if it does not compile.
#[cfg(feature = "validate")]
#[derive(Debug)]
struct LazyValidator {
    schema: Arc<Value>,
    compiled: OnceLock<Option<Validator>>,
}

#[cfg(feature = "validate")]
impl LazyValidator {
    fn new(tool: &Tool) -> Result<Arc<Self>, InvalidValue> {
        let schema = tool.parameters_shared();
        Validator::check_limits(&schema)?;
        Ok(Arc::new(Self { schema, compiled: OnceLock::new() }))
    }

    fn validator(&self) -> Option<&Validator> {
        self.compiled.get_or_init(|| Validator::compile_shared(self.schema.clone()).ok()).as_ref()
    }
}

#[cfg(feature = "validate")]
impl Validators {
    /// Takes every tool's schema. One that exceeds the limits gets a diagnostic; calls of its tool
    /// are forwarded with a mark. The catalog has repaired or refused every other schema that does
    /// not compile.
    pub(super) fn new(catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut validators = Vec::with_capacity(catalog.len());
        for tool in catalog.iter() {
            match LazyValidator::new(tool) {
                Ok(validator) => validators.push(Some(validator)),
                Err(why) => {
                    let message = format!("tool `{}`: the schema does not compile: {why}", tool.name());
                    let help = "calls of it are forwarded unchecked until the schema is fixed";
                    diagnostics.push(Diagnostic::warning("bad-schema", Place::default(), message).help(help));
                    validators.push(None);
                }
            }
        }
        Self(validators)
    }

    /// Takes the schemas of other definitions, each with its index in the catalog.
    pub(super) fn replace(&mut self, tools: &[(usize, Tool)]) {
        for (index, tool) in tools {
            if let Some(validator) = self.0.get_mut(*index) {
                *validator = LazyValidator::new(tool).ok();
            }
        }
    }

    /// The validators of the kept tools.
    pub(super) fn filtered(&self, kept: &[bool]) -> Self {
        let mut validators = Vec::new();
        for (validator, kept) in self.0.iter().zip(kept) {
            if *kept {
                validators.push(validator.clone());
            }
        }
        Self(validators)
    }

    /// The validator of the tool at this index, compiled if it was not before.
    fn validator(&self, index: usize) -> Option<&Validator> {
        self.0.get(index)?.as_ref()?.validator()
    }
}

impl Engine {
    /// Checks the arguments object of a call of the tool at this catalog index. Invalid arguments
    /// are coerced if the schema leaves only one interpretation; the result then applies to the
    /// [`Coerced`] arguments. `text` returns the same object as JSON, with every digit of its
    /// numbers.
    #[cfg(feature = "validate")]
    pub(crate) fn check_arguments<'a>(
        &self,
        index: usize,
        arguments: &Value,
        text: impl FnOnce() -> Cow<'a, str>,
    ) -> (Checked, Option<Coerced>) {
        let Some(validators) = &self.0.validators else { return (Checked::Unchecked("validation is off"), None) };
        let Some(validator) = validators.validator(index) else {
            return (Checked::Unchecked("the tool's schema does not compile"), None);
        };
        let found = Checked::by(validator, arguments);
        if !self.0.coerces || !matches!(found, Checked::Invalid(_)) {
            return (found, None);
        }
        let mended = self.0.catalog.at(index).and_then(|tool| coerced(tool.parameters(), &text()));
        match mended.as_ref().map(|mended| serde_json::from_str::<Value>(&mended.text)) {
            Some(Ok(value)) => (Checked::by(validator, &value), mended),
            _ => (found, None),
        }
    }

    /// The arguments of a meta-tool, coerced under its schema. `None` if there is nothing to
    /// coerce.
    #[cfg(feature = "validate")]
    pub(crate) fn coerce_arguments(&self, parameters: &Value, text: &str) -> Option<Coerced> {
        if self.0.coerces { coerced(parameters, text) } else { None }
    }

    /// Without the feature `validate`, nothing is coerced.
    #[cfg(not(feature = "validate"))]
    pub(crate) fn coerce_arguments(&self, _parameters: &Value, _text: &str) -> Option<Coerced> {
        None
    }

    /// Without the feature `validate`, nothing is checked or coerced, and every outcome is marked
    /// as unchecked.
    #[cfg(not(feature = "validate"))]
    pub(crate) fn check_arguments<'a>(
        &self,
        _index: usize,
        _arguments: &Value,
        _text: impl FnOnce() -> Cow<'a, str>,
    ) -> (Checked, Option<Coerced>) {
        (Checked::Unchecked("built without validation"), None)
    }
}

#[cfg(feature = "validate")]
impl Checked {
    fn by(validator: &Validator, arguments: &Value) -> Self {
        match validator.check_arguments(arguments) {
            Ok(validate::Checked::Valid) => Self::Valid,
            Ok(validate::Checked::Unsettled) => Self::Unchecked("the tool's schema is too expensive to check"),
            Err(errors) => Self::Invalid(errors.iter().map(ToString::to_string).collect()),
        }
    }
}
