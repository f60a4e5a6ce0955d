//! One tool: its name, what it says of itself, and the schema of its arguments.

use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::Value;

use super::Format;
use super::annotations::Annotations;
use super::faults::Faults;
use super::slice::Slice;
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
    /// Its namespace and its name there.
    pub(super) namespaced: Option<(Arc<str>, Box<str>)>,
    pub(super) title: Option<Box<str>>,
    pub(super) description: Option<Box<str>>,
    pub(super) parameters: Arc<Value>,
    /// The schema as it was written, compact.
    pub(super) parameters_text: Slice,
    /// Whether there was a schema at all.
    pub(super) declared: bool,
    /// Whether the schema says that there are no arguments.
    pub(super) no_parameters: bool,
    pub(super) faults: Faults,
    pub(super) annotations: Option<Annotations>,
    pub(super) strict: Option<bool>,
    /// Keys that toolfold has no field for.
    pub(super) keys: Box<[Key]>,
    /// The format that the tool came in.
    pub(super) origin: Option<Format>,
    /// Its whole text, compact, where that is a tool of its format still.
    pub(super) source: Option<Slice>,
}

/// A key of a tool that toolfold has no field for.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: Box<str>,
    pub(super) text: Slice,
    /// Whether it stands beside `function` and not in it (Chat Completions).
    pub(crate) outer: bool,
}

/// The key of MCP's hints, which have a field and keep their text too: it may hold hints of others.
const ANNOTATIONS: &str = "annotations";

impl Key {
    pub(crate) fn is_annotations(&self) -> bool {
        &*self.name == ANNOTATIONS
    }

    /// Its value as compact JSON text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// The catalogue's name of a tool in a namespace. It never depends on which other tools there are, so that a rule of a
/// policy which names it goes on naming it.
pub(super) fn qualified(namespace: &str, name: &str) -> String {
    format!("{namespace}__{name}")
}

impl Tool {
    /// A tool from its parts. `parameters` is the JSON Schema of the arguments object.
    ///
    /// # Errors
    /// [`ToolError`] if the name is malformed, or the parameters are not an object or nested too deeply.
    pub fn new(name: &str, description: &str, parameters: Value) -> Result<Self, ToolError> {
        let name = Self::check_name(name)?;
        Self::check_parameters(&parameters)?;
        Ok(Self {
            name,
            namespaced: None,
            title: None,
            description: (!description.is_empty()).then(|| description.into()),
            parameters_text: Slice::whole(parameters.to_string()),
            declared: true,
            no_parameters: schema::takes_no_parameters(&parameters),
            faults: Faults::of(&parameters),
            parameters: Arc::new(parameters),
            annotations: None,
            strict: None,
            keys: Box::default(),
            origin: None,
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
        self.keys = self.keys.into_iter().filter(|key| &*key.name != ANNOTATIONS).collect();
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

    /// The same schema, shared.
    #[must_use]
    pub fn parameters_shared(&self) -> Arc<Value> {
        self.parameters.clone()
    }

    /// The same schema as compact JSON text, written as it came in.
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

    /// The keys the tool came with that toolfold has no field for, in order, each with its compact JSON text.
    pub fn extra(&self) -> impl Iterator<Item = (&str, &str)> {
        self.keys.iter().filter(|key| !key.is_annotations()).map(|key| (key.name.as_ref(), key.text()))
    }

    /// The whole text of the tool, compact, if it came in that format.
    #[must_use]
    pub fn source(&self, format: Format) -> Option<&str> {
        self.source.as_deref().filter(|_| self.origin == Some(format))
    }

    /// The whole text of the tool, compact, if it came in that format under that name.
    pub(crate) fn source_as(&self, name: &str, format: Format) -> Option<&str> {
        let own = self.namespaced().map_or(self.name.as_str(), |(_, own)| own);
        self.source(format).filter(|_| own == name)
    }

    /// The namespace the tool came in, and its name there. In the catalogue its name is both, with `__` between them.
    #[must_use]
    pub fn namespaced(&self) -> Option<(&str, &str)> {
        self.namespaced.as_ref().map(|(namespace, name)| (namespace.as_ref(), name.as_ref()))
    }

    /// The format that the tool came in, if it was read from a list.
    #[must_use]
    pub fn origin(&self) -> Option<Format> {
        self.origin
    }

    /// The keys that toolfold has no field for.
    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// What APIs refuse in the schema.
    pub(crate) fn faults(&self) -> Faults {
        self.faults
    }

    /// The value of `cache_control`, if the tool came with one in Anthropic's format.
    pub(crate) fn breakpoint(&self) -> Option<&str> {
        let key =
            self.keys.iter().find(|key| &*key.name == "cache_control" && self.origin == Some(Format::Anthropic))?;
        Some(key.text()).filter(|text| *text != "null")
    }
}
