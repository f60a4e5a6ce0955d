//! One tool: its name, what it says of itself, and the schema of its arguments.

use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde_json::Value;
use serde_json::value::RawValue;

use super::annotations::Annotations;
use super::import::Format;
use crate::name::{NameError, ToolName};
use crate::schema;

/// Why a tool cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The name is not a name.
    #[error("`{}` cannot be a tool's name: {reason}", crate::diagnostic::visible(.name))]
    Name {
        /// The text given.
        name: String,
        /// What is wrong with it.
        reason: NameError,
    },
    /// The parameters are not a JSON Schema object.
    #[error("parameters must be a JSON Schema object such as {{\"type\":\"object\"}}, not {0}")]
    NotASchema(&'static str),
    /// The parameters are nested too deeply.
    #[error("the schema is nested more than {} levels deep", schema::MAX_DEPTH)]
    TooDeep,
}

/// A tool that the agent's host can run.
#[derive(Debug, Clone)]
pub struct Tool {
    pub(super) name: ToolName,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) parameters: Value,
    /// The schema as it was spelt, compact.
    pub(super) parameters_text: Arc<str>,
    /// Whether there was a schema at all.
    pub(super) declared: bool,
    /// Whether the schema says that there are no arguments.
    pub(super) no_parameters: bool,
    pub(super) annotations: Option<Annotations>,
    pub(super) strict: Option<bool>,
    /// Keys that no format names, as they were spelt, compact.
    pub(super) extra: IndexMap<String, Box<RawValue>>,
    /// The format the tool came in and its whole text, compact.
    pub(super) source: Option<(Format, Arc<str>)>,
}

impl Tool {
    /// A tool from its parts. `parameters` is the JSON Schema of the arguments object.
    ///
    /// # Errors
    /// [`ToolError`] if the name is malformed, or the parameters are not an object or nested too deeply.
    pub fn new(name: &str, description: &str, parameters: Value) -> Result<Self, ToolError> {
        let name = Self::check_name(name)?;
        Self::check_parameters(&parameters)?;
        let parameters_text = Arc::from(parameters.to_string());
        let no_parameters = schema::takes_no_parameters(&parameters);
        let description = (!description.is_empty()).then(|| description.to_owned());
        let extra = IndexMap::new();
        Ok(Self {
            name,
            title: None,
            description,
            parameters,
            parameters_text,
            declared: true,
            no_parameters,
            annotations: None,
            strict: None,
            extra,
            source: None,
        })
    }

    /// A tool whose arguments are a Rust type. The type's own title and the dialect are left out of the schema: a model
    /// gains nothing from them, and a title is billed.
    ///
    /// # Errors
    /// [`ToolError`] if the name is malformed or the type's schema is not an object.
    pub fn of<Args: JsonSchema>(name: &str, description: &str) -> Result<Self, ToolError> {
        let mut parameters = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.meta_schema = None)
            .into_generator()
            .into_root_schema_for::<Args>()
            .to_value();
        if let Some(map) = parameters.as_object_mut() {
            map.shift_remove("title");
            if !map.contains_key("properties") && map.get("type").and_then(Value::as_str) == Some("object") {
                map.insert("properties".to_owned(), Value::Object(serde_json::Map::new()));
            }
        }
        Self::new(name, description, parameters)
    }

    pub(super) fn check_name(name: &str) -> Result<ToolName, ToolError> {
        ToolName::new(name).map_err(|reason| ToolError::Name { name: name.chars().take(160).collect(), reason })
    }

    pub(super) fn check_parameters(parameters: &Value) -> Result<(), ToolError> {
        if !parameters.is_object() {
            return Err(ToolError::NotASchema(schema::kind(parameters)));
        }
        if schema::deeper_than(parameters, schema::MAX_DEPTH) { Err(ToolError::TooDeep) } else { Ok(()) }
    }

    /// The same tool with a server's hints about its effects.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self.source = None;
        self
    }

    /// The same tool with OpenAI's `strict` set.
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self.source = None;
        self
    }

    /// The name, unique in its catalogue.
    #[must_use]
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// A title for people (MCP). No provider shows it to a model.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The description, whole. Empty if the tool has none.
    #[must_use]
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    /// The JSON Schema of the arguments. Always an object; `{}` or an object without properties takes no arguments.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// The same schema as compact JSON text, spelt as it came in.
    #[must_use]
    pub fn parameters_text(&self) -> &str {
        &self.parameters_text
    }

    /// Whether the tool came with a schema; without one it takes no arguments.
    #[must_use]
    pub fn declares_parameters(&self) -> bool {
        self.declared
    }

    /// Whether the schema says that there are no arguments: no parameters, and nothing that would bring some in.
    #[must_use]
    pub fn takes_no_parameters(&self) -> bool {
        self.no_parameters
    }

    /// A server's hints about the tool's effects, if it gave any.
    #[must_use]
    pub fn annotations(&self) -> Option<&Annotations> {
        self.annotations.as_ref()
    }

    /// OpenAI's `strict`, if the tool came with it.
    #[must_use]
    pub fn strict(&self) -> Option<bool> {
        self.strict
    }

    /// The other keys the tool came with, in order, each with its compact JSON text.
    pub fn extra(&self) -> impl Iterator<Item = (&str, &str)> {
        self.extra.iter().map(|(key, value)| (key.as_str(), value.get()))
    }

    /// The whole text of the tool, compact, if it came in that format.
    #[must_use]
    pub fn source(&self, format: Format) -> Option<&str> {
        self.source.as_ref().filter(|(own, _)| *own == format).map(|(_, text)| text.as_ref())
    }
}
