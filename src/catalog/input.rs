//! How the parameters that a model sees differ from a tool's own input.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::faults::Faults;
use super::slice::Slice;
use super::tool::{Key, Tool};
use crate::schema::{self, VALUE};

/// The key with examples of a call's arguments (Anthropic).
const EXAMPLES: &str = "input_examples";

/// The differences between the parameters and the input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Input {
    /// Whether the only parameter, `value`, holds the input.
    pub(crate) is_wrapped: bool,
    /// The parameters with another name: the one shown, and the tool's own.
    pub(crate) renamed: Box<[(Box<str>, Box<str>)]>,
}

impl Input {
    /// Wraps a schema in normal form if the input is not an object.
    pub(super) fn wrap(parameters: &mut Value) -> Self {
        let wrapped = schema::wrapped(parameters);
        let is_wrapped = wrapped.is_some();
        if let Some(wrapped) = wrapped {
            *parameters = wrapped;
        }
        Self { is_wrapped, ..Self::default() }
    }

    /// Whether a call's arguments must be converted.
    pub(crate) fn differs(&self) -> bool {
        self.is_wrapped || !self.renamed.is_empty()
    }

    /// The name under which a model sees a parameter of the tool.
    fn shown_name<'n>(&'n self, own: &'n str) -> &'n str {
        self.renamed.iter().find(|(_, name)| **name == *own).map_or(own, |(shown, _)| shown)
    }

    /// An example of the input, as arguments.
    fn shown(&self, example: Value) -> Value {
        match example {
            example if self.is_wrapped => json!({ VALUE: example }),
            Value::Object(map) => {
                map.into_iter().map(|(own, value)| (self.shown_name(&own).to_owned(), value)).collect()
            }
            other => other,
        }
    }
}

impl Tool {
    /// How the parameters differ from the tool's own input.
    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// The same tool with other names for some of its parameters, each with its own name first.
    /// `None` if a reference in the schema would lead nowhere.
    pub(crate) fn with_parameter_names(&self, names: &IndexMap<&str, &str>) -> Option<Self> {
        let parameters = schema::renamed(&self.parameters, names)?;
        let renamed = names.iter().map(|(own, shown)| (Box::from(*shown), Box::from(*own)));
        let input = Input { renamed: renamed.collect(), ..self.input.clone() };
        let given = self.given.clone().unwrap_or_else(|| self.parameters.clone());
        let keys = self.keys.iter().map(|key| key.with_examples(&input)).collect();
        Some(Self {
            parameters_text: Slice::whole_text(parameters.to_string()),
            faults: Faults::of_schema(&parameters),
            parameters: parameters.into(),
            given: Some(given),
            input,
            keys,
            ..self.clone()
        })
    }
}

impl Key {
    /// The key with examples under the names that a model sees; any other key is unchanged.
    fn with_examples(&self, input: &Input) -> Self {
        if &*self.name != EXAMPLES {
            return self.clone();
        }
        let Ok(examples) = serde_json::from_str::<Vec<Value>>(self.text()) else { return self.clone() };
        let shown: Value = examples.into_iter().map(|example| input.shown(example)).collect();
        Self { text: Slice::whole_text(shown.to_string()), ..self.clone() }
    }
}
