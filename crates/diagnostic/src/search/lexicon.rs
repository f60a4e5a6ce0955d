//! Words with related meanings: groups of English words, and Chinese words with the English words
//! they correspond to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::words::term;

/// One group of words a line.
const SYNONYMS: &str = include_str!("synonyms.txt");

/// Chinese words, `=`, and English words; one group a line.
const CHINESE: &str = include_str!("chinese.txt");

/// The word lists as terms.
#[derive(Debug)]
pub(super) struct Lexicon {
    synonyms: BTreeMap<String, Vec<String>>,
    chinese: BTreeMap<&'static str, Vec<String>>,
    /// The length of the longest Chinese word, in characters.
    longest: usize,
}

impl Lexicon {
    /// The lexicon, built on first use.
    pub(super) fn get() -> &'static Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        LEXICON.get_or_init(Self::parse)
    }

    fn parse() -> Self {
        let mut related: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in SYNONYMS.lines() {
            let group: BTreeSet<String> = line.split_whitespace().filter_map(term).collect();
            for word in &group {
                let others = group.iter().filter(|other| *other != word);
                related.entry(word.clone()).or_default().extend(others.cloned());
            }
        }
        let synonyms = related.into_iter().map(|(word, others)| (word, Vec::from_iter(others))).collect();
        let mut chinese: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (words, english) in CHINESE.lines().filter_map(|line| line.split_once('=')) {
            for word in words.split_whitespace() {
                let terms = chinese.entry(word).or_default();
                for term in english.split_whitespace().filter_map(term) {
                    if !terms.contains(&term) {
                        terms.push(term);
                    }
                }
            }
        }
        let longest = chinese.keys().map(|word| word.chars().count()).max().unwrap_or_default();
        Self { synonyms, chinese, longest }
    }

    /// The terms related to a term.
    pub(super) fn synonyms(&self, term: &str) -> &[String] {
        self.synonyms.get(term).map_or(&[], Vec::as_slice)
    }

    /// The known Chinese words of a text, each with its English terms. The longest word at a place
    /// is used.
    pub(super) fn chinese_words<'t>(&self, text: &'t str) -> Vec<(&'t str, &[String])> {
        let mut found = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let known = self.chinese_word(rest);
            let length = known.map_or(first.len_utf8(), |(word, _)| word.len());
            found.extend(known);
            rest = rest.get(length..).unwrap_or_default();
        }
        found
    }

    /// The longest known Chinese word that a text begins with.
    fn chinese_word<'t>(&self, text: &'t str) -> Option<(&'t str, &[String])> {
        if text.starts_with(|first: char| first.is_ascii()) {
            return None;
        }
        let mut longest = None;
        for (at, c) in text.char_indices().take(self.longest) {
            if let Some(word) = text.get(..at + c.len_utf8())
                && let Some(related) = self.chinese.get(word)
            {
                longest = Some((word, related.as_slice()));
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::Lexicon;

    #[test]
    fn the_lists_are_read() {
        let lexicon = Lexicon::get();
        assert!(lexicon.synonyms("delet").contains(&"remov".to_owned()));
        assert!(lexicon.synonyms("unheard").is_empty());
        let words = lexicon.chinese_words("请删除 a 文件夹!");
        let words: Vec<(&str, &str)> = words.iter().map(|(word, terms)| (*word, terms[0].as_str())).collect();
        assert_eq!(words, [("删除", "delet"), ("文件夹", "folder")]);
    }
}
