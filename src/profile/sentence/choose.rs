//! Chooses the sentence that represents each tool of a catalog.
//!
//! It describes what the tool does: the first sentence of its description that is not a heading, a
//! warning, a condition or shared by several tools; otherwise its title; otherwise its name in
//! words. It depends on the catalog alone, so what a session opens does not change it.

use std::collections::{BTreeSet, HashMap};

use super::blocks::{Candidate, candidates, is_pictograph};
use super::judge::{Fit, capitalised, judge_sentence, tidy};
use super::{first_sentence, shortened};
use crate::catalog::{Catalog, Tool};
use crate::profile::words::{lower_case_words, own_name, without_mcp};

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
    let (mut read, mut titles) = (Vec::new(), Alike::default());
    for tool in catalog.iter() {
        let found = candidates(tool.description());
        read.push(found.iter().take(MAX_CANDIDATES).filter_map(tidy).collect());
        if let Some(title) = tool.title() {
            titles.add_tool(BTreeSet::from([shortened(title)]));
        }
    }
    drop_lead(&mut read);
    let mut alike = Alike::default();
    for candidates in &read {
        alike.add_tool(candidates.iter().map(|candidate| shortened(&candidate.text)).collect());
    }
    let mut chosen = Vec::new();
    for (tool, candidates) in catalog.iter().zip(&read) {
        let (text, shared) = choose(tool, candidates, &alike, &titles);
        chosen.push(Sentence { is_first: text == first_sentence(tool.description()), text, shared });
    }
    chosen
}

/// The sentence for a tool, and the first candidate if several tools share it.
fn choose(tool: &Tool, candidates: &[Candidate], alike: &Alike, titles: &Alike) -> (String, Option<String>) {
    let mut shared = None;
    let mut weak = None;
    // After a sentence that other tools share, the tool's own description begins.
    let mut introduced = true;
    for (at, candidate) in candidates.iter().enumerate() {
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
    let text = weak.or_else(|| telling_title(tool, titles)).unwrap_or_else(|| name_in_words(tool.name().as_str()));
    (text, shared)
}

/// The tool's title, if it is neither its name nor shared by several tools.
fn telling_title(tool: &Tool, titles: &Alike) -> Option<String> {
    let title = shortened(tool.title()?.trim_start_matches(is_pictograph));
    let tells = !title.is_empty() && !titles.is_shared(&title) && title != tool.name().as_str();
    if tells { Some(title) } else { None }
}

/// A tool's name as words: `mcp__github__create_issue` becomes `Create issue`.
fn name_in_words(name: &str) -> String {
    let own = own_name(name);
    let own = without_mcp(own);
    let text = shortened(&capitalised(&lower_case_words(own).join(" ")));
    if text.is_empty() { shortened(name) } else { text }
}

/// The number of tools with each sentence.
#[derive(Default)]
struct Alike {
    tools: usize,
    of: HashMap<String, usize>,
}

impl Alike {
    fn add_tool(&mut self, sentences: BTreeSet<String>) {
        self.tools += 1;
        for sentence in sentences {
            *self.of.entry(sentence).or_default() += 1;
        }
    }

    fn is_shared(&self, sentence: &str) -> bool {
        let tools = self.of.get(sentence).copied().unwrap_or_default();
        let both_of_two = tools == 2 && self.tools == 2;
        tools >= MIN_ALIKE || both_of_two && describes_product(sentence)
    }
}

fn describes_product(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    MEMBERSHIP.iter().any(|words| lower.contains(words))
}

/// Removes a prefix that nearly all sentences share: `Notion | Creates a page`, `Azure: lists …`.
fn drop_lead(read: &mut [Vec<Candidate>]) {
    let mut leads: HashMap<&str, usize> = HashMap::new();
    let mut tools = 0;
    for candidates in read.iter() {
        let Some(first) = candidates.first() else { continue };
        tools += 1;
        if let Some(lead) = lead(&first.text) {
            *leads.entry(lead).or_default() += 1;
        }
    }
    let common = leads.into_iter().find(|(_, with)| *with >= MIN_ALIKE && *with * 3 > tools * 2);
    let Some((lead, _)) = common else { return };
    let lead = lead.to_owned();
    for candidates in read {
        let Some(first) = candidates.first_mut() else { continue };
        let rest = first.text.strip_prefix(&lead).unwrap_or_default().trim_start();
        if !rest.is_empty() {
            first.text = capitalised(rest);
        }
    }
}

/// The text up to and including the first separator of a sentence.
fn lead(text: &str) -> Option<&str> {
    let marks = [": ", " | ", " - ", " – ", " — ", " » "];
    let end = marks.iter().filter_map(|mark| Some(text.find(mark)? + mark.len())).min()?;
    if end > MAX_LEAD_BYTES { None } else { text.get(..end) }
}
