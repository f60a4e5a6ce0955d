//! The catalogue: what tools exist, in the order they were registered.
//!
//! A [`Tool`] keeps the text it came as, so that what nobody folds goes out exactly as it came in: number spellings,
//! key order, vendor keys and all. So do the entries of a list that are no tools to fold ([`Foreign`]): they keep their
//! place. The module knows nothing of what is shown, known or allowed.
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

mod annotations;
mod compact;
mod export;
mod faults;
mod format;
mod import;
mod layout;
mod slice;
mod tool;

pub use annotations::Annotations;
pub use export::write_string;
pub(crate) use faults::{ALTERNATIVES, Faults, is_array};
pub use format::{Format, UnknownFormat};
pub(crate) use import::Fields;
pub use import::MAX_BYTES;
pub use layout::Foreign;
pub(crate) use layout::{Entry, Group, Layout, Member};
pub(crate) use tool::Key;
pub use tool::{Tool, ToolError};

use indexmap::IndexMap;
use std::sync::Arc;

use self::layout::Breakpoint;
use crate::diagnostic::{Diagnostic, Loaded, Place};
use crate::error::{Error, ErrorKind};
use crate::name::ToolName;

/// The tools of an agent, in the order they were registered. No two have the same name.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    tools: IndexMap<ToolName, Arc<Tool>>,
    /// Nothing where there are only tools.
    layout: Option<Arc<Layout>>,
}

impl Catalog {
    /// A catalogue without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool at the end.
    ///
    /// # Errors
    /// A diagnostic `duplicate-tool`, and the catalogue is as it was, if the name is taken.
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

    /// Reads a tool list and keeps every sound tool. `file` names the input in diagnostics.
    ///
    /// It takes an array of tools, an object with `tools` such as a whole request, and a JSON-RPC response whose result
    /// holds `tools`. Without a `format`, the first tool that decides it does. An entry of a type that is not a function is
    /// no fault: it is carried through, see [`Catalog::foreign`].
    pub fn import(text: &str, file: &str, format: Option<Format>) -> Loaded<Self> {
        import::import(text, file, format)
    }

    /// Reads an OpenAI tool array, of Chat Completions or of Responses, whole or not at all.
    ///
    /// # Errors
    /// Every diagnostic, if one of them is an error.
    pub fn from_openai(text: &str) -> Result<Self, Error> {
        // A flat tool and a nested one cannot be mistaken for each other, so sniffing is exact here.
        Self::whole(Self::import(text, "tools", None))
    }

    /// Reads an Anthropic Messages tool array, whole or not at all.
    ///
    /// # Errors
    /// Every diagnostic, if one of them is an error.
    pub fn from_anthropic(text: &str) -> Result<Self, Error> {
        Self::whole(Self::import(text, "tools", Some(Format::Anthropic)))
    }

    /// Reads the result of MCP's `tools/list`: the bare array, the result object, or the whole JSON-RPC response.
    ///
    /// # Errors
    /// Every diagnostic, if one of them is an error.
    pub fn from_mcp(text: &str) -> Result<Self, Error> {
        Self::whole(Self::import(text, "tools", Some(Format::Mcp)))
    }

    fn whole(loaded: Loaded<Self>) -> Result<Self, Error> {
        loaded.into_result().map_err(|why| Error::new(ErrorKind::Catalog, why.into_diagnostics()))
    }

    /// The catalogue as a compact JSON tool array. What came in the same format goes out byte for byte as it came, white
    /// space apart, other entries than tools included; a tool of another format keeps its name, description, schema, and
    /// what both have.
    #[must_use]
    pub fn to_json(&self, format: Format) -> String {
        export::export(self, format)
    }

    /// The same catalogue with some of its tools only: those whose place in `kept` is true. Other entries than tools keep
    /// their place among them.
    #[must_use]
    pub fn filtered(&self, kept: &[bool]) -> Self {
        let mut places = Vec::with_capacity(self.tools.len());
        let mut tools = IndexMap::new();
        for (at, (name, tool)) in self.tools.iter().enumerate() {
            let stays = kept.get(at) == Some(&true);
            places.push(stays.then_some(tools.len()));
            if stays {
                tools.insert(name.clone(), tool.clone());
            }
        }
        let place = |at: usize| places.get(at).copied().flatten();
        let breakpoint = |at: usize| {
            self.at(at)
                .and_then(|tool| Some((tool, tool.breakpoint()?)))
                .map(|(tool, text)| Breakpoint { tool: tool.name().as_str().into(), text: text.into() })
        };
        let whole = || Layout::of_tools(Format::Anthropic, self.tools.len());
        let leaves_one = || (0..self.tools.len()).any(|at| place(at).is_none() && breakpoint(at).is_some());
        let layout = match &self.layout {
            Some(layout) => Some(layout.filtered(place, breakpoint)),
            None => leaves_one().then(|| whole().filtered(place, breakpoint)),
        };
        Self { tools, layout: layout.map(Arc::new) }
    }

    /// The entries that are no tools to fold, in order: tools that a provider runs or defines, and anything of a type that
    /// toolfold does not know. On the wire of the list's own format they are sent as they came, in their place.
    pub fn foreign(&self) -> impl Iterator<Item = &Foreign> {
        self.layout.iter().flat_map(|layout| layout.foreign())
    }

    /// The names of the list's namespaces (OpenAI Responses), in order. A namespace that is made for a category must have
    /// another name.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        let groups = self.layout.iter().flat_map(|layout| layout.groups());
        groups.filter_map(|(group, _)| group.namespace.as_deref())
    }

    /// The tool that a namespace has under a name.
    #[must_use]
    pub fn in_namespace(&self, namespace: &str, name: &str) -> Option<&Tool> {
        self.get(&tool::qualified(namespace, name)).filter(|tool| tool.namespaced() == Some((namespace, name)))
    }

    /// The order of the list, where it holds more than tools.
    pub(crate) fn layout(&self) -> Option<&Layout> {
        self.layout.as_deref()
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name).map(AsRef::as_ref)
    }

    /// The tool at that place in the order, counted from 0.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&Tool> {
        self.tools.get_index(index).map(|(_, tool)| tool.as_ref())
    }

    /// Where the tool of that name stands in the order, counted from 0.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.tools.get_index_of(name)
    }

    /// The tools in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tool> + Clone {
        self.tools.values().map(AsRef::as_ref)
    }

    /// The names in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &ToolName> + Clone {
        self.tools.keys()
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}
