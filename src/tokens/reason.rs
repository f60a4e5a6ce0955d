//! Why a figure is not verified.

use std::fmt;

use serde::{Serialize, Serializer};

/// A construct that no recorded request covers, so that the figure is extrapolated.
///
/// Displays as a short lower-case phrase, for a footnote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A schema keyword that is not in any recorded row (see
    /// [`unverified`](super::billing::unverified)).
    Keyword(&'static str),
    /// A member of a schema that is not a known keyword of JSON Schema.
    UnknownKeyword,
    /// A schema, or a part of one, of an invalid JSON type.
    Malformed,
    /// An enum value that is neither a string nor an integer.
    EnumValue,
    /// A default that is neither a string, a boolean nor `null`.
    DefaultValue,
    /// A default of an object.
    ObjectDefault,
    /// An enum among the variants of a union.
    EnumInUnion,
    /// All keys in alphabetical order although `required` implies another order of the properties,
    /// and the tokens depend on it: whether the client or a recorder sorted them is unknown.
    SortedKeys,
    /// `$defs` without a reference.
    UnusedDefinitions,
    /// Parameters that are a reference to an object with properties.
    RootRef,
    /// A cyclic reference, written as `any`.
    CyclicRef,
    /// A reference without a target, or into another document, written as `any`.
    MissingRef,
    /// Types nested too deeply, written as `any`.
    TooDeep,
    /// References whose expansion exceeds the budget, written as `any`.
    TooLarge,
    /// More tools than in any recorded row.
    ManyTools,
    /// No encoding is published for the model.
    AssumedEncoding,
    /// No recorded row has a model of this family.
    UnseenModel,
    /// A model snapshot of 2023, which billed tools by other rules.
    OldSnapshot,
    /// A `response_format` with a schema where the additional constant varies, or, in an estimate,
    /// any such format.
    ResponseFormat,
    /// A result whose call is not in the request.
    ToolResult,
    /// Calls without as many results.
    UnansweredCalls,
    /// An assistant text in the history of a model that reads channels.
    AssistantHistory,
    /// Calls of a reasoning model: the reasoning between them was billed and is either in the
    /// request or stored by the provider.
    LostReasoning,
    /// Calls on the Responses API, whose constant depends on how the item was sent back.
    CallsOnResponses,
    /// The old `functions`, which snapshots of 2023 billed by other rules.
    OldFunctions,
    /// A list of types in an object with descriptions.
    TypeList,
    /// A system text after another message.
    LateSystem,
    /// A reasoning mode that adds its own text.
    ReasoningMode,
    /// A reasoning item inside a running tool loop: billed as the tokens of the reply that created
    /// it, which are unknown.
    ReasoningItem,
    /// A reasoning item before the last user message, which most models drop.
    DroppedReasoning,
    /// A thought in the history, which some models read again.
    ThinkingBlock,
    /// A signature of a thought, whose tokens are unknown.
    ThoughtSignature,
    /// Tools that are declared but shown only after a search.
    Deferred,
    /// `tool_choice: "required"` on the Responses API.
    RequiredChoice,
    /// A model whose prompt for tool use is neither published nor recorded.
    ToolPrompt,
    /// An unknown host; hosts bill tools differently.
    UnknownHost,
    /// A message with a name.
    MessageName,
    /// A message with an unrecorded role.
    UnknownRole,
    /// A message member that is not in any row.
    UnknownMember,
    /// A `tool_choice` in an unrecorded form.
    ToolChoice,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyword(keyword) => return write!(f, "schema keyword `{keyword}`"),
            Self::UnknownKeyword => "unknown schema keyword",
            Self::Malformed => "malformed schema",
            Self::EnumValue => "enum value that is neither a string nor an integer",
            Self::DefaultValue => "default that is not a string, boolean or null",
            Self::ObjectDefault => "default of an object",
            Self::EnumInUnion => "enum in a union",
            Self::SortedKeys => "sorted keys, tokens depend on the order of properties",
            Self::UnusedDefinitions => "unused `$defs`",
            Self::RootRef => "parameters that are only a `$ref` or a union",
            Self::CyclicRef => "cyclic `$ref`, counted as `any`",
            Self::MissingRef => "unresolvable `$ref`, counted as `any`",
            Self::TooDeep => "types nested too deep, counted as `any`",
            Self::TooLarge => "`$ref`s that expand to megabytes, counted as `any`",
            Self::ManyTools => "more than 34 tools",
            Self::AssumedEncoding => "no encoding published for the model, o200k_base assumed",
            Self::UnseenModel => "no recorded request with a model of this family",
            Self::OldSnapshot => "model snapshot of 2023, which billed tools by other rules",
            Self::ResponseFormat => "`response_format` with a schema",
            Self::ToolResult => "result of a call that is not in the request",
            Self::UnansweredCalls => "calls without as many results",
            Self::AssistantHistory => "assistant text in the history",
            Self::LostReasoning => "calls of a reasoning model, whose reasoning between them may be billed",
            Self::CallsOnResponses => "calls on the Responses API",
            Self::OldFunctions => "the old `functions`",
            Self::TypeList => "list of types in a schema with descriptions",
            Self::LateSystem => "system text after another message",
            Self::ReasoningMode => "reasoning mode",
            Self::ReasoningItem => "reasoning item in a running tool loop, at least this much",
            Self::DroppedReasoning => "reasoning item before the last user message, counted as dropped",
            Self::ThinkingBlock => "thought in the history",
            Self::ThoughtSignature => "thought signature, at least this much",
            Self::Deferred => "deferred tools",
            Self::RequiredChoice => "`tool_choice` `required` on the Responses API",
            Self::ToolPrompt => "the model's prompt for tool use is unknown",
            Self::UnknownHost => "the host is not named, AI Studio assumed",
            Self::MessageName => "message with a name",
            Self::UnknownRole => "message with an unknown role",
            Self::UnknownMember => "message with an unknown member",
            Self::ToolChoice => "`tool_choice` of an unknown form",
        })
    }
}

impl Serialize for Reason {
    /// Serializes as its phrase.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
