//! The constants that OpenAI adds to the encoded texts, by model family and API.
//!
//! Source of every number: fitted on recorded requests and the `prompt_tokens` that the API
//! reported. All are in tokens.

use std::collections::BTreeSet;
use std::fmt;

use super::coverage::uncovered;
use super::reason::Reason;
use super::render::{Block, Function};
use crate::model::{ModelId, Version};

/// Per request.
pub(crate) const PER_REQUEST: usize = 3;
/// Per message: three, and one for its role.
pub(crate) const PER_MESSAGE: usize = 4;
/// For the name of a message, in addition to the name itself.
pub(crate) const PER_MESSAGE_NAME: usize = 1;
/// For naming one of `tools` in `tool_choice` (before gpt-5), in addition to the name itself.
pub(crate) const NAMED_TOOL: usize = 7;
/// For naming one of `functions` in `function_call` (before gpt-5), in addition to the name itself.
pub(crate) const NAMED_FUNCTION: usize = 4;
/// For `tool_choice: "none"` (before gpt-5).
pub(crate) const NO_TOOL: usize = 1;
/// For each assistant text in the history of gpt-5 and o4, which names its channel.
pub(crate) const CHANNEL: usize = 2;

/// The billed request form of OpenAI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Api {
    /// Chat Completions.
    Chat,
    /// Responses.
    Responses,
}

impl Api {
    /// `chat` or `responses`, as in the rows and meter names.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Models with the same billing rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub(crate) enum Family {
    /// gpt-3.5, gpt-4, 4o, 4.1, and every unknown name.
    Legacy,
    /// o1 and o3: as legacy with tools, one token less without.
    Reasoning,
    /// o4: as gpt-5, with smaller constants around tools.
    O4,
    /// gpt-5 to 5.3, including mini and nano.
    Gpt5,
    /// gpt-5.4 and later: as gpt-5, except for the cost of calls on the Responses API.
    Gpt54,
}

impl Family {
    /// The family of a model, in the spelling of any host.
    #[must_use]
    pub(crate) fn of(model: &str) -> Self {
        Self::of_id(&ModelId::parse(model))
    }

    pub(super) fn of_id(id: &ModelId) -> Self {
        match id.family.as_deref() {
            Some("gpt" | "codex") if id.is_since(5, 4) => Self::Gpt54,
            Some("gpt" | "codex") if id.is_since(5, 0) => Self::Gpt5,
            Some("o") if id.is_since(4, 0) => Self::O4,
            Some("o") => Self::Reasoning,
            _ => Self::Legacy,
        }
    }

    /// Whether the model reads its prompt in the format with channels (gpt-5 and o4).
    #[must_use]
    pub(crate) fn has_channels(self) -> bool {
        matches!(self, Self::O4 | Self::Gpt5 | Self::Gpt54)
    }

    /// The cost of a request before its messages and tools.
    #[must_use]
    pub(crate) fn per_request(self, has_tools: bool) -> usize {
        let one_less = self.has_channels() || (self == Self::Reasoning && !has_tools);
        PER_REQUEST - usize::from(one_less)
    }

    /// The cost around the rendered tools, and around the system text if both are one text.
    ///
    /// `first_described` is whether the first tool has a description. Without one, models with
    /// channels are billed one token less.
    #[must_use]
    pub(crate) fn around_tools(self, api: Api, has_system: bool, first_described: bool) -> usize {
        let around = match (self, api) {
            (Self::Gpt5 | Self::Gpt54, Api::Chat) if has_system => 85,
            (Self::Gpt5 | Self::Gpt54, Api::Chat) => 91,
            (Self::Gpt5 | Self::Gpt54, Api::Responses) => 9,
            (Self::O4, Api::Chat) if has_system => 3,
            (Self::O4, Api::Chat) => 9,
            (Self::O4, Api::Responses) => 6,
            (Self::Legacy | Self::Reasoning, Api::Responses) => 3,
            (Self::Legacy | Self::Reasoning, Api::Chat) if has_system => 5,
            (Self::Legacy | Self::Reasoning, Api::Chat) => 9,
        };
        around - usize::from(self.has_channels() && !first_described)
    }

    /// Whether the model reads the first system text and the tools as one text.
    #[must_use]
    pub(crate) fn joins_system_text(self, api: Api) -> bool {
        self.has_channels() && api == Api::Chat
    }

    /// Whether the first system text counts with a trailing newline beside tools or a response
    /// format.
    #[must_use]
    pub(crate) fn ends_system_text(self, api: Api) -> bool {
        !self.has_channels() && api == Api::Chat
    }

    /// The cost of a call and its result in addition to their texts, if the model reads calls one
    /// by one. `completed`: a single call that was sent back with its status.
    #[must_use]
    pub(crate) fn per_call(self, api: Api, completed: bool) -> usize {
        match (self, api) {
            (Self::Legacy | Self::Reasoning, Api::Chat) => 12,
            (Self::O4 | Self::Gpt5 | Self::Gpt54, Api::Chat) => 18,
            (Self::Legacy | Self::Reasoning, Api::Responses) => 10 + 3 * usize::from(completed),
            (Self::O4 | Self::Gpt5, Api::Responses) => 16,
            (Self::Gpt54, Api::Responses) => 19,
        }
    }

    /// The cost of several calls of one message on the Chat API in addition to their texts: the
    /// model reads them as one call of `multi_tool_use.parallel`.
    #[must_use]
    pub(crate) fn per_parallel_calls(self) -> usize {
        if self.has_channels() { 26 } else { 20 }
    }

    /// The cost of a `response_format` with a schema in addition to its text.
    #[must_use]
    pub(crate) fn around_format(self, api: Api, has_tools: bool, has_system: bool) -> usize {
        match api {
            Api::Responses if self.has_channels() => 0,
            Api::Responses => 1,
            Api::Chat if self.has_channels() => 4,
            Api::Chat if has_tools => 1,
            Api::Chat if has_system => 4,
            Api::Chat => 7,
        }
    }

    /// The cost of `tool_choice: "required"`.
    #[must_use]
    pub(crate) fn required_choice(self, api: Api, has_system: bool) -> usize {
        match api {
            Api::Responses if !self.has_channels() => 9 - usize::from(has_system),
            _ => 0,
        }
    }

    /// Whether `tool_choice` is billed.
    #[must_use]
    pub(crate) fn bills_tool_choice(self) -> bool {
        !self.has_channels()
    }
}

/// The reasons why figures for a model are unverified, with or without tools.
#[must_use]
pub(crate) fn unverified_model(model: &str, has_tools: bool) -> Vec<Reason> {
    let id = ModelId::parse(model);
    let mut reasons = Vec::new();
    if super::encoding::Encoding::of_id(&id).1 {
        reasons.push(Reason::AssumedEncoding);
    } else if !seen(&id) {
        reasons.push(Reason::UnseenModel);
    }
    if is_of_march_2023(model) || (has_tools && is_of_2023(model)) {
        reasons.push(Reason::OldSnapshot);
    }
    reasons
}

/// Whether recorded requests cover a model of this kind: gpt-3.5 to gpt-5.6, o3-mini and o4-mini,
/// without unseen variants.
fn seen(id: &ModelId) -> bool {
    const VARIANTS: [&str; 6] = ["4o", "preview", "codex", "sol", "terra", "ft"];
    let Some(version) = id.version else { return false };
    let is_seen = match id.family.as_deref() {
        Some("gpt") => version <= Version::new(5, 6),
        Some("o") => version > Version::new(2, 0) && version <= Version::new(4, 0),
        _ => false,
    };
    is_seen && id.variants.iter().all(|word| VARIANTS.contains(&word.as_str()))
}

/// Suffixes of the snapshots that rendered tools by older rules; about half of the rows of that
/// time match.
pub(super) fn is_of_2023(model: &str) -> bool {
    ["-0301", "-0314", "-0613"].iter().any(|old| model.ends_with(old))
}

/// The first snapshot of gpt-3.5-turbo, which billed messages by older rules too.
fn is_of_march_2023(model: &str) -> bool {
    model.ends_with("-0301")
}

/// The reasons why the figures for these definitions are unverified, sorted and without duplicates.
/// Empty if recorded requests cover every construct of the rendered block.
///
/// The recorded rows cover `type` (lists too), `properties`, `required`, `title`, `description`,
/// `enum` of strings and integers, `default` of string, boolean or `null`, `items`, `anyOf`, `$ref`
/// into used `$defs`, `format` in a union, `strict`, boolean `additionalProperties`, `$schema`; at
/// most 21 tools. Everything else is a reason: bounds, patterns, `examples`, `const`, `oneOf`,
/// `allOf`, `additionalProperties` as a schema, unused `$defs`, and everything that rendering had
/// to cut. A property *named* `pattern` is not the keyword.
#[must_use]
pub fn unverified(functions: &[Function<'_>]) -> Vec<Reason> {
    unverified_block(functions, &Block::of(functions))
}

/// The same for a block that is already rendered.
#[must_use]
pub(crate) fn unverified_block(functions: &[Function<'_>], block: &Block) -> Vec<Reason> {
    let mut reasons: BTreeSet<_> = uncovered(functions);
    reasons.extend(block.reasons.iter().copied());
    reasons.into_iter().collect()
}
