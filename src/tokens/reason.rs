//! Why a figure is not verified.

use std::fmt;

use serde::{Serialize, Serializer};

/// Something in what was counted that no recorded request covers, so that the figure is a rule carried further.
///
/// Displays as a short phrase in lower case, for a footnote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A schema keyword that stands in no recorded row (see [`unverified`](super::billing::unverified)).
    Keyword(&'static str),
    /// A member of a schema that is no keyword of JSON Schema we know.
    UnknownKeyword,
    /// A schema, or a part of one, of a JSON type that it must not have.
    Malformed,
    /// An enum value that is neither text nor an integer.
    EnumValue,
    /// A default that is neither text, boolean nor `null`.
    DefaultValue,
    /// A default of an object.
    ObjectDefault,
    /// An enum among the variants of a union.
    EnumInUnion,
    /// Keys in alphabetical order throughout, where `required` tells another order of the properties, and tokens depend
    /// on it: who sorted them, the client or a recorder, cannot be seen.
    SortedKeys,
    /// `$defs` that nothing refers to.
    UnusedDefinitions,
    /// Parameters that are not themselves an object with properties but refer to one.
    RootRef,
    /// A reference in a circle, written as `any`.
    CyclicRef,
    /// A reference to nothing, or to another document, written as `any`.
    MissingRef,
    /// Types nested too deep, written as `any`.
    TooDeep,
    /// References that stand for more text than the budget, written as `any`.
    TooLarge,
    /// More tools than any recorded row has.
    ManyTools,
    /// No encoding is published for the model.
    AssumedEncoding,
    /// No recorded row has a model of this family.
    UnseenModel,
    /// A model snapshot of 2023, which billed tools by other rules.
    OldSnapshot,
    /// A `response_format` with a schema where the constant beside it varies, or, in an estimate, any such format.
    ResponseFormat,
    /// A result whose call is not in the request.
    ToolResult,
    /// Calls without as many results.
    UnansweredCalls,
    /// An assistant's text in the history of a model that reads channels.
    AssistantHistory,
    /// Calls of a model that reasons: the reasoning between them was billed, and stands in the request or is kept by the
    /// provider.
    LostReasoning,
    /// Calls on the Responses API, whose constant depends on how the item was sent back.
    CallsOnResponses,
    /// The old `functions`, which snapshots of 2023 billed by other rules.
    OldFunctions,
    /// A list of types in an object with descriptions.
    TypeList,
    /// A system text after another message.
    LateSystem,
    /// A mode of reasoning that adds a text of its own.
    ReasoningMode,
    /// A reasoning item inside a running tool loop: billed as the tokens of the reply that made it, which is not said.
    ReasoningItem,
    /// A reasoning item before the last user message, which most models drop.
    DroppedReasoning,
    /// A thought in the history, which some models read again.
    ThinkingBlock,
    /// A signature of a thought, whose tokens are not known.
    ThoughtSignature,
    /// Tools that are declared but shown only when they are searched for.
    Deferred,
    /// `tool_choice: "required"` on the Responses API.
    RequiredChoice,
    /// A model whose prompt for tool use is not published and was never recorded.
    ToolPrompt,
    /// The host is not known, and hosts bill tools differently.
    UnknownHost,
    /// A message with a name.
    MessageName,
    /// A message of a role that no row has.
    UnknownRole,
    /// A member of a message that no row has.
    UnknownMember,
    /// A `tool_choice` of a form that no row has.
    ToolChoice,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyword(keyword) => return write!(f, "schema keyword `{keyword}`"),
            Self::UnknownKeyword => "unknown schema keyword",
            Self::Malformed => "malformed schema",
            Self::EnumValue => "enum value that is neither text nor an integer",
            Self::DefaultValue => "default that is neither text, boolean nor null",
            Self::ObjectDefault => "default of an object",
            Self::EnumInUnion => "enum in a union",
            Self::SortedKeys => "sorted keys, tokens depend on the order of properties",
            Self::UnusedDefinitions => "unused `$defs`",
            Self::RootRef => "parameters that are only a `$ref` or a union",
            Self::CyclicRef => "`$ref` in a circle, counted as `any`",
            Self::MissingRef => "`$ref` to nothing here, counted as `any`",
            Self::TooDeep => "types nested too deep, counted as `any`",
            Self::TooLarge => "`$ref`s that stand for megabytes, counted as `any`",
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
            Self::ReasoningMode => "mode of reasoning",
            Self::ReasoningItem => "reasoning item in a running tool loop, at least this much",
            Self::DroppedReasoning => "reasoning item before the last user message, counted as dropped",
            Self::ThinkingBlock => "thought in the history",
            Self::ThoughtSignature => "thought signature, at least this much",
            Self::Deferred => "deferred tools",
            Self::RequiredChoice => "`tool_choice` `required` on the Responses API",
            Self::ToolPrompt => "the model's prompt for tool use is unknown",
            Self::UnknownHost => "the host is not named, AI Studio assumed",
            Self::MessageName => "message with a name",
            Self::UnknownRole => "message of an unknown role",
            Self::UnknownMember => "message with an unknown member",
            Self::ToolChoice => "`tool_choice` of an unknown form",
        })
    }
}

impl Serialize for Reason {
    /// As its phrase.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
