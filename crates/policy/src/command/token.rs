//! A word of a pattern, and how a word of a command fits it.

use super::options::letters;
use crate::argv::{Word, known, name_and_value};
use crate::decision::Fit;
use crate::glob::{climbs, glob, is_glob};
use crate::programs::row_or_empty;

/// A word of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// This word.
    Literal(String),
    /// A word with `*` or `?` for any characters.
    Glob(String),
    /// Any number of words.
    Many,
}

impl Token {
    /// Reads a token: its characters, and whether each is outside of quotes.
    pub(super) fn read(word: Vec<(char, bool)>) -> Self {
        let wild = word.iter().any(|(c, bare)| *bare && matches!(c, '*' | '?'));
        let text: String = word.into_iter().map(|(c, _)| c).collect();
        match (wild, text.as_str()) {
            (true, "*") => Self::Many,
            (true, _) => Self::Glob(text),
            (false, _) => Self::Literal(text),
        }
    }

    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Glob(_) | Self::Many => None,
        }
    }

    pub(super) fn is_option(&self) -> bool {
        match self {
            Self::Literal(t) | Self::Glob(t) => t.len() > 1 && t.starts_with('-'),
            Self::Many => false,
        }
    }

    /// Whether everything that a glob on the command line expands to fits: `src/*.c` fits `src/*`.
    pub(super) fn covers_glob(&self, word: &Word) -> bool {
        let Self::Glob(glob) = self else { return false };
        let Some(front) = glob.strip_suffix('*').filter(|front| front.ends_with('/') && !is_glob(front)) else {
            return false;
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-*?".contains(c);
        !word.one && word.text.starts_with(front) && word.text.chars().all(is_plain) && !climbs(&word.text)
    }

    /// Whether it begins with a wildcard.
    pub(super) fn begins_open(&self) -> bool {
        matches!(self, Self::Glob(glob) if glob.starts_with(['*', '?']))
    }

    pub(super) fn fits(&self, word: &Word) -> Fit {
        let Some(text) = word.get() else {
            let is_sure = *self == Self::Many && word.one || self.covers_glob(word);
            return if is_sure { Fit::Yes } else { Fit::Maybe };
        };
        Fit::of(match self {
            Self::Literal(own) => own == text,
            Self::Glob(pattern) => glob(pattern, text),
            Self::Many => true,
        })
    }

    /// Whether it names a word, rather than let it pass.
    pub(super) fn names(&self, word: &Word) -> bool {
        match self {
            Self::Literal(_) => self.fits(word) == Fit::Yes,
            Self::Glob(glob) => self.fits(word) == Fit::Yes && (glob.starts_with('-') || !word.begins(['-'])),
            Self::Many => false,
        }
    }

    /// Whether an option is among the words, in any position and grouping.
    pub(super) fn among(&self, words: &[Word], program: &str) -> Fit {
        let mut best = Fit::No;
        for word in words {
            best = best.max(self.fits(word));
            let Some(have) = word.get() else { continue };
            let want = match self {
                Self::Literal(want) => want.as_str(),
                Self::Glob(glob) => glob.trim_end_matches('*'),
                Self::Many => continue,
            };
            // Long options may be abbreviated as long as they are unambiguous.
            let (name, value) = name_and_value(have);
            let (wanted, in_it) = name_and_value(want);
            // The same option with another value does not match.
            let other = matches!((value, in_it), (Some(value), Some(part)) if !value.starts_with(part));
            let shortens = name.len() > 3 && name.starts_with("--") && wanted.starts_with(name);
            if shortens && !other {
                best = best.max(if name == want { Fit::Yes } else { Fit::Maybe });
            }
        }
        if best == Fit::Yes {
            return best;
        }
        let (Self::Literal(want) | Self::Glob(want)) = self else { return best };
        let Some(wanted) = letters(program, want.trim_end_matches('*')) else { return best };
        let clusters = row_or_empty(program).is.clusters;
        let mut missing: Vec<char> = wanted.chars().collect();
        for word in known(words) {
            let Some(have) = letters(program, word) else { continue };
            if clusters || have.chars().all(|c| wanted.contains(c)) {
                missing.retain(|&c| !have.contains(c));
            }
        }
        if missing.is_empty() { Fit::Yes } else { best }
    }
}
