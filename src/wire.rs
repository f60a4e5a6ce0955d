//! Wires: what each provider's API takes, byte for byte.

mod openai_chat;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::engine::{Engine, Session, ToolArray};
use crate::profile::{Arm, Folded, Plan};

/// A provider's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wire {
    /// OpenAI Chat Completions, and the many servers that speak it.
    OpenAiChat,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Self; 1] = [Self::OpenAiChat];

    /// The name used in flags and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
        }
    }

    /// The tool array of a plan under an arm as compact JSON.
    #[must_use]
    pub fn render(self, engine: &Engine, arm: Arm, plan: &Plan) -> String {
        match self {
            Self::OpenAiChat => openai_chat::render(engine, arm, plan),
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no [`Wire`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown wire `{}`: use openai-chat", crate::diagnostic::visible(.0))]
pub struct UnknownWire(pub String);

impl FromStr for Wire {
    type Err = UnknownWire;
    fn from_str(text: &str) -> Result<Self, UnknownWire> {
        Self::ALL.into_iter().find(|wire| wire.name() == text).ok_or_else(|| UnknownWire(text.to_owned()))
    }
}

/// One tool in Chat Completions' shape, as compact JSON: the form that OpenAI's bill is reckoned from.
#[must_use]
pub fn chat_tool(tool: &Folded<'_>) -> String {
    let mut out = String::new();
    openai_chat::write_tool(&mut out, tool);
    out
}

impl Session {
    /// The tool array to send now, as compact JSON. The same text is shared until something changes it.
    pub fn tools(&mut self, wire: Wire) -> Arc<ToolArray> {
        self.array(wire as usize, |engine, arm, plan| wire.render(engine, arm, plan))
    }

    /// The digest of the array to send now: SHA-256, in hexadecimal digits.
    pub fn digest(&mut self, wire: Wire) -> String {
        self.tools(wire).digest().to_owned()
    }

    /// The array to send now, noted in the log as shown to the model.
    pub fn present(&mut self, wire: Wire) -> Arc<ToolArray> {
        let array = self.tools(wire);
        self.presented(wire.name(), array.digest());
        array
    }
}
