//! Checking arguments against the real schema.

use serde_json::Value;

use super::super::Engine;
use super::super::call::Arguments;
#[cfg(feature = "validate")]
use super::super::validate;

/// What checking a call's arguments found.
pub(in super::super) enum Checked {
    /// They fit.
    #[cfg_attr(not(feature = "validate"), allow(dead_code, reason = "only a validator says so"))]
    Valid(Value),
    /// They do not; one line an error, for the model.
    Invalid(Vec<String>),
    /// They could not be checked, and why. They go on: only policy fails closed.
    Unchecked(Value, &'static str),
}

#[cfg(feature = "validate")]
mod compiled {
    use std::sync::Arc;

    use crate::catalog::Catalog;
    use crate::diagnostic::{Diagnostic, Place};
    use crate::engine::validate::Validator;

    /// A compiled schema for each tool, in catalogue order; nothing where a schema does not compile.
    #[derive(Debug, Clone)]
    pub(in super::super::super) struct Validators(pub(super) Vec<Option<Arc<Validator>>>);

    impl Validators {
        /// Compiles every tool's schema. One that does not compile is diagnosed and lets its calls through with a mark.
        pub(in super::super::super) fn compile(catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) -> Self {
            let compile = |tool: &crate::catalog::Tool| match Validator::compile(tool.parameters()) {
                Ok(validator) => Some(Arc::new(validator)),
                Err(why) => {
                    let message = format!("tool `{}`: its schema does not compile: {why}", tool.name());
                    let help = "calls of it go on unchecked until the schema is mended";
                    diagnostics.push(Diagnostic::warning("bad-schema", Place::default(), message).help(help));
                    None
                }
            };
            Self(catalog.iter().map(compile).collect())
        }

        /// The same for some of the tools only.
        pub(in super::super::super) fn filtered(&self, kept: &[bool]) -> Self {
            Self(self.0.iter().zip(kept).filter(|(_, kept)| **kept).map(|(one, _)| one.clone()).collect())
        }
    }
}

#[cfg(feature = "validate")]
pub(in super::super) use compiled::Validators;

impl Engine {
    /// Checks the arguments of a call of the tool at that place in the catalogue.
    pub(super) fn check(&self, index: usize, arguments: &Arguments) -> Checked {
        let value = match arguments {
            Arguments::Json(value @ Value::Object(_)) => value,
            Arguments::Json(other) => {
                let kind = crate::schema::kind(other);
                return Checked::Invalid(vec![format!("the arguments must be a JSON object, not {kind}")]);
            }
            Arguments::Malformed { why, .. } => {
                return Checked::Invalid(vec![format!("the arguments are not JSON: {why}")]);
            }
        };
        self.check_object(index, value)
    }

    #[cfg(feature = "validate")]
    fn check_object(&self, index: usize, value: &Value) -> Checked {
        let Some(validators) = &self.0.validators else {
            return Checked::Unchecked(value.clone(), "validation is off");
        };
        match validators.0.get(index).and_then(Option::as_ref) {
            None => Checked::Unchecked(value.clone(), "the tool's schema does not compile"),
            Some(validator) => match validator.check(value) {
                Ok(validate::Checked::Valid) => Checked::Valid(value.clone()),
                Ok(validate::Checked::Unsettled) => {
                    Checked::Unchecked(value.clone(), "the tool's schema asks for more work than a check may cost")
                }
                Err(errors) => Checked::Invalid(errors.iter().map(ToString::to_string).collect()),
            },
        }
    }

    #[cfg(not(feature = "validate"))]
    fn check_object(&self, _index: usize, value: &Value) -> Checked {
        Checked::Unchecked(value.clone(), "built without validation")
    }
}
