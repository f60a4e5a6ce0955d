//! Units: tools that perform different actions on the same object and stay together.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use super::source::Source;
use super::topic::{is_filler, topics_of};
use crate::profile::sentence::Sentence;
use crate::profile::words::{can_be_verb, is_only_verb, lower_case_words, stem};

/// Verbs that can come last in a name and are not part of its subject.
const LAST_VERBS: [&str; 24] = [
    "list", "set", "read", "write", "query", "run", "show", "send", "import", "export", "upload", "load", "save",
    "lock", "append", "start", "stop", "cancel", "check", "search", "view", "count", "sync", "submit",
];

/// Verbs that describe a tool's subject whatever the object is.
const TELLING_VERBS: &str = "verify validate assert test convert calculate compute estimate analyze analyse translate transcribe render simulate \
    compare toggle encrypt decrypt encode decode parse scrape crawl classify predict trade book buy subscribe vote rate rank follow mute archive pin \
    star trace debug profile deploy schedule monitor evaluate annotate highlight click hover drag drop press type scroll tap swipe zoom fill upload \
    download resize navigate play pause record";

/// Companies whose names precede those of many products.
const VENDORS: [&str; 9] = ["google", "microsoft", "ms", "aws", "amazon", "azure", "apple", "atlassian", "adobe"];

/// Words that only connect others in a name.
const JOINTS: &str =
    "a an and as at by for from in into is it its my of on onto or per the to up via with within without";

/// Words that select among objects rather than name them.
const WHICH: &str = "all any current existing multiple more new next other previous recent several single specific every each available \
    full simple advanced basic default custom local remote long short unsafe safe batch bulk async my own available latest last first raw";

static TELLING_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| TELLING_VERBS.split_whitespace().collect());
static JOINT_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| JOINTS.split_whitespace().collect());
static WHICH_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| WHICH.split_whitespace().collect());

/// Tools with the same subject.
#[derive(Debug, Default)]
pub(super) struct Unit {
    /// The stems of the names' subject, in order, most general first.
    pub(super) nouns: Vec<String>,
    /// The same words as the names write them.
    pub(super) surface: BTreeMap<String, BTreeMap<String, usize>>,
    /// The tools' indices in the catalog, by name.
    pub(super) tools: Vec<usize>,
    /// The stems of the sentences' subjects.
    pub(super) said: BTreeSet<String>,
    /// The verbs of the names that describe their subject.
    pub(super) verbs: BTreeSet<String>,
    /// General topics, each with its weight.
    pub(super) topics: BTreeMap<&'static str, usize>,
}

/// The units of a server, in the order of their words, and whether its names go from the general to
/// the specific, with the verb last (`storage_blob_get`).
pub(super) fn units(source: &Source, sentences: &[Sentence]) -> (Vec<Unit>, bool) {
    let (mut verbs_first, mut verbs_last) = (0, 0);
    for (_, words) in &source.tools {
        verbs_first += usize::from(words.first().is_some_and(|word| is_only_verb(word)));
        verbs_last += usize::from(ends_with_verb(words));
    }
    let hierarchical = verbs_last > verbs_first;
    let fields = if hierarchical { fields(source) } else { BTreeSet::new() };
    let mut by: BTreeMap<Vec<String>, Unit> = BTreeMap::new();
    for (at, words) in &source.tools {
        let nouns = nouns(words, hierarchical, &fields, &source.aside);
        let key: Vec<String> = nouns.iter().map(|word| stem(word)).collect();
        let unit = by.entry(key.clone()).or_insert_with(|| Unit { nouns: key, ..Unit::default() });
        for word in nouns {
            *unit.surface.entry(stem(&word)).or_default().entry(word).or_default() += 1;
        }
        unit.tools.push(*at);
        for word in words {
            if TELLING_SET.contains(word.as_str()) {
                unit.verbs.insert(word.clone());
            }
        }
        if let Some(sentence) = sentences.get(*at) {
            unit.said.extend(subject_stems(&sentence.text));
        }
    }
    let mut units: Vec<Unit> = by.into_values().collect();
    for unit in &mut units {
        unit.topics = topics_of(unit.nouns.iter().chain(&unit.verbs), &unit.said);
    }
    (units, hierarchical)
}

/// The words that precede a verb at the end of a name: `leave` in `leave_approve` is not a verb,
/// nor is it in `leave_request`.
fn fields(source: &Source) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (_, words) in &source.tools {
        if let [first, .., last] = &words[..]
            && is_last_verb(last)
        {
            found.insert(first.as_str());
        }
    }
    found
}

fn ends_with_verb(words: &[String]) -> bool {
    matches!(words, [_, .., last] if is_last_verb(last))
}

fn is_last_verb(word: &str) -> bool {
    is_only_verb(word) || LAST_VERBS.contains(&word)
}

/// The words of a name that describe its subject; never empty if the name has a word.
fn nouns(words: &[String], hierarchical: bool, fields: &BTreeSet<&str>, aside: &BTreeSet<String>) -> Vec<String> {
    let mut left: &[String] = words;
    let last_is_verb = ends_with_verb(words);
    // If verbs come last, a name that ends in none may begin with one: `listLabels` beside
    // `labelAdd`.
    let is_verb = |word: &String| is_only_verb(word) || can_be_verb(word) && !(hierarchical && last_is_verb);
    let first_is_verb = matches!(words, [first, _, ..] if is_verb(first) && !fields.contains(first.as_str()));
    // `route_list`: of two verbs, the one that is rarely a noun.
    let first_is_noun = matches!(words, [first, _] if !is_last_verb(first));
    if last_is_verb
        && (hierarchical || !first_is_verb || first_is_noun)
        && let Some((_, rest)) = left.split_last()
    {
        left = rest;
    } else if first_is_verb && let Some((_, rest)) = left.split_first() {
        left = rest;
        // `create_or_update_file`, `append_to_doc`
        while let [first, rest @ ..] = left
            && !rest.is_empty()
            && (is_joint(first)
                || is_only_verb(first)
                || is_which(first) && rest.first().is_some_and(|next| is_only_verb(next)))
        {
            left = rest;
        }
    }
    // The word after `by` describes the method, not the object.
    if let Some(at @ 1..) = left.iter().position(|word| word == "by") {
        left = left.get(..at).unwrap_or(left);
    }
    let telling = telling_words(left);
    // `research_search_papers`: the verb follows the field.
    let verb = match &telling[..] {
        [_, verb, _, ..] if !hierarchical && !first_is_verb && can_be_verb(verb) => Some(*verb),
        _ => None,
    };
    let mut loose = telling.clone();
    loose.retain(|word| !aside.contains(&stem(word)));
    let mut own = loose.clone();
    own.retain(|word| (!is_only_verb(word) || fields.contains(word.as_str())) && Some(*word) != verb);
    if own.iter().any(|word| !VENDORS.contains(&word.as_str())) {
        own.retain(|word| !VENDORS.contains(&word.as_str()));
    }
    let kept = [own, loose, telling, telling_words(words), words.iter().take(1).collect()];
    let mut found: Vec<String> = Vec::new();
    for word in kept.into_iter().find(|words| !words.is_empty()).unwrap_or_default() {
        // `unroute` has the same subject as `route`.
        let undone = match word.strip_prefix("un") {
            Some(rest) if can_be_verb(word) && can_be_verb(rest) => rest,
            _ => word,
        };
        if !found.iter().any(|known| stem(known) == stem(undone)) {
            found.push(undone.to_owned());
        }
    }
    found
}

fn telling_words(words: &[String]) -> Vec<&String> {
    words.iter().filter(|word| tells(word)).collect()
}

/// Whether a word can describe a subject: not a number, version or connecting word.
pub(super) fn tells(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word).chars().all(|c| c.is_ascii_digit());
    !number && (word.len() > 1 || !word.is_ascii()) && !is_joint(word) && !is_which(word)
}

fn is_joint(word: &str) -> bool {
    JOINT_SET.contains(word)
}

fn is_which(word: &str) -> bool {
    WHICH_SET.contains(word)
}

/// The stems of a sentence's subject.
fn subject_stems(sentence: &str) -> Vec<String> {
    let mut stems = Vec::new();
    for word in lower_case_words(sentence) {
        // Scripts without spaces run words together, so pairs of adjacent characters are used.
        if word.chars().any(is_ideograph) {
            for (one, two) in word.chars().zip(word.chars().skip(1)) {
                let pair = format!("{one}{two}");
                if !is_only_verb(&pair) {
                    stems.push(pair);
                }
            }
        }
        let stem = stem(&word);
        if word.chars().count() > 2 && !is_filler(&word) && !is_only_verb(&word) && !is_only_verb(&stem) {
            stems.push(stem);
        }
    }
    stems
}

/// Whether a character belongs to a script that writes words of one or two characters without
/// spaces: Han, kana.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff)
}
