//! Unicode: which names are equivalent, and which characters are invisible.
//!
//! A file system may treat different texts as the same name: in another case, in another Unicode
//! form (é as one character or as two), with characters that it ignores. For ask and deny, every
//! such pair is the same name. For an allow, no pair is, unless the context states it. Compare
//! CVE-2014-9390 in Git: `.g\u{200c}it` on HFS+.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::glob::{glob, glob_fold, glob_with};
use crate::diagnostic::{Invisible, invisible};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Equivalence {
    /// The same characters.
    Exact,
    /// The same characters after NFC, except for letters both of whose cases agree: what a
    /// case-insensitive file system certainly treats as the same.
    IgnoringCase,
    /// The same characters after NFC and without invisible ones: what a case-sensitive file system
    /// may treat as the same.
    Normalized,
    /// Whatever some file system treats as the same: after case folding, NFKC, and without
    /// invisible characters.
    Confusable,
}

impl Equivalence {
    /// The equivalence that a rule uses. `narrow`: it allows. `case_sensitive`: whether file
    /// names are, according to the context.
    pub(crate) fn of(narrow: bool, case_sensitive: Option<bool>) -> Self {
        match (narrow, case_sensitive) {
            (true, Some(false)) => Self::IgnoringCase,
            (true, _) => Self::Exact,
            (false, Some(true)) => Self::Normalized,
            (false, _) => Self::Confusable,
        }
    }

    /// Whether a segment of a path fits a segment of a pattern.
    pub(crate) fn segment(self, pattern: &str, name: &str) -> bool {
        match self {
            Self::Exact => glob(pattern, name),
            Self::IgnoringCase => glob_with(&nfc(pattern), &nfc(name), differs_only_in_case),
            // Plain ASCII has only one form.
            Self::Normalized => {
                glob(pattern, name) || !are_plain(pattern, name) && glob(&normalized(pattern), &normalized(name))
            }
            Self::Confusable => {
                glob_fold(pattern, name) || !are_plain(pattern, name) && glob(&fold(pattern), &fold(name))
            }
        }
    }
}

fn are_plain(a: &str, b: &str) -> bool {
    a.bytes().chain(b.bytes()).all(|b| matches!(b, b' '..=b'~'))
}

/// Whether some file system treats two names, neither of which is a pattern, as the same.
pub(crate) fn is_same_name(a: &str, b: &str) -> bool {
    a == b || fold(a) == fold(b)
}

/// Whether a character is invisible or changes how others are displayed: every invisible one but
/// variation selectors.
pub(crate) fn is_unseen(c: char) -> bool {
    !matches!(invisible(c), None | Some(Invisible::Selector))
}

/// Whether a text contains such a character.
pub(crate) fn has_unseen(text: &str) -> bool {
    // Every allow asks this of the name of its tool, and most texts are plain.
    !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.contains(is_unseen)
}

/// A text without such characters and without variation selectors.
pub(crate) fn strip(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| invisible(c).is_some()) {
        return text.into();
    }
    text.chars().filter(|&c| invisible(c).is_none()).collect::<String>().into()
}

/// Whether a text has only letters, digits and `_`.
pub(crate) fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a text has no characters but digits.
pub(crate) fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

pub(crate) fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { text.into() } else { text.nfc().collect::<String>().into() }
}

/// A text under NFC, without invisible characters.
fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { strip(text) } else { strip(text).nfc().collect::<String>().into() }
}

/// A text in NFKC, without invisible characters and case-folded: to upper case and then to lower
/// case, so that `ß` becomes `ss`, `ſ` becomes `s` and the Kelvin sign becomes `k`.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let text = strip(text);
        return if text.bytes().any(|b| b.is_ascii_uppercase()) { text.to_ascii_lowercase().into() } else { text };
    }
    let folded = strip(text).nfkd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect::<String>();
    // `İ` and similar characters decompose once more.
    folded.nfkc().collect::<String>().into()
}

/// Whether two letters are equal in both upper and lower case. The Kelvin sign and `k` are not:
/// only lower case agrees.
fn differs_only_in_case(a: char, b: char) -> bool {
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
            assert_eq!(Equivalence::IgnoringCase.segment(a, b), twins, "twins {a:?} {b:?}");
            assert_eq!(Equivalence::Normalized.segment(a, b), forms, "forms {a:?} {b:?}");
            assert_eq!(Equivalence::Confusable.segment(a, b), any, "any {a:?} {b:?}");
            assert_eq!(is_same_name(a, b), any, "names {a:?} {b:?}");
            assert_eq!(Equivalence::Exact.segment(a, b), a == b);
        }
    }

    #[test]
    fn a_plain_text_has_nothing_unseen() {
        for c in '\0'..=char::MAX {
            assert_eq!(has_unseen(&c.to_string()), is_unseen(c), "{c:?}");
        }
    }
}
