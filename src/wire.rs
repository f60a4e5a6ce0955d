//! Wires: the request and response formats of each provider's API, byte for byte.
//!
//! A [`Wire`] writes the tool array of an arm, reads the calls of an assistant message, and writes
//! the answers. It uses the names that the model sees and does not depend on engine or
//! conversation; a [`Conversation`](crate::conversation::Conversation) maps names in one table.
//! [`Capabilities`] holds what is known about each provider's models.
//!
//! `docs/wires.md` documents the formats. Rules that it does not cover cite the provider's
//! reference.

mod answers;
mod anthropic;
mod api;
mod append;
mod arguments;
mod assemble;
mod bedrock;
mod cache;
mod calls;
mod capability;
mod carry;
mod gemini;
mod history;
mod input;
pub mod limits;
mod mcp;
mod message;
mod names;
mod openai_chat;
mod openai_responses;
mod out;
mod outside;
mod parameters;
mod reader;
mod render;
mod repair;
mod shape;
mod steps;

pub use crate::model::{ModelId, ModelPattern};
pub(crate) use answers::{Answered, ExpansionAnswer, NUMBERED};
pub use arguments::Arguments;
pub use cache::{CacheRow, LongCacheRow};
pub(crate) use calls::WireCall;
pub use capability::{Capabilities, Capability, CapabilityRow, Support};
pub use gemini::GeminiParameters;
pub(crate) use history::HistoryCall;
pub use limits::{Limit, LimitRow, Limits, NameRule, RenderedFacts};
pub use message::Message;
pub(crate) use names::{NameTable, Named, NoFreeName};
pub use openai_chat::chat_tool;
pub(crate) use parameters::with_accepted_parameters;
pub(crate) use render::{MetaEntry, MetaRole, RenderInput, Rendered};
pub use render::{RenderOptions, ToolEntry};
pub use steps::PastCall;
pub(crate) use steps::{Step, StepResult};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::diagnostic::{InvalidValue, visible};
use crate::profile::{Arm, Delivery};

/// A provider's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
#[non_exhaustive]
pub enum Wire {
    /// OpenAI Chat Completions and compatible servers.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// The Model Context Protocol: `tools/list` and `tools/call`.
    Mcp,
    /// Bedrock's `Converse` and `ConverseStream`.
    BedrockConverse,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Self; 6] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Mcp, Self::BedrockConverse];

    /// The name in flags and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Whether the wire can carry an arm. Whether a model handles it well is a separate question:
    /// see [`Capabilities`].
    ///
    /// Over MCP, an arm that expands in place requires `notifications/tools/list_changed`. The
    /// 2026-07-28 protocol forbids it; only the gateway knows the protocol version.
    ///
    /// # Errors
    /// Returns [`WireError::Arm`] with the reason for [`Arm::Native`] if the API has no deferral,
    /// and for [`Arm::Append`] if no message can define a tool.
    pub fn supports(self, arm: Arm) -> Result<(), WireError> {
        let why = match arm.delivery() {
            Delivery::Native => self.facts().no_native,
            Delivery::Append => self.facts().no_append,
            Delivery::None | Delivery::InPlace | Delivery::InResult | Delivery::Bridge => None,
        };
        match why {
            Some(why) => Err(WireError::Arm { wire: self, arm, model: None, why: why.to_owned() }),
            None => Ok(()),
        }
    }

    /// Converts arguments that a model wrote by a tool's schema as sent to arguments of the tool;
    /// `None` if they are the same.
    pub(crate) fn restored(self, options: &RenderOptions, parameters: &Value, arguments: &Value) -> Option<Value> {
        self.api().restored(options, parameters, arguments)
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Wire {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::ALL.into_iter().find(|wire| wire.name() == text).ok_or_else(|| {
            InvalidValue::from(format!(
                "unknown wire `{}`: use openai-chat, openai-responses, anthropic, gemini, mcp or bedrock-converse",
                visible(text)
            ))
        })
    }
}

impl TryFrom<String> for Wire {
    type Error = InvalidValue;
    fn try_from(text: String) -> Result<Self, InvalidValue> {
        text.parse()
    }
}

impl From<Wire> for &'static str {
    fn from(wire: Wire) -> Self {
        wire.name()
    }
}

/// Why a wire operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A message does not have the wire's format.
    #[error("{wire}: {} must be {expected}, not {found}", quoted_path(.path))]
    Shape {
        /// The expected wire.
        wire: Wire,
        /// The JSON Pointer (RFC 6901) relative to the given value.
        path: String,
        /// What was expected there.
        expected: &'static str,
        /// What was found there.
        found: &'static str,
    },
    /// A message belongs to another API or is not a message.
    #[error("{wire} expects {expected}; this looks like {found}")]
    Foreign {
        /// The expected wire.
        wire: Wire,
        /// What the wire's messages look like.
        expected: &'static str,
        /// What was found.
        found: &'static str,
    },
    /// A message is not valid JSON.
    #[error("{wire}: the message is not valid JSON: {why}")]
    NotJson {
        /// The wire.
        wire: Wire,
        /// What is wrong with the text.
        why: String,
    },
    /// The arm is not supported.
    #[error("arm {arm} cannot be used on {wire}{}: {why}", with_model(.model.as_deref()))]
    Arm {
        /// The wire.
        wire: Wire,
        /// The arm.
        arm: Arm,
        /// The model, if it is the reason.
        model: Option<String>,
        /// The reason, and what to use instead.
        why: String,
    },
}

fn quoted_path(path: &str) -> String {
    if path.is_empty() { "the message".to_owned() } else { format!("`{}`", visible(path)) }
}

fn with_model(model: Option<&str>) -> String {
    model.map(|name| format!(" with {}", visible(name))).unwrap_or_default()
}
