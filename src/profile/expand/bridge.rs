//! The meta-tools that call tools outside the array: one for all tools, or one per kind of effect,
//! so that clients that prompt the user based on annotations show the right prompt.

use std::fmt;

use serde_json::json;

use crate::catalog::{Annotations, Catalog, Tool};
use crate::profile::Naming;

/// The meta-tool of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Bridge {
    /// The single meta-tool for all tools.
    Any,
    /// For read-only tools.
    Read,
    /// For tools that change data but destroy nothing.
    Write,
    /// For all others, including tools without annotations.
    Destructive,
}

impl Bridge {
    /// All bridges, from the general one to the destructive one.
    pub(crate) const ALL: [Self; 4] = [Self::Any, Self::Read, Self::Write, Self::Destructive];

    /// The name under which it is declared if no tool has that name.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any => super::CALL_TOOL,
            Self::Read => "call_read",
            Self::Write => "call_write",
            Self::Destructive => "call_destructive",
        }
    }

    /// The bridge for a tool if bridges are separated by effect. Uses the tool's annotations with
    /// MCP's defaults: not read-only, and destructive.
    #[must_use]
    pub(crate) fn for_tool(tool: &Tool) -> Self {
        let hints = tool.annotations();
        if hints.and_then(|hints| hints.read_only_hint) == Some(true) {
            return Self::Read;
        }
        match hints.and_then(|hints| hints.destructive_hint) {
            Some(false) => Self::Write,
            _ => Self::Destructive,
        }
    }

    /// Whether the bridge may call a tool, because the tool's effects are within those that the
    /// bridge declares.
    #[must_use]
    pub(crate) fn may_call(self, tool: &Tool) -> bool {
        self == Self::Any || Self::for_tool(tool) <= self
    }

    /// Whether this is the bridge for a tool.
    pub(crate) fn is_for(self, tool: &Tool) -> bool {
        self == Self::Any || Self::for_tool(tool) == self
    }

    /// Its index in [`ALL`](Self::ALL).
    pub(crate) fn bridge_index(self) -> usize {
        match self {
            Self::Any => 0,
            Self::Read => 1,
            Self::Write => 2,
            Self::Destructive => 3,
        }
    }

    /// What its tools do, as the model reads it.
    fn purpose(self) -> Option<&'static str> {
        match self {
            Self::Any => None,
            Self::Read => Some("only reads"),
            Self::Write => Some("adds or changes something"),
            Self::Destructive => Some("may delete or overwrite something"),
        }
    }

    fn annotations(self) -> Option<Annotations> {
        let (read_only, destructive) = match self {
            Self::Any => return None,
            Self::Read => (true, false),
            Self::Write => (false, false),
            Self::Destructive => (false, true),
        };
        let mut annotations = Annotations::default();
        (annotations.read_only_hint, annotations.destructive_hint) = (Some(read_only), Some(destructive));
        Some(annotations)
    }

    /// Its declaration.
    pub(crate) fn declaration(self, naming: &dyn Naming) -> Option<Tool> {
        let parameters = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
            "required": ["name", "arguments"],
            "additionalProperties": false
        });
        let expand = naming.expand_tools();
        let description = match self.purpose() {
            None => format!("Run a tool that {expand} described, with arguments that fit its parameters."),
            Some(purpose) => {
                format!(
                    "Run a tool that {purpose} and that {expand} described, with arguments that fit its parameters."
                )
            }
        };
        let tool = Tool::new(naming.bridge(self), &description, parameters).ok()?;
        Some(match self.annotations() {
            Some(annotations) => tool.with_annotations(annotations),
            None => tool,
        })
    }
}

impl fmt::Display for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The bridges that some tools need, in order.
pub(crate) fn bridges(catalog: &Catalog, tools: impl IntoIterator<Item = usize>, naming: &dyn Naming) -> Vec<Bridge> {
    if !naming.tells_effects_apart() {
        return vec![Bridge::Any];
    }
    let needed: Vec<Bridge> = tools.into_iter().filter_map(|at| catalog.at(at)).map(Bridge::for_tool).collect();
    let mut bridges = Bridge::ALL.to_vec();
    bridges.retain(|bridge| needed.contains(bridge));
    bridges
}

/// Their names, joined for a sentence.
pub(crate) fn joined_names(bridges: &[Bridge], naming: &dyn Naming) -> String {
    match bridges.split_last() {
        None => naming.bridge(Bridge::Any).to_owned(),
        Some((only, [])) => naming.bridge(*only).to_owned(),
        Some((last, rest)) => {
            let rest: Vec<&str> = rest.iter().map(|bridge| naming.bridge(*bridge)).collect();
            format!("{} or {}", rest.join(", "), naming.bridge(*last))
        }
    }
}
