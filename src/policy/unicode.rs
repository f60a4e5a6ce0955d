//! Letters: when two names are one, and which characters a person cannot see.
//!
//! A file system may take two forms for one name: another case, another Unicode form (é as one character or as
//! two), characters that it ignores. Where a rule forbids, every such pair is one name; where it allows, none is
//! unless the facts say so. Git had to learn the same: CVE-2014-9390, `.g\u{200c}it` on HFS+.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::glob::{glob_ignoring_case, glob_segment};
use crate::diagnostic::{Invisible, invisible};

/// How alike two names must be to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Equivalence {
    /// The same characters.
    Exact,
    /// The same but for case, where both cases agree, and Unicode form: what a file system that ignores case certainly
    /// takes for one.
    IgnoringCase,
    /// The same after Unicode form and unseen characters: what a file system that minds case may take for one.
    Normalized,
    /// Everything that some file system takes for one: case, compatibility forms, unseen characters.
    Confusable,
}

impl Equivalence {
    /// What a rule needs. `narrow`: it allows. `minds_case`: what the facts say of file names.
    pub(crate) fn of(narrow: bool, minds_case: Option<bool>) -> Self {
        match (narrow, minds_case) {
            (true, Some(false)) => Self::IgnoringCase,
            (true, _) => Self::Exact,
            (false, Some(true)) => Self::Normalized,
            (false, _) => Self::Confusable,
        }
    }

    /// Whether one segment of a path fits one of a pattern.
    pub(crate) fn segment(self, pattern: &str, name: &str) -> bool {
        let plain = |text: &str| text.bytes().all(|b| b.is_ascii() && !b.is_ascii_control());
        match self {
            // Plain ASCII has one form.
            Self::Normalized | Self::Confusable if plain(pattern) && plain(name) => {
                glob_segment(pattern, name, self == Self::Confusable)
            }
            Self::Exact => glob_segment(pattern, name, false),
            Self::IgnoringCase => glob_ignoring_case(&nfc(pattern), &nfc(name)),
            Self::Normalized => {
                glob_segment(pattern, name, false) || glob_segment(&normalized(pattern), &normalized(name), false)
            }
            Self::Confusable => glob_segment(pattern, name, true) || glob_segment(&fold(pattern), &fold(name), false),
        }
    }

    /// Whether two names, neither of which is a pattern, are one.
    pub(crate) fn name(self, a: &str, b: &str) -> bool {
        a == b
            || match self {
                Self::Exact => false,
                Self::IgnoringCase => ignoring_case(&nfc(a), &nfc(b)),
                Self::Normalized => normalized(a) == normalized(b),
                Self::Confusable => fold(a) == fold(b),
            }
    }
}

/// Whether a character is not seen, or moves how others are seen: every invisible one but selectors.
pub(crate) fn is_unseen(c: char) -> bool {
    !matches!(invisible(c), None | Some(Invisible::Selector))
}

/// Whether a text holds any such character.
pub(crate) fn has_unseen(text: &str) -> bool {
    text.chars().any(is_unseen)
}

/// A text without them, and without the selectors that choose between two pictures of one character.
pub(crate) fn strip(text: &str) -> Cow<'_, str> {
    let drop = |c: char| invisible(c).is_some();
    if text.chars().any(drop) { text.chars().filter(|&c| !drop(c)).collect::<String>().into() } else { text.into() }
}

/// A text under NFC.
pub(crate) fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { text.into() } else { text.nfc().collect::<String>().into() }
}

/// A text under NFC, without unseen characters.
fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { strip(text) } else { strip(text).nfc().collect::<String>().into() }
}

/// A text under NFKC, without unseen characters, with case folded away: upper case and then lower, so that `ß` is
/// `ss`, `ſ` is `s` and the Kelvin sign is `k`.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let text = strip(text);
        return if text.bytes().any(|b| b.is_ascii_uppercase()) { text.to_ascii_lowercase().into() } else { text };
    }
    let folded = strip(text).nfkd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect::<String>();
    // `İ` and the like fall apart once more.
    folded.nfkc().collect::<String>().into()
}

/// Whether two texts differ at most in letters that are twins.
fn ignoring_case(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.chars(), b.chars());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) if differs_only_in_case(x, y) => {}
            _ => return false,
        }
    }
}

/// Whether two letters are one in both cases. The Kelvin sign and `k` are not: they share only the lower one.
pub(crate) fn differs_only_in_case(a: char, b: char) -> bool {
    a == b || (a.to_lowercase().eq(b.to_lowercase()) && a.to_uppercase().eq(b.to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_or_two() {
        for (a, b, twins, forms, any) in [
            ("a", "a", true, true, true),
            ("README", "readme", true, false, true),
            ("\u{e9}", "e\u{301}", true, true, true),
            ("\u{c9}", "e\u{301}", true, false, true),
            (".g\u{200c}it", ".git", false, true, true),
            (".e\u{202e}nv", ".env", false, true, true),
            ("stra\u{df}e", "STRASSE", false, false, true),
            ("\u{212a}ey", "key", true, false, true),
            ("\u{17f}h", "sh", false, false, true),
            ("\u{ff0e}env", ".env", false, false, true),
            ("\u{fb01}le", "file", false, false, true),
            ("a", "b", false, false, false),
            ("\u{430}", "a", false, false, false),
        ] {
            assert_eq!(Equivalence::IgnoringCase.name(a, b), twins, "twins {a:?} {b:?}");
            assert_eq!(Equivalence::Normalized.name(a, b), forms, "forms {a:?} {b:?}");
            assert_eq!(Equivalence::Confusable.name(a, b), any, "any {a:?} {b:?}");
            assert_eq!(Equivalence::Confusable.segment(a, b), any, "pattern {a:?} {b:?}");
            assert_eq!(Equivalence::Exact.name(a, b), a == b);
        }
    }
}
