//! Checking arguments against the real schema.

use std::borrow::Cow;
#[cfg(feature = "validate")]
use std::sync::Arc;

use serde_json::Value;

use super::Engine;
#[cfg(feature = "validate")]
use super::coerce::coerced;
#[cfg(feature = "validate")]
use super::validate::{self, Validator};
#[cfg(feature = "validate")]
use crate::catalog::Catalog;
#[cfg(feature = "validate")]
use crate::diagnostic::{Diagnostic, Place};

/// What checking a call's arguments found.
pub(crate) enum Checked {
    /// They fit.
    #[cfg_attr(not(feature = "validate"), allow(dead_code, reason = "only a validator says so"))]
    Valid,
    /// They do not; one line an error, for the model.
    #[cfg_attr(not(feature = "validate"), allow(dead_code, reason = "only a validator says so"))]
    Invalid(Vec<String>),
    /// They could not be checked, and why. The call goes on: only policy fails closed.
    Unchecked(&'static str),
}

/// Arguments put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coerced {
    /// The arguments as JSON text.
    pub(crate) text: String,
    /// What was done, one line each.
    pub(crate) notes: Vec<String>,
}

/// A compiled schema for each tool, in catalogue order; `None` where a schema does not compile.
#[cfg(feature = "validate")]
#[derive(Debug, Clone)]
pub(super) struct Validators(Vec<Option<Arc<Validator>>>);

#[cfg(feature = "validate")]
impl Validators {
    /// Compiles every tool's schema. One that does not compile is diagnosed and lets its calls through with a mark.
    pub(super) fn compile(catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut validators = Vec::with_capacity(catalog.len());
        for tool in catalog.iter() {
            match Validator::compile_shared(tool.parameters_shared()) {
                Ok(validator) => validators.push(Some(Arc::new(validator))),
                Err(why) => {
                    let message = format!("tool `{}`: its schema does not compile: {why}", tool.name());
                    let help = "calls of it are forwarded unchecked until the schema is fixed";
                    diagnostics.push(Diagnostic::warning("bad-schema", Place::default(), message).help(help));
                    validators.push(None);
                }
            }
        }
        Self(validators)
    }

    /// The same for some of the tools only.
    pub(super) fn filtered(&self, kept: &[bool]) -> Self {
        let kept = self.0.iter().zip(kept).filter(|(_, kept)| **kept);
        Self(kept.map(|(validator, _)| validator.clone()).collect())
    }
}

impl Engine {
    /// Checks the arguments object of a call of the tool at that place in the catalogue. If it does not fit and something in
    /// it has one meaning, that is put right, and what was found is true of the [`Coerced`] arguments. `text` gives the same
    /// object as JSON, with every digit of its numbers.
    #[cfg(feature = "validate")]
    pub(crate) fn check_arguments<'a>(
        &self,
        index: usize,
        arguments: &Value,
        text: impl FnOnce() -> Cow<'a, str>,
    ) -> (Checked, Option<Coerced>) {
        let Some(validators) = &self.0.validators else { return (Checked::Unchecked("validation is off"), None) };
        let Some(validator) = validators.0.get(index).and_then(Option::as_ref) else {
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

    /// Without the feature `validate` nothing is checked or put right, and every outcome says so.
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
            Ok(validate::Checked::Unsettled) => {
                Self::Unchecked("the tool's schema asks for more work than a check may cost")
            }
            Err(errors) => Self::Invalid(errors.iter().map(ToString::to_string).collect()),
        }
    }
}
