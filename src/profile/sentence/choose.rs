//! The sentence that stands for each tool of a catalogue.
//!
//! It says what the tool does: the first sentence of its description that is no heading, no warning, no condition and not
//! common to several tools; else its title; else its name in words. It depends on the catalogue alone, so that what a
//! session opens changes no byte of it.

use std::collections::{BTreeSet, HashMap};

use super::blocks::{Candidate, candidates};
use super::judge::{Fit, capitalised, judge, tidy};
use super::{first_sentence, shortened};
use crate::catalog::{Catalog, Tool};
use crate::profile::words::{own_name, words};

/// So many tools that say the same do not do so by chance. Two may be twins (a chart as an image, a chart in a sheet)
/// whose first sentence is the right one for both.
const MIN_ALIKE: usize = 3;

/// Of how many sentences of a description one is chosen.
const MAX_CANDIDATES: usize = 16;

/// The longest beginning of a sentence that can be the server's (`Notion | …`), in bytes.
const MAX_LEAD_BYTES: usize = 40;

/// Words by which a sentence is known that says what a tool is a part of.
const MEMBERSHIP: [&str; 5] = ["belongs to", "part of", "is provided by", "is a tool of", "provides functions"];

/// What stands for a tool.
#[derive(Debug, Clone)]
pub(in super::super) struct Sentence {
    /// At most [`MAX_SENTENCE_CHARS`](super::MAX_SENTENCE_CHARS) characters.
    pub(in super::super) text: String,
    /// Whether it is also what the description begins with.
    pub(in super::super) is_first: bool,
    /// The sentence with which the description begins, if several tools begin with it.
    pub(in super::super) shared: Option<String>,
}

/// What stands for each tool, in catalogue order.
pub(in super::super) fn sentences(catalog: &Catalog) -> Vec<Sentence> {
    let mut said: Vec<Vec<Candidate>> = catalog.iter().map(|tool| read(tool.description())).collect();
    drop_lead(&mut said);
    let alike = Alike::new(&said);
    let titles = Alike::of(catalog.iter().filter_map(Tool::title).map(|title| BTreeSet::from([shortened(title)])));
    let chosen = catalog.iter().zip(&said).map(|(tool, said)| {
        let (text, shared) = choose(tool, said, &alike, &titles);
        Sentence { is_first: text == first_sentence(tool.description()), text, shared }
    });
    chosen.collect()
}

fn read(description: &str) -> Vec<Candidate> {
    candidates(description).iter().take(MAX_CANDIDATES).filter_map(tidy).collect()
}

fn choose(tool: &Tool, said: &[Candidate], alike: &Alike, titles: &Alike) -> (String, Option<String>) {
    let mut shared = None;
    let mut weak = None;
    // Behind what other tools say too, a tool begins to speak of itself.
    let mut introduced = true;
    for (at, candidate) in said.iter().enumerate() {
        let text = shortened(&candidate.text);
        if alike.is_shared(&text) {
            if at == 0 {
                shared = Some(candidate.text.clone());
            }
            continue;
        }
        match judge(candidate, candidate.introduced || introduced && shared.is_some()) {
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

/// A tool's name as words: `mcp__github__create_issue` is `Create issue`.
fn name_in_words(name: &str) -> String {
    let own = own_name(name);
    let own = own.strip_prefix("mcp_").or_else(|| own.strip_prefix("mcp-")).unwrap_or(own);
    let text = shortened(&capitalised(&words(own).join(" ")));
    if text.is_empty() { shortened(name) } else { text }
}

/// How many tools say a sentence.
struct Alike {
    tools: usize,
    of: HashMap<String, usize>,
}

impl Alike {
    fn new(said: &[Vec<Candidate>]) -> Self {
        Self::of(said.iter().map(|said| said.iter().map(|one| shortened(&one.text)).collect()))
    }

    fn of(said: impl Iterator<Item = BTreeSet<String>>) -> Self {
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

/// Takes off what nearly all sentences begin with: `Notion | Creates a page`, `Azure: lists …`.
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

/// What stands before the first mark that parts a sentence, the mark included.
fn lead(text: &str) -> Option<&str> {
    let ends = [": ", " | ", " - ", " – ", " — ", " » "].iter().filter_map(|mark| Some(text.find(mark)? + mark.len()));
    text.get(..ends.min().filter(|end| *end <= MAX_LEAD_BYTES)?)
}
