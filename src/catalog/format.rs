//! Formats of tool lists.

use std::fmt;
use std::str::FromStr;

use crate::diagnostic::{InvalidValue, visible};

/// The format of a tool list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions: `{"type":"function","function":{"name",…,"parameters"}}`.
    OpenAiChat,
    /// OpenAI Responses, and the older `functions` array:
    /// `{"type":"function","name",…,"parameters"}`.
    OpenAiResponses,
    /// Anthropic Messages: `{"name",…,"input_schema"}`.
    Anthropic,
    /// MCP `tools/list`: `{"name",…,"inputSchema"}`.
    Mcp,
    /// Gemini: `{"functionDeclarations":[{"name",…,"parametersJsonSchema"}]}`, or `parameters` in
    /// its OpenAPI subset.
    Gemini,
    /// Bedrock Converse: `{"toolSpec":{"name",…,"inputSchema":{"json"}}}`.
    BedrockConverse,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Mcp, Self::Gemini, Self::BedrockConverse];

    /// The name in flags and files.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Mcp => "mcp",
            Self::Gemini => "gemini",
            Self::BedrockConverse => "bedrock-converse",
        }
    }

    /// The keys under which a tool of this format may hold its schema. The first one present is
    /// used. The first one is also the one written.
    pub(super) fn schema_keys(self) -> &'static [&'static str] {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => &["parameters"],
            Self::Anthropic => &["input_schema"],
            // In Bedrock's, the schema is below: `{"json": …}`.
            Self::Mcp | Self::BedrockConverse => &["inputSchema"],
            // The JSON form of a protobuf message allows both spellings of a key.
            Self::Gemini => &["parametersJsonSchema", "parameters_json_schema", "parameters"],
        }
    }

    /// An example of a tool in this format, for messages.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::OpenAiChat => r#"a tool looks like {"type":"function","function":{"name":"…","parameters":{…}}}"#,
            Self::OpenAiResponses => r#"a tool looks like {"type":"function","name":"…","parameters":{…}}"#,
            Self::Anthropic => r#"a tool looks like {"name":"…","input_schema":{…}}"#,
            Self::Mcp => r#"a tool looks like {"name":"…","inputSchema":{…}}"#,
            Self::Gemini => r#"a tool looks like {"functionDeclarations":[{"name":"…","parametersJsonSchema":{…}}]}"#,
            Self::BedrockConverse => r#"a tool looks like {"toolSpec":{"name":"…","inputSchema":{"json":{…}}}}"#,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::ALL.into_iter().find(|f| f.name() == text).ok_or_else(|| {
            InvalidValue::from(format!(
                "unknown format `{}`: use openai-chat, openai-responses, anthropic, mcp, gemini or bedrock-converse",
                visible(text)
            ))
        })
    }
}
