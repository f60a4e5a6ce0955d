//! One tool: its name, description and argument schema.

use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::Value;

use super::Annotations;
use super::Format;
use super::SkillRun;
use super::faults::Faults;
use super::input::Input;
use super::slice::Slice;
use crate::diagnostic::{InvalidValue, visible};
use crate::name::ToolName;
use crate::schema;
use crate::schema::text_member;

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Origin {
    /// The list does not state it: a client's profile, a namespace or marks in the names decide.
    #[default]
    Unknown,
    /// The agent's host runs it itself.
    Host,
    /// A server. It is never one of the agent's own tools.
    Server {
        /// The server's name in the configuration.
        server: Arc<str>,
        /// The tool's name there.
        tool: Box<str>,
    },
}

/// A tool that the agent's host can run.
#[derive(Debug, Clone)]
pub struct Tool {
    pub(super) name: ToolName,
    /// The tool's namespace, and its name in that namespace.
    pub(super) namespaced: Option<(Arc<str>, Box<str>)>,
    pub(super) title: Option<Box<str>>,
    pub(super) description: Option<Box<str>>,
    pub(super) parameters: Arc<Value>,
    /// The schema as it was given, where that is not its normal form.
    pub(super) given: Option<Arc<Value>>,
    /// The schema's text, compact: the original one if it is in normal form.
    pub(super) parameters_text: Slice,
    /// How `parameters` differ from the tool's input.
    pub(super) input: Input,
    /// Whether the tool came with a schema.
    pub(super) declared: bool,
    /// Whether the schema excludes all arguments.
    pub(super) no_parameters: bool,
    pub(super) faults: Faults,
    pub(super) annotations: Option<Annotations>,
    pub(super) strict: Option<bool>,
    /// Keys without a field in this struct.
    pub(super) keys: Box<[Key]>,
    /// The format that the tool was read in.
    pub(super) format: Option<Format>,
    pub(super) origin: Origin,
    pub(super) skill_run: Option<Arc<SkillRun>>,
    /// The skill that a call activates, by the name that selects it.
    pub(super) activates: Option<Arc<str>>,
    /// The tool's whole text, compact, while it is still valid in the tool's format.
    pub(super) source: Option<Slice>,
}

/// A key of a tool for which [`Tool`] has no field.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: Box<str>,
    pub(super) text: Slice,
    /// Whether the key is a sibling of `function` rather than inside it (Chat Completions).
    pub(crate) outer: bool,
}

/// The key of MCP's hints. They have a field, and their text is stored as well because it may hold
/// unknown hints.
const ANNOTATIONS: &str = "annotations";

impl Key {
    pub(crate) fn is_annotations(&self) -> bool {
        &*self.name == ANNOTATIONS
    }

    /// The value as compact JSON text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn parts(&self) -> (&str, &str) {
        (&self.name, self.text())
    }
}

/// The catalog name of a tool in a namespace. It does not depend on the other tools, so a policy
/// rule that names the tool stays valid.
pub(super) fn qualified(namespace: &str, name: &str) -> String {
    format!("{namespace}__{name}")
}

impl Tool {
    /// Creates a tool from its parts. `parameters` is the JSON Schema of the arguments object. What
    /// is not valid in 2020-12 is replaced by what it means there, or left out. An input that is
    /// not an object becomes the parameter `value`.
    ///
    /// # Errors
    /// Returns an [`InvalidValue`] if the name is invalid, or if the parameters are not an object
    /// or nested too deeply.
    pub fn new(name: &str, description: &str, mut parameters: Value) -> Result<Self, InvalidValue> {
        let name = Self::check_name(name)?;
        Self::check_parameters(&parameters)?;
        let given = parameters.clone();
        let is_repaired = !schema::normalize(&mut parameters).is_empty();
        let input = Input::wrap(&mut parameters);
        Ok(Self {
            name,
            namespaced: None,
            title: None,
            description: (!description.is_empty()).then(|| description.into()),
            parameters_text: Slice::whole_text(parameters.to_string()),
            given: (is_repaired || input.is_wrapped).then(|| Arc::new(given)),
            input,
            declared: true,
            no_parameters: schema::takes_no_parameters(&parameters),
            faults: Faults::of_schema(&parameters),
            parameters: Arc::new(parameters),
            annotations: None,
            strict: None,
            keys: Box::default(),
            format: None,
            origin: Origin::Unknown,
            skill_run: None,
            activates: None,
            source: None,
        })
    }

    /// Creates a tool whose arguments are a Rust type. The schema omits the type's title and the
    /// dialect: a model does not need them, and the title is billed.
    ///
    /// # Errors
    /// Returns an [`InvalidValue`] if the name is invalid or the type's schema is not an object.
    pub fn of<Args: JsonSchema>(name: &str, description: &str) -> Result<Self, InvalidValue> {
        let mut parameters = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.meta_schema = None)
            .into_generator()
            .into_root_schema_for::<Args>()
            .to_value();
        if let Some(map) = parameters.as_object_mut() {
            map.shift_remove("title");
            if !map.contains_key("properties") && text_member(map, "type") == Some("object") {
                map.insert("properties".to_owned(), Value::Object(serde_json::Map::new()));
            }
        }
        Self::new(name, description, parameters)
    }

    pub(super) fn check_name(name: &str) -> Result<ToolName, InvalidValue> {
        ToolName::new(name).map_err(|reason| {
            let start: String = name.chars().take(160).collect();
            InvalidValue::from(format!("`{}` cannot be a tool's name: {reason}", visible(&start)))
        })
    }

    pub(super) fn check_parameters(parameters: &Value) -> Result<(), InvalidValue> {
        if !parameters.is_object() {
            return Err(InvalidValue::from(format!(
                "parameters must be a JSON Schema object such as {{\"type\":\"object\"}}, not {}",
                schema::kind(parameters)
            )));
        }
        if schema::deeper_than(parameters, schema::MAX_DEPTH) {
            let most = schema::MAX_DEPTH;
            return Err(InvalidValue::from(format!("the schema is nested more than {most} levels deep")));
        }
        Ok(())
    }

    /// Whether two tools of one name have the same definition.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.title == other.title
            && self.description == other.description
            && self.given_parameters() == other.given_parameters()
            && self.strict == other.strict
            && self.keys.iter().map(Key::parts).eq(other.keys.iter().map(Key::parts))
    }

    /// Sets the server's hints about the tool's effects.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self.keys = self.keys.into_iter().filter(|key| &*key.name != ANNOTATIONS).collect();
        self.source = None;
        self
    }

    /// Sets OpenAI's `strict`.
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self.source = None;
        self
    }

    /// The name, unique in its catalog.
    #[must_use]
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// The display title (MCP). No provider shows it to a model.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The full description. Empty if the tool has none.
    #[must_use]
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    /// The JSON Schema of the arguments, valid in 2020-12. Always an object; `{}` or an object
    /// without properties takes no arguments.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// The schema as it was given: it may be of an older draft, invalid, or not of an object.
    #[must_use]
    pub fn given_parameters(&self) -> &Value {
        self.given.as_ref().unwrap_or(&self.parameters)
    }

    /// A shared reference to [`parameters`](Self::parameters).
    #[must_use]
    pub(crate) fn parameters_shared(&self) -> Arc<Value> {
        self.parameters.clone()
    }

    /// The schema as compact JSON text. If it was given in normal form, with every token as it was
    /// written.
    #[must_use]
    pub fn parameters_text(&self) -> &str {
        &self.parameters_text
    }

    /// Whether the tool came with a schema. Without one it takes no arguments.
    #[must_use]
    pub fn declares_parameters(&self) -> bool {
        self.declared
    }

    /// Whether the schema excludes all arguments: it has no properties, and no keyword that could
    /// add some.
    #[must_use]
    pub fn takes_no_parameters(&self) -> bool {
        self.no_parameters
    }

    /// The server's hints about the tool's effects, if it gave any.
    #[must_use]
    pub fn annotations(&self) -> Option<&Annotations> {
        self.annotations.as_ref()
    }

    /// OpenAI's `strict`, if the tool came with it.
    #[must_use]
    pub fn strict(&self) -> Option<bool> {
        self.strict
    }

    /// The keys for which toolfold has no field, in order, each with its compact JSON text.
    pub fn extra(&self) -> impl Iterator<Item = (&str, &str)> {
        self.keys.iter().filter(|key| !key.is_annotations()).map(|key| (key.name.as_ref(), key.text()))
    }

    /// The tool's whole text, compact, if it was read in the given format.
    #[must_use]
    pub fn source(&self, format: Format) -> Option<&str> {
        self.source.as_deref().filter(|_| self.format == Some(format))
    }

    /// The tool's whole text, compact, if it was read in the given format and under the given name.
    pub(crate) fn source_as(&self, name: &str, format: Format) -> Option<&str> {
        let own = self.namespaced().map_or(self.name.as_str(), |(_, own)| own);
        self.source(format).filter(|_| own == name)
    }

    /// Whether the schema was given in normal form.
    pub(crate) fn is_normal(&self) -> bool {
        self.given.is_none()
    }

    /// The tool's namespace, and its name in that namespace. The catalog name joins the two with
    /// `__`.
    #[must_use]
    pub fn namespaced(&self) -> Option<(&str, &str)> {
        self.namespaced.as_ref().map(|(namespace, name)| (namespace.as_ref(), name.as_ref()))
    }

    /// The format that the tool was read in, if it came from a list.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The server that the tool comes from, if that is known.
    #[must_use]
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The keys for which toolfold has no field.
    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Constructs in the schema that some API rejects.
    pub(crate) fn faults(&self) -> Faults {
        self.faults
    }

    /// The value of `cache_control`, if the tool came with one in Anthropic's format.
    pub(crate) fn breakpoint(&self) -> Option<&str> {
        let key =
            self.keys.iter().find(|key| &*key.name == "cache_control" && self.format == Some(Format::Anthropic))?;
        Some(key.text()).filter(|text| *text != "null")
    }
}
