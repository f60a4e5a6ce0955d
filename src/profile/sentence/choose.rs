//! Chooses the sentence that represents each tool of a catalog.
//!
//! It describes what the tool does: the first sentence of its description that is not a heading, a
//! warning, a condition or shared by several tools; otherwise its title; otherwise its name in
//! words. It depends on the catalog alone, so what a session opens does not change it.

use std::collections::{BTreeSet, HashMap};

use super::blocks::{Candidate, candidates};
use super::judge::{Fit, capitalised, judge_sentence, tidy};
use super::{first_sentence, shortened};
use crate::catalog::{Catalog, Tool};
use crate::profile::words::{lower_case_words, own_name};

/// The minimum number of tools whose equal sentences are not a coincidence. Two may be variants (a
/// chart as an image, a chart in a sheet) whose first sentence fits both.
const MIN_ALIKE: usize = 3;

/// The maximum number of candidate sentences of a description.
const MAX_CANDIDATES: usize = 16;

/// The maximum length of a sentence prefix that comes from the server (`Notion | …`), in bytes.
const MAX_LEAD_BYTES: usize = 40;

/// Phrases of sentences that describe which product a tool belongs to.
const MEMBERSHIP: [&str; 5] = ["belongs to", "part of", "is provided by", "is a tool of", "provides functions"];

/// The sentence that represents a tool.
#[derive(Debug, Clone)]
pub(in super::super) struct Sentence {
    /// At most [`MAX_SENTENCE_CHARS`](super::MAX_SENTENCE_CHARS) characters.
    pub(in super::super) text: String,
    /// Whether the description begins with the same text.
    pub(in super::super) is_first: bool,
    /// The first sentence of the description, if several tools share it.
    pub(in super::super) shared: Option<String>,
}

/// The sentence of each tool, in catalog order.
pub(in super::super) fn sentences(catalog: &Catalog) -> Vec<Sentence> {
    let mut said: Vec<Vec<Candidate>> = catalog.iter().map(|tool| read_candidates(tool.description())).collect();
    drop_lead(&mut said);
    let alike = Alike::new(&said);
    let titles =
        Alike::count_sentences(catalog.iter().filter_map(Tool::title).map(|title| BTreeSet::from([shortened(title)])));
    let chosen = catalog.iter().zip(&said).map(|(tool, said)| {
        let (text, shared) = choose(tool, said, &alike, &titles);
        Sentence { is_first: text == first_sentence(tool.description()), text, shared }
    });
    chosen.collect()
}

fn read_candidates(description: &str) -> Vec<Candidate> {
    candidates(description).iter().take(MAX_CANDIDATES).filter_map(tidy).collect()
}

fn choose(tool: &Tool, said: &[Candidate], alike: &Alike, titles: &Alike) -> (String, Option<String>) {
    let mut shared = None;
    let mut weak = None;
    // After a sentence that other tools share, the tool's own description begins.
    let mut introduced = true;
    for (at, candidate) in said.iter().enumerate() {
        let text = shortened(&candidate.text);
        if alike.is_shared(&text) {
            if at == 0 {
                shared = Some(candidate.text.clone());
            }
            continue;
        }
        match judge_sentence(candidate, candidate.introduced || introduced && shared.is_some()) {
            Fit::Good => return (text, shared),
            Fit::Weak => weak = weak.or(Some(text)),
            Fit::No => {}
        }
        introduced = false;
    }
    let title = || {
        let title = tool.title().map(|title| shortened(title.trim_start_matches(super::blocks::is_pictograph)));
        title.filter(|title| !title.is_empty() && !titles.is_shared(title) && title != tool.name().as_str())
    };
    (weak.or_else(title).unwrap_or_else(|| name_in_words(tool.name().as_str())), shared)
}

/// A tool's name as words: `mcp__github__create_issue` becomes `Create issue`.
fn name_in_words(name: &str) -> String {
    let own = own_name(name);
    let own = own.strip_prefix("mcp_").or_else(|| own.strip_prefix("mcp-")).unwrap_or(own);
    let text = shortened(&capitalised(&lower_case_words(own).join(" ")));
    if text.is_empty() { shortened(name) } else { text }
}

/// The number of tools with each sentence.
struct Alike {
    tools: usize,
    of: HashMap<String, usize>,
}

impl Alike {
    fn new(said: &[Vec<Candidate>]) -> Self {
        Self::count_sentences(said.iter().map(|said| said.iter().map(|one| shortened(&one.text)).collect()))
    }

    fn count_sentences(said: impl Iterator<Item = BTreeSet<String>>) -> Self {
        let (mut tools, mut of) = (0, HashMap::new());
        for sentences in said {
            tools += 1;
            sentences.into_iter().for_each(|sentence| *of.entry(sentence).or_default() += 1);
        }
        Self { tools, of }
    }

    fn is_shared(&self, sentence: &str) -> bool {
        let tools = self.of.get(sentence).copied().unwrap_or_default();
        let lower = || sentence.to_lowercase();
        tools >= MIN_ALIKE
            || (tools >= 2 && tools == self.tools && MEMBERSHIP.iter().any(|words| lower().contains(words)))
    }
}

/// Removes a prefix that nearly all sentences share: `Notion | Creates a page`, `Azure: lists …`.
fn drop_lead(said: &mut [Vec<Candidate>]) {
    let firsts = || said.iter().filter_map(|said| said.first());
    let mut leads: HashMap<&str, usize> = HashMap::new();
    firsts().filter_map(|first| lead(&first.text)).for_each(|lead| *leads.entry(lead).or_default() += 1);
    let tools = firsts().count();
    let common = leads.into_iter().find(|(_, with)| *with >= MIN_ALIKE && *with * 3 > tools * 2);
    let Some(lead) = common.map(|(lead, _)| lead.to_owned()) else { return };
    for first in said.iter_mut().filter_map(|said| said.first_mut()) {
        if let Some(rest) = first.text.strip_prefix(&lead).map(str::trim_start).filter(|rest| !rest.is_empty()) {
            first.text = capitalised(rest);
        }
    }
}

/// The text up to and including the first separator of a sentence.
fn lead(text: &str) -> Option<&str> {
    let ends = [": ", " | ", " - ", " – ", " — ", " » "].iter().filter_map(|mark| Some(text.find(mark)? + mark.len()));
    text.get(..ends.min().filter(|end| *end <= MAX_LEAD_BYTES)?)
}
