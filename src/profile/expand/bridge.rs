//! The meta-tools that call what is not in the array: one, or one for each kind of effect, so that a client which asks a
//! person by a tool's annotations asks the right question.

use std::fmt;

use serde_json::json;

use crate::catalog::{Annotations, Catalog, Tool};
use crate::profile::Naming;

/// Which of them a call goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bridge {
    /// The one for every tool.
    Any,
    /// That for tools which only read.
    Read,
    /// That for tools which change things and destroy nothing.
    Write,
    /// That for all others: whatever says nothing of itself.
    Destructive,
}

impl Bridge {
    /// All, from the one that stands for any tool to the one for what destroys.
    pub const ALL: [Self; 4] = [Self::Any, Self::Read, Self::Write, Self::Destructive];

    /// The name under which it is declared where nobody has that name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => super::CALL_TOOL,
            Self::Read => "call_read",
            Self::Write => "call_write",
            Self::Destructive => "call_destructive",
        }
    }

    /// The one that a tool needs where they are told apart, by its annotations with the defaults of MCP: not read-only, and
    /// destructive.
    #[must_use]
    pub fn of(tool: &Tool) -> Self {
        let hints = tool.annotations();
        if hints.and_then(|hints| hints.read_only_hint) == Some(true) {
            return Self::Read;
        }
        match hints.and_then(|hints| hints.destructive_hint) {
            Some(false) => Self::Write,
            _ => Self::Destructive,
        }
    }

    /// Whether it may call a tool: one that needs no more than it says of itself.
    #[must_use]
    pub fn may_call(self, tool: &Tool) -> bool {
        self == Self::Any || Self::of(tool) <= self
    }

    /// Whether it is the one that a tool needs.
    pub(crate) fn is_for(self, tool: &Tool) -> bool {
        self == Self::Any || Self::of(tool) == self
    }

    /// Its place among all.
    pub(crate) fn place(self) -> usize {
        match self {
            Self::Any => 0,
            Self::Read => 1,
            Self::Write => 2,
            Self::Destructive => 3,
        }
    }

    /// What its tools do, as a model reads it.
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
        Some(Annotations {
            read_only_hint: Some(read_only),
            destructive_hint: Some(destructive),
            ..Annotations::default()
        })
    }

    /// Its declaration.
    pub(crate) fn tool(self, naming: &dyn Naming) -> Option<Tool> {
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

/// The bridges that some tools need, in their order.
pub(crate) fn bridges(catalog: &Catalog, tools: impl IntoIterator<Item = usize>, naming: &dyn Naming) -> Vec<Bridge> {
    if !naming.tells_effects_apart() {
        return vec![Bridge::Any];
    }
    let needed: Vec<Bridge> = tools.into_iter().filter_map(|at| catalog.at(at)).map(Bridge::of).collect();
    Bridge::ALL.into_iter().filter(|bridge| needed.contains(bridge)).collect()
}

/// Their names, as a sentence has them.
pub(crate) fn named(bridges: &[Bridge], naming: &dyn Naming) -> String {
    match bridges.split_last() {
        None => naming.bridge(Bridge::Any).to_owned(),
        Some((only, [])) => naming.bridge(*only).to_owned(),
        Some((last, rest)) => {
            let rest: Vec<&str> = rest.iter().map(|bridge| naming.bridge(*bridge)).collect();
            format!("{} or {}", rest.join(", "), naming.bridge(*last))
        }
    }
}
