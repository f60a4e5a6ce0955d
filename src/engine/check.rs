//! Checking arguments against the real schema.

#[cfg(feature = "validate")]
use std::sync::Arc;

use serde_json::Value;

use super::Engine;
#[cfg(feature = "validate")]
use super::coerce::{Coerced, coerced};
#[cfg(feature = "validate")]
use super::validate::{self, Validator};
#[cfg(feature = "validate")]
use crate::catalog::{Catalog, Tool};
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

/// A compiled schema for each tool, in catalogue order; `None` where a schema does not compile.
#[cfg(feature = "validate")]
#[derive(Debug, Clone)]
pub(super) struct Validators(Vec<Option<Arc<Validator>>>);

#[cfg(feature = "validate")]
impl Validators {
    /// Compiles every tool's schema. One that does not compile is diagnosed and lets its calls through with a mark.
    pub(super) fn compile(catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let compile = |tool: &Tool| match Validator::compile_shared(tool.parameters_shared()) {
            Ok(validator) => Some(Arc::new(validator)),
            Err(why) => {
                let message = format!("tool `{}`: its schema does not compile: {why}", tool.name());
                let help = "calls of it are forwarded unchecked until the schema is fixed";
                diagnostics.push(Diagnostic::warning("bad-schema", Place::default(), message).help(help));
                None
            }
        };
        Self(catalog.iter().map(compile).collect())
    }

    /// The same for some of the tools only.
    pub(super) fn filtered(&self, kept: &[bool]) -> Self {
        Self(self.0.iter().zip(kept).filter(|(_, kept)| **kept).map(|(one, _)| one.clone()).collect())
    }
}

impl Engine {
    /// Checks the arguments object of a call of the tool at that place in the catalogue.
    #[cfg(feature = "validate")]
    pub(crate) fn check(&self, index: usize, arguments: &Value) -> Checked {
        let Some(validators) = &self.0.validators else { return Checked::Unchecked("validation is off") };
        match validators.0.get(index).and_then(Option::as_ref) {
            None => Checked::Unchecked("the tool's schema does not compile"),
            Some(validator) => match validator.check(arguments) {
                Ok(validate::Checked::Valid) => Checked::Valid,
                Ok(validate::Checked::Unsettled) => {
                    Checked::Unchecked("the tool's schema asks for more work than a check may cost")
                }
                Err(errors) => Checked::Invalid(errors.iter().map(ToString::to_string).collect()),
            },
        }
    }

    /// The arguments object put right as JSON text, if it does not fit and something in it has one meaning, with what was
    /// done, line by line. `text` is the same object as `arguments`, with every digit of its numbers.
    #[cfg(feature = "validate")]
    pub(crate) fn coerced(&self, index: usize, arguments: &Value, text: &str) -> Option<(String, Vec<String>)> {
        let validator = self.0.validators.as_ref().filter(|_| self.0.coerces)?.0.get(index)?.as_ref()?;
        if !arguments.is_object() || validator.check(arguments).is_ok() {
            return None;
        }
        let Coerced { text, notes } = coerced(self.0.catalog.at(index)?.parameters(), text)?;
        Some((text, notes))
    }

    /// Without the feature `validate` it is not known what fits.
    #[cfg(not(feature = "validate"))]
    pub(crate) fn coerced(&self, _index: usize, _arguments: &Value, _text: &str) -> Option<(String, Vec<String>)> {
        None
    }

    /// Without the feature `validate` nothing is checked, and every outcome says so.
    #[cfg(not(feature = "validate"))]
    pub(crate) fn check(&self, _index: usize, _arguments: &Value) -> Checked {
        Checked::Unchecked("built without validation")
    }
}
