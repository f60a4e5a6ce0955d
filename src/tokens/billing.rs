//! What OpenAI adds to the encoded texts: the constants, by model family and API.
//!
//! Source of every number: fitted on recorded API traffic, requests with the `prompt_tokens` that the API itself
//! reported. All are in tokens.

use std::collections::BTreeSet;
use std::fmt;

use super::coverage::uncovered;
use super::reason::Reason;
use super::render::{Block, Function};

/// Once a request.
pub const PER_REQUEST: usize = 3;
/// Around each message: three, and one for its role.
pub const PER_MESSAGE: usize = 4;
/// For the name of a message, beside the name itself.
pub const PER_MESSAGE_NAME: usize = 1;
/// For naming one of `tools` in `tool_choice` (legacy and reasoning models), beside the name itself.
pub const NAMED_TOOL: usize = 7;
/// For naming one of `functions` in `function_call` (the same), beside the name itself.
pub const NAMED_FUNCTION: usize = 4;
/// For `tool_choice: "none"` (the same).
pub const NO_TOOL: usize = 1;
/// For each tool call in a message, beside its name and arguments. A guess: no clean row has one.
pub const PER_TOOL_CALL: usize = 3;

/// Which of OpenAI's two request forms is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// Chat Completions.
    Chat,
    /// Responses.
    Responses,
}

impl Api {
    /// `chat` or `responses`, as the rows and the meters write it.
    #[must_use]
    pub fn name(self) -> &'static str {
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

/// Models that are billed alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Family {
    /// gpt-3.5, gpt-4, 4o, 4.1, and every name not known otherwise.
    Legacy,
    /// The o-series: as legacy with tools, one token less without.
    Reasoning,
    /// gpt-5 to 5.6, mini and nano too.
    Gpt5,
}

impl Family {
    /// The family of a model.
    #[must_use]
    pub fn of(model: &str) -> Self {
        if model.starts_with("gpt-5") {
            Self::Gpt5
        } else if ["o1", "o3", "o4"].iter().any(|p| model.starts_with(p)) {
            Self::Reasoning
        } else {
            Self::Legacy
        }
    }

    /// What a request costs before its messages and tools.
    #[must_use]
    pub fn per_request(self, has_tools: bool) -> usize {
        let one_less = self == Self::Gpt5 || (self == Self::Reasoning && !has_tools);
        PER_REQUEST - usize::from(one_less)
    }

    /// What stands around the rendered tools.
    ///
    /// `first_described` is whether the first tool has a description. Without one gpt-5 is billed one token less: the
    /// design page says so of the Responses API, and all 18 such rows, Chat ones included, agree.
    #[must_use]
    pub fn around_tools(self, api: Api, has_system: bool, first_described: bool) -> usize {
        match (self, api) {
            (Self::Gpt5, Api::Chat) => 91 - usize::from(!first_described),
            (Self::Gpt5, Api::Responses) => 9 - usize::from(!first_described),
            (Self::Legacy | Self::Reasoning, Api::Responses) => 3,
            (Self::Legacy | Self::Reasoning, Api::Chat) if has_system => 5,
            (Self::Legacy | Self::Reasoning, Api::Chat) => 9,
        }
    }

    /// Whether, beside tools, the first system text counts with a trailing newline.
    #[must_use]
    pub fn ends_system_text(self, api: Api) -> bool {
        self != Self::Gpt5 && api == Api::Chat
    }

    /// Whether `tool_choice` costs anything.
    #[must_use]
    pub fn bills_tool_choice(self) -> bool {
        self != Self::Gpt5
    }
}

/// What about a model no recorded row covers, with tools or without.
#[must_use]
pub fn unverified_model(model: &str, has_tools: bool) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if super::encoding::Encoding::for_model(model).1 {
        reasons.push(Reason::AssumedEncoding);
    } else if !SEEN_MODELS.iter().any(|seen| model.starts_with(seen)) {
        reasons.push(Reason::UnseenModel);
    }
    if has_tools && SNAPSHOTS_OF_2023.iter().any(|old| model.ends_with(old)) {
        reasons.push(Reason::OldSnapshot);
    }
    reasons
}

/// Model name prefixes in `corpora/tokens/openai.jsonl`.
const SEEN_MODELS: [&str; 7] = ["gpt-3.5-turbo", "gpt-35-turbo", "gpt-4-", "gpt-4o", "gpt-4.1", "gpt-5", "o3-mini"];
/// Endings of the snapshots before the rules of today; the rows of that time fit to about a half.
const SNAPSHOTS_OF_2023: [&str; 3] = ["-0301", "-0314", "-0613"];

/// What of these definitions no recorded row covers: sorted, each once. Empty means that the rendered block is of a
/// kind that was measured.
///
/// Covered is what the clean rows hold: `type` (lists too), `properties`, `required`, `title`, `description`, `enum` of
/// texts and integers, `default` of text, boolean or `null`, `items`, `anyOf`, `$ref` into used `$defs`, `format` in a
/// union, `strict`, boolean `additionalProperties`, `$schema`; at most 21 tools. Everything else is named: bounds,
/// patterns, `examples`, `const`, `oneOf`, `allOf`, `additionalProperties` as a schema, unused `$defs`, and whatever
/// rendering had to cut. A property that is *called* `pattern` is not the keyword.
#[must_use]
pub fn unverified(functions: &[Function<'_>]) -> Vec<Reason> {
    unverified_block(functions, &Block::of(functions))
}

/// The same where the block is rendered already.
#[must_use]
pub fn unverified_block(functions: &[Function<'_>], block: &Block) -> Vec<Reason> {
    let mut reasons: BTreeSet<_> = uncovered(functions);
    reasons.extend(block.reasons.iter().copied());
    reasons.into_iter().collect()
}
