//! The catalog: an agent's tools, in registration order.
//!
//! A [`Tool`] stores its original text. A tool that is not folded is written exactly as it was
//! read, including number spellings, key order and vendor keys. List entries that are not foldable
//! tools ([`Foreign`]) keep their position. This module does not depend on the presentation, skill
//! or policy layers.
//!
//! ```
//! use toolfold::catalog::{Catalog, Format};
//!
//! let json = r#"[{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{"a":{"type":"number"}}}}}]"#;
//! let catalog = Catalog::from_openai(json)?;
//! assert_eq!(catalog.len(), 1);
//! assert_eq!(catalog.to_json(Format::OpenAiChat), json);
//! # Ok::<(), toolfold::error::Error>(())
//! ```

mod compact;
mod export;
mod faults;
mod format;
mod import;
mod input;
mod layout;
mod skill_run;
mod slice;
mod tool;

pub(crate) use export::write_string;
pub(crate) use faults::{ALTERNATIVES, Faults, is_array};
pub use format::Format;
pub(crate) use import::Fields;
pub use import::MAX_BYTES;
pub use layout::Foreign;
pub(crate) use layout::{Entry, Group, Layout, Member};
pub(crate) use skill_run::INPUT;
pub use skill_run::SkillRun;
pub use tool::{Origin, Tool};
pub use toolfold_diagnostic::Annotations;

use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;

use self::layout::Breakpoint;
use crate::diagnostic::{Diagnostic, Loaded, Place};
use crate::error::{Error, ErrorKind};
use crate::name::ToolName;

/// An agent's tools, in registration order. Names are unique.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    tools: IndexMap<ToolName, Arc<Tool>>,
    /// `None` if the list holds only tools.
    layout: Option<Arc<Layout>>,
}

impl Catalog {
    /// Appends a tool.
    ///
    /// # Errors
    /// Returns a `duplicate-tool` diagnostic if the name is taken. The catalog is then unchanged.
    pub fn add(&mut self, tool: Tool) -> Result<(), Diagnostic> {
        if self.tools.contains_key(tool.name().as_str()) {
            let message = format!("a tool named `{}` is registered already", tool.name());
            let diagnostic = Diagnostic::error("duplicate-tool", Place::default(), message)
                .help("names are unique in a catalogue: rename one, or prefix each with its server's name");
            return Err(diagnostic);
        }
        let at = self.tools.len();
        self.tools.insert(tool.name().clone(), Arc::new(tool));
        if let Some(layout) = &mut self.layout {
            Arc::make_mut(layout).entries.push(Entry::Tool(at));
        }
        Ok(())
    }

    /// Reads a tool list and returns every valid tool. `file` names the input in diagnostics.
    ///
    /// The text is an array of tools, an object with a `tools` key such as a whole request, or a
    /// JSON-RPC response whose result holds `tools`. If `format` is `None`, the first unambiguous
    /// tool determines it. An entry whose type is not a function is not an error: it is carried
    /// through, see [`Catalog::foreign`].
    pub fn import(text: &str, file: &str, format: Option<Format>) -> Loaded<Self> {
        import::import(text, file, format)
    }

    /// Reads an OpenAI tool array (Chat Completions or Responses).
    ///
    /// # Errors
    /// Returns every diagnostic if one of them is an error.
    pub fn from_openai(text: &str) -> Result<Self, Error> {
        // A flat tool and a nested one are always distinguishable, so format detection is exact
        // here.
        Self::without_errors(Self::import(text, "tools", None))
    }

    /// Reads an Anthropic Messages tool array.
    ///
    /// # Errors
    /// Returns every diagnostic if one of them is an error.
    pub fn from_anthropic(text: &str) -> Result<Self, Error> {
        Self::without_errors(Self::import(text, "tools", Some(Format::Anthropic)))
    }

    /// Reads the result of MCP's `tools/list`: the array, the result object, or the JSON-RPC
    /// response.
    ///
    /// # Errors
    /// Returns every diagnostic if one of them is an error.
    pub fn from_mcp(text: &str) -> Result<Self, Error> {
        Self::without_errors(Self::import(text, "tools", Some(Format::Mcp)))
    }

    fn without_errors(loaded: Loaded<Self>) -> Result<Self, Error> {
        loaded.into_result().map_err(|why| Error::new(ErrorKind::Catalog, why.0))
    }

    /// Returns the catalog as a compact JSON tool array. Entries read in the same format, including
    /// foreign entries, are written byte for byte as they were read, except for white space. A tool
    /// of another format keeps its name, description, schema, and the fields that both formats
    /// have.
    #[must_use]
    pub fn to_json(&self, format: Format) -> String {
        export::export(self, format)
    }

    /// Returns the catalog with the origins of its tools, by name. Tools that are not in the map
    /// keep theirs. Lists of several servers are derived server by server, and queries find tools
    /// by their servers.
    #[must_use]
    pub fn with_origins(mut self, origins: &BTreeMap<String, Origin>) -> Self {
        for (name, tool) in &mut self.tools {
            if let Some(origin) = origins.get(name.as_str()) {
                Arc::make_mut(tool).origin = origin.clone();
            }
        }
        self
    }

    /// Returns a catalog with only the tools whose index in `kept` is true. Foreign entries keep
    /// their position.
    #[must_use]
    pub fn filtered(&self, kept: &[bool]) -> Self {
        let mut places = Vec::with_capacity(self.tools.len());
        let mut tools = IndexMap::new();
        let mut leaves_breakpoint = false;
        for (at, (name, tool)) in self.tools.iter().enumerate() {
            if kept.get(at) == Some(&true) {
                places.push(Some(tools.len()));
                tools.insert(name.clone(), tool.clone());
            } else {
                places.push(None);
                leaves_breakpoint |= tool.breakpoint().is_some();
            }
        }
        let whole;
        let layout = match self.layout.as_deref() {
            Some(layout) => layout,
            None if leaves_breakpoint => {
                whole = Layout::of_tools(Format::Anthropic, self.tools.len());
                &whole
            }
            None => return Self { tools, layout: None },
        };
        let place = |at: usize| places.get(at).copied().flatten();
        let filtered = layout.filtered(place, |at| self.breakpoint_at(at));
        Self { tools, layout: Some(Arc::new(filtered)) }
    }

    fn breakpoint_at(&self, index: usize) -> Option<Breakpoint> {
        let tool = self.at(index)?;
        Some(Breakpoint { tool: tool.name().as_str().into(), text: tool.breakpoint()?.into() })
    }

    /// The same catalog with other definitions of some tools, each with its index and its name.
    pub(crate) fn with_tools(&self, tools: Vec<(usize, Tool)>) -> Self {
        let mut catalog = self.clone();
        for (index, tool) in tools {
            if let Some((_, own)) = catalog.tools.get_index_mut(index) {
                *own = Arc::new(tool);
            }
        }
        catalog
    }

    /// The entries that are not foldable tools, in order: tools that a provider runs or defines,
    /// and entries of an unknown type. They are sent unchanged and in place on the wire of the
    /// list's own format.
    pub fn foreign(&self) -> impl Iterator<Item = &Foreign> {
        self.layout.iter().flat_map(|layout| layout.foreign())
    }

    /// The names of the list's namespaces (OpenAI Responses), in order. A namespace generated for a
    /// category must have a different name.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &str> {
        let groups = self.layout.iter().flat_map(|layout| layout.groups());
        groups.filter_map(|(group, _)| group.namespace.as_deref())
    }

    /// The order of the list, if it holds more than tools.
    pub(crate) fn layout(&self) -> Option<&Layout> {
        self.layout.as_deref()
    }

    /// Returns the tool with the given name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name).map(AsRef::as_ref)
    }

    /// Returns the tool at the given index.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&Tool> {
        self.tools.get_index(index).map(|(_, tool)| tool.as_ref())
    }

    /// Returns the index of the tool with the given name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.tools.get_index_of(name)
    }

    /// The tools, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tool> + Clone {
        self.tools.values().map(AsRef::as_ref)
    }

    /// The tool names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &ToolName> + Clone {
        self.tools.keys()
    }

    /// The number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether the catalog has no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}
