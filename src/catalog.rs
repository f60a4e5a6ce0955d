//! The catalogue: what tools exist, in the order they were registered.
//!
//! A [`Tool`] keeps the text it came as, so that what nobody folds goes out exactly as it came in: number spellings,
//! key order, vendor keys and all. The module knows nothing of what is shown, known or allowed.
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
mod import;
mod tool;

pub use annotations::Annotations;
pub use export::write_string;
pub use import::{Format, MAX_BYTES, UnknownFormat};
pub use tool::{Tool, ToolError};

use indexmap::IndexMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Loaded, Place};
use crate::error::{Error, ErrorKind};
use crate::name::ToolName;

/// The tools of an agent, in the order they were registered. No two have the same name.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    tools: IndexMap<ToolName, Arc<Tool>>,
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
        self.tools.insert(tool.name().clone(), Arc::new(tool));
        Ok(())
    }

    /// Reads a tool list and keeps every sound tool. `file` names the input in diagnostics.
    ///
    /// Understood are an array of tools, `{"tools": […]}`, and a JSON-RPC response whose result holds `tools`.
    /// Without a `format` it is told from the first tool that decides it.
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

    /// The catalogue as a compact JSON tool array. A tool that came in the same format goes out byte for byte as it
    /// came, white space apart; a tool of another format keeps its name, description, schema, and what both have.
    #[must_use]
    pub fn to_json(&self, format: Format) -> String {
        export::export(self.iter(), format)
    }

    /// The same catalogue with some of its tools only: those whose place is kept.
    #[must_use]
    pub fn filtered(&self, kept: &[bool]) -> Self {
        let tools = self.tools.iter().zip(kept).filter(|(_, kept)| **kept);
        Self { tools: tools.map(|((name, tool), _)| (name.clone(), tool.clone())).collect() }
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
