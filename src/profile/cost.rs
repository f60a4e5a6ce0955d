//! Estimates the cost of tool arrays and sessions without a vocabulary.

use serde::{Deserialize, Serialize};

use super::session_bill::CacheRules;
use super::workload::{Shape, Workload};
use super::{Arm, Assignment, Delivery, Expanded, Presentation, Tier};
use crate::catalog::{Catalog, Tool};

/// Billed tokens per thousand tokens that OpenAI would bill for the same tools in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenFactors {
    /// For tools in an array.
    pub array: u32,
    /// For tools as JSON in an answer; 1,250 if a text token costs the same as OpenAI's.
    pub json: u32,
}

impl Default for TokenFactors {
    /// OpenAI's factors. JSON takes a quarter more tokens than an array: 12,134 against 9,620 for
    /// the 49 Excel tools of the profile `excel-original`.
    fn default() -> Self {
        Self { array: 1_000, json: OPENAI_JSON }
    }
}

/// [`TokenFactors::json`] if a text token costs the same as OpenAI's.
const OPENAI_JSON: u32 = 1_250;

/// The cost of an arm, in estimated tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) arm: Arm,
    /// The tool array.
    pub(super) first: usize,
    /// The number of its tools, including meta-tools.
    pub(super) entries: usize,
    /// The input of a whole session, in tokens at the price of input.
    pub(super) session: usize,
    /// The same if the array is a fifth smaller than estimated but still cached.
    best: usize,
    /// The same if the array is not cached although the estimate says it is.
    worst: usize,
    /// The same if every expansion returns twice the estimate, because a model may expand larger
    /// categories than average. Without this, 2 of 1,120 sessions over 20 real lists had many
    /// expansions and cost more than `full`.
    expansive: usize,
    /// For `full`: the same if every word of the tools is one token. For two synthetic tools whose
    /// descriptions consist of 300 long, common words each, `full` is billed at three fifths of its
    /// estimate, but their folded form at nearly the full estimate.
    plain: usize,
}

impl Candidate {
    /// Whether the arm is expected to cost a twentieth less than `full`, and not more even if the
    /// estimates are off.
    pub(super) fn pays(&self, full: &Self) -> bool {
        let even_then = [(self.worst, full.best), (self.expansive, full.session), (self.session, full.plain)];
        let gains = self.session as u128 * 20 <= full.session as u128 * 19;
        gains && even_then.iter().all(|(own, full)| own <= full)
    }
}

/// A minimum that a request still reaches if its tokens are overestimated by two fifths. A
/// session's price can depend on whether it is cached at all.
fn longer(minimum: usize) -> usize {
    minimum.saturating_mul(7) / 5
}

/// A minimum that a request stays below even if its tokens are underestimated by two fifths.
fn shorter(minimum: usize) -> usize {
    minimum.saturating_mul(5) / 7
}

/// Estimates the cost of arms for one catalog.
pub(super) struct CostModel<'s> {
    pub(super) catalog: &'s Catalog,
    pub(super) assignment: &'s Assignment,
    pub(super) cache: CacheRules,
    pub(super) tokens: TokenFactors,
    pub(super) workload: Workload,
}

/// The cost of an `expand_tools` call and its answer without the definitions, in tokens: 20 to 100
/// depending on the provider.
const AROUND_EXPANSION: usize = 60;

/// The maximum that a provider adds to a request with tools, in tokens: Anthropic's prompt for tool
/// use has 264 to 804. It matters most without a cache.
const TOOL_PROMPT: usize = 500;

impl CostModel<'_> {
    pub(super) fn candidate(&self, arm: Arm) -> Candidate {
        let presentation = Presentation::new(self.catalog, self.assignment, arm);
        let first = scaled(estimate(self.catalog, &presentation, self.assignment), self.tokens.array);
        let plan = presentation.plan(self.catalog, self.assignment, &Expanded::default());
        let entries = presentation.array(self.catalog, &plan).count();
        let shape = Shape { block: first, reply: self.reply(&presentation), categories: presentation.deferred().len() };
        let cost =
            |block, minimum| self.workload.session_cost(Shape { block, ..shape }, CacheRules { minimum, ..self.cache });
        let minimum = self.cache.minimum;
        let session = cost(first, minimum);
        let less = first - first / 5;
        let low = [cost(less, minimum), cost(less, shorter(minimum)), cost(first, shorter(minimum))];
        let best = low.into_iter().fold(session, usize::min);
        let Workload { requests, system_tokens, step_tokens, .. } = self.workload;
        let longest = first.saturating_add(system_tokens).saturating_add(requests.saturating_mul(step_tokens));
        let unsaid = if longest < longer(minimum) { TOOL_PROMPT } else { 0 };
        let worst = session.max(cost(first + unsaid, longer(minimum)));
        let expansive = self.workload.session_cost(Shape { reply: shape.reply * 2, ..shape }, self.cache);
        let plain = if arm == Arm::Full { cost(first.min(self.tokens_as_words()), minimum) } else { session };
        Candidate { arm, first, entries, session, best, worst, expansive, plain }
    }

    /// The size of an expansion: the average over folded tools of the size of their category.
    fn reply(&self, presentation: &Presentation) -> usize {
        let (mut sum, mut count) = (0, 0);
        let delivery = presentation.arm().delivery();
        for entry in presentation.deferred() {
            let tools = entry.tools.iter().filter_map(|at| self.catalog.at(*at));
            sum += entry.tools.len() * tools.map(|tool| self.delivered_tokens(tool, delivery)).sum::<usize>();
            count += entry.tools.len();
        }
        sum / count.max(1) + AROUND_EXPANSION
    }

    /// All tools in an array, if every word of theirs were one token: for descriptions, at the
    /// price of a text token.
    fn tokens_as_words(&self) -> usize {
        let mut sum = 0;
        for (tool, _) in self.catalog.iter().zip(self.assignment.iter()).filter(|(_, own)| own.tier != Tier::Hidden) {
            let text = plain_tokens(tool.name().as_str()) + plain_tokens(tool.description());
            sum += scaled(text, self.tokens.json) * 1_000 / OPENAI_JSON as usize
                + scaled(plain_tokens(tool.parameters_text()), self.tokens.array);
        }
        sum
    }

    /// A tool as an expansion delivers it: as JSON in an answer, or as the provider bills a
    /// definition.
    fn delivered_tokens(&self, tool: &Tool, delivery: Delivery) -> usize {
        let parts = [tool.name().as_str(), tool.description(), tool.parameters_text()];
        if matches!(delivery, Delivery::Native | Delivery::Append) {
            let [name, description, parameters] = parts;
            return scaled(estimated_tokens(name, description, parameters), self.tokens.array);
        }
        scaled(definition_tokens(tool), self.tokens.json) * 1_000 / OPENAI_JSON as usize
    }

    /// The assumed session, in words.
    pub(super) fn span(&self) -> String {
        let Workload { requests, expansions, .. } = self.workload;
        format!("{requests} requests with {expansions} expansions, caching counted")
    }

    /// Why an arm does not save enough.
    pub(super) fn why_not(&self, candidate: &Candidate, full: &Candidate) -> String {
        let Candidate { arm, first, session, .. } = candidate;
        let minimum = self.cache.minimum;
        let under = if self.cache.matters() && *first < longer(minimum) && full.first >= shorter(minimum) {
            format!("; with about {first} tokens of tools a request may stay under the {minimum} that are cached")
        } else {
            String::new()
        };
        let close = if *session < full.session { ": too close for an estimate" } else { "" };
        format!("{arm} would cost about {session} tokens, full {}, over {}{close}{under}", full.session, self.span())
    }
}

/// Whether a word of a schema's text is mostly absent from its rendered form.
fn is_cheap(word: &[u8]) -> bool {
    matches!(
        word,
        b"type"
            | b"properties"
            | b"description"
            | b"required"
            | b"items"
            | b"enum"
            | b"additionalProperties"
            | b"anyOf"
            | b"oneOf"
            | b"allOf"
            | b"default"
            | b"title"
            | b"object"
            | b"true"
            | b"false"
    )
}

/// Estimates the tokens of the first turn without a vocabulary: words, plus one token for every
/// seven letters, plus characters beyond ASCII, weighted by position.
///
/// Fitted on the billed tokens of all arms for the 22 catalogs of the corpora: within a fifth for
/// nine arms in ten.
#[must_use]
pub(crate) fn estimate(catalog: &Catalog, presentation: &Presentation, assignment: &Assignment) -> usize {
    let plan = presentation.plan(catalog, assignment, &Expanded::default());
    let native = presentation.arm().delivery() == Delivery::Native;
    let in_prompt = presentation.array(catalog, &plan).filter(|entry| !(native && entry.is_deferred()));
    in_prompt
        .map(|entry| estimated_tokens(entry.tool().name().as_str(), entry.description(), entry.parameters_text()))
        .sum()
}

/// Multiplies tokens by a factor in thousandths.
fn scaled(tokens: usize, factor: u32) -> usize {
    tokens.saturating_mul(factor as usize) / 1_000
}

/// The estimate for one tool.
fn estimated_tokens(name: &str, description: &str, parameters: &str) -> usize {
    let tenths = text_cost(name, 13) + text_cost(description, 13) + text_cost(parameters, 11);
    (tenths / 10).saturating_sub(4)
}

/// Estimates the tokens of a tool's definition in an answer.
pub(super) fn definition_tokens(tool: &Tool) -> usize {
    json_tokens([tool.name().as_str(), tool.description(), tool.parameters_text()])
}

/// Estimates the tokens of a text in an answer.
pub(super) fn text_tokens(text: &str) -> usize {
    json_cost(text, 80, 127).div_ceil(100)
}

/// Estimates the tokens of a definition as JSON in an answer, from its name, description and
/// parameters.
///
/// Fitted on the 891 tools of 21 lists counted with o200k: half of the tools are within 3 %, nine
/// in ten within 7 %, and every list within 8 %.
fn json_tokens([name, description, parameters]: [&str; 3]) -> usize {
    (json_cost(name, 80, 127) + json_cost(description, 80, 127) + json_cost(parameters, 72, 139)) / 100 + 8
}

/// The cost of a text in hundredths of a token: words, plus one for every seven letters, runs of
/// punctuation, and characters beyond ASCII.
fn json_cost(text: &str, word: usize, punctuation: usize) -> usize {
    let (mut cost, mut letters, mut in_run) = (0, 0_usize, false);
    for byte in text.bytes() {
        let alphanumeric = byte.is_ascii_alphanumeric();
        if alphanumeric {
            letters += 1;
        } else {
            cost += word * letters.div_ceil(7);
            letters = 0;
        }
        let in_punctuation = !alphanumeric && byte != b' ' && byte.is_ascii();
        if in_punctuation && !in_run {
            cost += punctuation;
        }
        in_run = in_punctuation;
        // The first byte of a character beyond ASCII.
        if byte >= 0xC0 {
            cost += 150;
        }
    }
    cost + word * letters.div_ceil(7)
}

/// The tokens of a text at one per word, plus one for every two characters beyond ASCII.
fn plain_tokens(text: &str) -> usize {
    let words = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.count() + text.bytes().filter(|byte| *byte >= 0xC0).count().div_ceil(2)
}

/// The cost of a text in tenths of a token, with `word` tenths for a word that is not a schema
/// keyword.
///
/// Makes a single pass over the bytes, because startup scans several hundred kilobytes of schemas
/// several times.
fn text_cost(text: &str, word: usize) -> usize {
    let mut tenths = 0;
    let mut start = 0;
    let cost = |run: &[u8]| match run {
        [] => 0,
        run if is_cheap(run) => 12,
        run => word * run.len().div_ceil(7),
    };
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphanumeric() {
            continue;
        }
        tenths += cost(bytes.get(start..at).unwrap_or_default());
        start = at + 1;
        // The first byte of a character beyond ASCII.
        if *byte >= 0xC0 {
            tenths += 10;
        }
    }
    tenths + cost(bytes.get(start..).unwrap_or_default())
}
