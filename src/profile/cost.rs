//! Estimates the cost of tool arrays and sessions without a vocabulary.

use serde::{Deserialize, Serialize};

use super::session_bill::CacheRules;
use super::workload::{Shape, Workload};
use super::{Arm, Assignment, Delivery, Expanded, Folded, Presentation};
use crate::catalog::{Catalog, Tool};

/// Billed tokens per thousand tokens that OpenAI would bill for the same tools in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenFactors {
    /// For tools in an array.
    pub array: u32,
    /// For tools as JSON in an answer; 1,250 if a text token costs the same as OpenAI's.
    pub json: u32,
    /// The tokens that a request with tools costs in addition to them.
    #[serde(default)]
    pub prompt: u32,
}

impl Default for TokenFactors {
    /// OpenAI's factors. JSON takes a quarter more tokens than an array: 12,134 against 9,620 for
    /// the 49 Excel tools of the profile `excel-original`.
    fn default() -> Self {
        Self { array: 1_000, json: OPENAI_JSON, prompt: 0 }
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
    /// The expected input of a whole session, in tokens at the price of input.
    pub(super) session: usize,
    /// The same if the tools have each of the [`ACTUAL`] sizes.
    sessions: [usize; ACTUAL.len()],
    /// The sizes of a session's requests.
    shape: Shape,
}

impl Candidate {
    /// Whether the session is expected to cost at least 2 % less than with `full`, or 5 % if tools
    /// are looked up: less than that is within the error of the estimates.
    pub(super) fn pays(&self, full: &Self) -> bool {
        let share = |(own, full): (&usize, &usize)| *own as f64 / (*full).max(1) as f64;
        let shares: f64 = self.sessions.iter().zip(&full.sessions).map(share).sum();
        let error = if self.shape.lookups < 1_000 { 0.02 } else { 0.05 };
        shares <= (1.0 - error) * ACTUAL.len() as f64
    }
}

/// The sizes of tools, in percent of their estimate, over which the cost is averaged: whether a
/// session is cached at all depends on them.
const ACTUAL: [usize; 3] = [70, 100, 140];

/// Estimates the cost of arms for one catalog.
pub(super) struct CostModel<'s> {
    pub(super) catalog: &'s Catalog,
    pub(super) assignment: &'s Assignment,
    pub(super) cache: CacheRules,
    pub(super) tokens: TokenFactors,
    pub(super) workload: Workload,
}

/// The cost of a look-up and its answer without the definition, in tokens: 20 to 100 depending on
/// the provider.
const AROUND_LOOKUP: usize = 60;

impl CostModel<'_> {
    pub(super) fn candidate(&self, arm: Arm) -> Candidate {
        let presentation = Presentation::new(self.catalog, self.assignment, arm);
        let first = scaled(estimate(self.catalog, &presentation, self.assignment), self.tokens.array);
        let plan = presentation.plan(self.catalog, self.assignment, &Expanded::default());
        let entries = presentation.array(self.catalog, &plan).count();
        let shape = self.shape(first, &presentation);
        let sessions = ACTUAL.map(|share| {
            let block = (first.saturating_mul(share) / 100).saturating_add(self.tokens.prompt as usize);
            self.workload.expected_cost(Shape { block, ..shape }, self.cache)
        });
        let [_, session, _] = sessions;
        Candidate { arm, first, entries, session, sessions, shape }
    }

    /// The sizes of a session's requests. A folded tool is as likely to be used as any other.
    fn shape(&self, block: usize, presentation: &Presentation) -> Shape {
        let (mut tools, mut rates, mut delivered) = (0, 0, 0_usize);
        for index in presentation.deferred.iter().flat_map(|entry| &entry.tools) {
            let Some(tool) = self.catalog.at(*index) else { continue };
            let rate = self.workload.lookups.of_tool(presentation, self.catalog, *index) as usize;
            tools += 1;
            rates += rate;
            delivered += rate.saturating_mul(self.delivered_tokens(tool, presentation.arm().delivery()));
        }
        let used = self.workload.used_tools.min(tools);
        let lookups = used.saturating_mul(rates) / tools.max(1);
        Shape { block, reply: delivered / rates.max(1) + AROUND_LOOKUP, tools, lookups }
    }

    /// The maximum number of look-ups with which an arm costs no more than `full`, and whether more
    /// are possible.
    pub(super) fn break_even(&self, candidate: &Candidate, full: &Candidate) -> Option<(usize, bool)> {
        let most = self.workload.expected_cost(full.shape, self.cache);
        let lookups = self.workload.break_even(candidate.shape, most, self.cache)?;
        Some((lookups, lookups < candidate.shape.tools))
    }

    /// A tool as a look-up delivers it: as JSON in an answer, or as the provider bills it.
    fn delivered_tokens(&self, tool: &Tool, delivery: Delivery) -> usize {
        if matches!(delivery, Delivery::Native | Delivery::Append) {
            return scaled(full_tokens(tool), self.tokens.array);
        }
        scaled(definition_tokens(tool), self.tokens.json) * 1_000 / OPENAI_JSON as usize
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
    let in_prompt = presentation.array(catalog, &plan).filter(|entry| !(native && entry.deferred));
    in_prompt.map(|entry| entry_tokens(&entry)).sum()
}

/// The estimate for one entry of an array.
fn entry_tokens(entry: &Folded<'_>) -> usize {
    if entry.is_unchanged() {
        return full_tokens(entry.tool());
    }
    estimated_tokens(entry.tool().name().as_str(), &entry.description, entry.parameters_text())
}

/// The estimate for a complete tool, without the parts of its schema that OpenAI does not bill.
pub(super) fn full_tokens(tool: &Tool) -> usize {
    full_by(tool, LETTERS)
}

/// The same with another number of letters for one token.
fn full_by(tool: &Tool, letters: usize) -> usize {
    let unbilled: usize = unbilled_texts(tool).map(|text| text_cost(text, 11, letters)).sum();
    let parameters = if tool.declares_parameters() { tool.parameters_text() } else { "" };
    tokens_by(tool.name().as_str(), tool.description(), parameters, letters).saturating_sub(unbilled / 10)
}

/// The `$schema` and the title of a tool's schema. OpenAI bills neither, except for the title of a
/// schema with properties.
pub(super) fn unbilled_texts(tool: &Tool) -> impl Iterator<Item = &str> {
    UNBILLED.iter().filter_map(|key| tool.parameters().get(key)?.as_str())
}

/// Members at the root of a schema that only a validator or a person needs.
pub(super) const UNBILLED: [&str; 2] = ["$schema", "title"];

/// Multiplies tokens by a factor in thousandths.
fn scaled(tokens: usize, factor: u32) -> usize {
    tokens.saturating_mul(factor as usize) / 1_000
}

/// The tokens of the shortest tool, `type t = () => any;`.
const LEAST_TOKENS: usize = 8;

/// The letters of a word for one token, on average over the corpora.
pub(super) const LETTERS: usize = 7;

/// The letters of a word for one token if it is a common one: `workspace` is one token of o200k.
pub(super) const MOST_LETTERS: usize = 10;

/// The tokens that a shorter description and schema save, estimated with this many letters of a
/// word for one token.
pub(super) fn saved_by(tool: &Tool, description: &str, parameters: &str, letters: usize) -> usize {
    full_by(tool, letters).saturating_sub(tokens_by(tool.name().as_str(), description, parameters, letters))
}

/// The estimate for one tool.
pub(super) fn estimated_tokens(name: &str, description: &str, parameters: &str) -> usize {
    tokens_by(name, description, parameters, LETTERS)
}

/// The same with another number of letters for one token.
fn tokens_by(name: &str, description: &str, parameters: &str, letters: usize) -> usize {
    let tenths =
        text_cost(name, 13, letters) + text_cost(description, 13, letters) + text_cost(parameters, 11, letters);
    (tenths / 10).saturating_sub(4).max(LEAST_TOKENS)
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

/// The cost of a text in tenths of a token, with `word` tenths for a word that is not a schema
/// keyword.
///
/// Makes a single pass over the bytes, because startup scans several hundred kilobytes of schemas
/// several times.
fn text_cost(text: &str, word: usize, letters: usize) -> usize {
    let mut tenths = 0;
    let mut start = 0;
    let cost = |run: &[u8]| match run {
        [] => 0,
        run if is_cheap(run) => 12,
        run => word * run.len().div_ceil(letters),
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
