//! The words that tell what a tool is about.

use std::collections::HashSet;

use crate::catalog::Tool;
use crate::profile::first_sentence;

/// Words of names that say what is done rather than what it is done to.
const VERBS: &str = "activate add adjust append apply attach authenticate batch book calculate call cancel check clear click \
    close compute configure connect contact convert copy count create delete describe detach disable disconnect display \
    download edit enable estimate execute export fetch fill find format generate get import insert inspect install invoke \
    list load lock make manage merge modify move navigate open parse patch place post press purchase put query read \
    register release remove rename replace reset resolve restore retrieve return rotate run save scrape search select send \
    set show sort start stop summarize sync test trigger uninstall unlock update upload use validate verify view wait write";

/// Words that say nothing of a tool.
const FILLERS: &str = "about after all also an and another any are as at available based be been before between but by can complete contain \
    current data default details different do does each either existing following for from function given has have if in \
    information input into is it its like list multiple name new not number of on one only optional or other out output over \
    parameter part provided related result return returns same see several should single so some specific specified such system \
    than that the their them then there these this those through to tool two type up use used user using value various via \
    was when where whether which while will with within without you your";

/// What is known of a tool when it is put into a category.
#[derive(Debug)]
pub(super) struct Subject {
    /// What its name says it is about: words that are no verbs.
    pub(super) nouns: Vec<String>,
    /// What its name says it does.
    pub(super) verbs: Vec<String>,
    /// What its own first sentence says it is about.
    pub(super) said: Vec<String>,
    /// The length of all its text, in bytes.
    pub(super) bytes: usize,
}

/// The words that are looked up, ready for it.
#[derive(Debug)]
pub(super) struct Lexicon {
    verbs: HashSet<&'static str>,
    fillers: HashSet<&'static str>,
}

impl Lexicon {
    pub(super) fn new() -> Self {
        Self { verbs: VERBS.split_whitespace().collect(), fillers: FILLERS.split_whitespace().collect() }
    }

    /// Reads a tool whose description speaks of itself from `own` on.
    pub(super) fn subject(&self, tool: &Tool, own: &str) -> Subject {
        let name = tool.name().as_str();
        let words = once(words(name)).into_iter().filter(|word| !JOINTS.contains(&word.as_str()));
        let (verbs, nouns): (Vec<String>, Vec<String>) = words.partition(|word| self.verbs.contains(word.as_str()));
        let bytes = name.len() + tool.description().len() + tool.parameters_text().len();
        Subject { nouns, verbs, said: self.subjects(&first_sentence(own)), bytes }
    }

    /// The words of a sentence that can name a category: English ones of three letters or more that are neither fillers
    /// nor verbs and end like nouns.
    fn subjects(&self, sentence: &str) -> Vec<String> {
        let telling = |word: &String| {
            word.len() >= 3
                && word.chars().all(|c| c.is_ascii_lowercase())
                && !NO_NOUN.iter().any(|ending| word.ends_with(ending))
                && !self.verbs.contains(word.as_str())
                && !self.fillers.contains(word.as_str())
        };
        once(words(sentence)).into_iter().filter(telling).collect()
    }

    /// The first word of a sentence that can name what the sentence is about and that none of the other sentences has.
    pub(super) fn key_word(&self, sentence: &str, all: &[&str]) -> Option<String> {
        let others = all.iter().filter(|other| **other != sentence);
        let others: HashSet<String> = others.flat_map(|other| self.subjects(other)).collect();
        self.subjects(sentence).into_iter().find(|word| !others.contains(word))
    }
}

/// Words that join others in a name.
const JOINTS: [&str; 12] = ["all", "and", "as", "by", "for", "from", "in", "of", "on", "or", "to", "with"];

/// Endings of adverbs, participles and adjectives.
const NO_NOUN: [&str; 5] = ["ly", "ing", "ed", "able", "ible"];

/// The words of a text: cut at joints and at capitals, lower case, plural `s` off.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let starts = c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_lower));
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| word.chars().count() >= 2 && !word.chars().all(|c| c.is_ascii_digit()));
    words.into_iter().map(singular).collect()
}

fn singular(word: String) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() >= 3) {
        return format!("{stem}y");
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word,
    }
}

/// The same without repetitions.
fn once(words: Vec<String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen
}
