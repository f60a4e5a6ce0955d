//! The budget for the skill list that the model sees, and its measurement without a vocabulary.

use std::collections::HashSet;
use std::sync::OnceLock;

/// The maximum cost of the declaration of `activate_skill`: name, description and parameters
/// including the enum of names. Without the tool, of the list alone
/// ([`catalog_text`](super::catalog_text)).
///
/// Without any skill the declaration costs up to 450 tokens: its fixed text, every parameter and
/// the line with the count. A smaller budget holds no entry, and the declaration still costs this
/// much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Budget {
    /// Characters.
    Chars(usize),
    /// Tokens: counted by the caller's counter, or else by [`most_tokens`].
    Tokens(usize),
}

impl Default for Budget {
    /// 2,000 tokens.
    fn default() -> Self {
        Self::Tokens(2_000)
    }
}

impl Budget {
    /// The limit, in the budget's unit.
    #[must_use]
    pub fn limit(self) -> usize {
        match self {
            Self::Chars(most) | Self::Tokens(most) => most,
        }
    }

    /// The share of the budget that a text takes, without a vocabulary.
    #[must_use]
    pub(crate) fn weigh(self, text: &str) -> usize {
        match self {
            Self::Chars(_) => text.chars().count(),
            Self::Tokens(_) => most_tokens(text),
        }
    }
}

/// A rough token count without a vocabulary: one token per four ASCII characters or one other
/// character. Close for prose, half of the real count for random letters. For billing use the
/// counters of the tokens layer; for an upper bound use [`most_tokens`].
#[must_use]
pub(crate) fn estimate_tokens(text: &str) -> usize {
    quarters(text).div_ceil(4)
}

/// [`estimate_tokens`] in quarters of a token.
pub(super) fn quarters(text: &str) -> usize {
    text.chars().map(char_quarters).sum()
}

pub(super) fn char_quarters(c: char) -> usize {
    if c.is_ascii() { 1 } else { 4 }
}

/// An upper bound for the tokens of a text in `o200k_base`, computed without its vocabulary.
///
/// The bound follows from byte pair encoding, which never ends with two neighbors that together
/// form a token. Except for 29 pairs, any two lower-case ASCII letters form a token, and so does a
/// space or a hyphen with a following letter. Of `n` such characters at most `(2n + 1) / 3` tokens
/// remain, plus one for each exceptional pair. A thousand common words are one token each with the
/// preceding space. Up to three digits are one token. Any other character is at most its UTF-8
/// bytes, and two for kana and most rows of ideographs. For prose the bound is about twice the
/// count.
#[must_use]
pub fn most_tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut rest = text;
    // Whether the preceding character belongs to a word or number: a hyphen then leads what
    // follows.
    let mut in_word = false;
    while let Some(c) = rest.chars().next() {
        let lead = c == ' ' || (c == '-' && in_word);
        let (before, tail) = rest.split_at_checked(usize::from(lead)).unwrap_or(("", rest));
        let word = run(tail, |c| c.is_ascii_lowercase());
        let digits = run(rest, |c| c.is_ascii_digit());
        let (taken, most) = if !word.is_empty() {
            let length = before.len() + word.len();
            (length, of_word(before, word, rest.get(length..).and_then(|after| after.chars().next())))
        } else if !digits.is_empty() {
            (digits.len(), digits.len().div_ceil(3))
        } else {
            (c.len_utf8(), if is_paired(c) { 2 } else { c.len_utf8() })
        };
        in_word = !word.is_empty() || !digits.is_empty();
        tokens += most;
        rest = rest.get(taken..).unwrap_or_default();
    }
    tokens
}

/// The longest prefix of a text whose characters all satisfy a condition.
fn run(text: &str, kind: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !kind(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The maximum number of tokens of a word of lower-case letters with its leading character. `after`
/// is the following character: letters, marks and apostrophes of any kind may form another word
/// with it.
fn of_word(lead: &str, word: &str, after: Option<char>) -> usize {
    let ends = after.is_none_or(|c| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '\'');
    if lead == " " && ends && common().contains(word) {
        return 1;
    }
    let pairs = word.as_bytes().windows(2).filter(|pair| APART.iter().any(|apart| apart.as_bytes() == *pair)).count();
    (2 * (lead.len() + word.len()) + 1) / 3 + pairs
}

/// The most frequent words in 252 public SKILL.md files that are a token with the preceding space.
fn common() -> &'static HashSet<&'static str> {
    static COMMON: OnceLock<HashSet<&'static str>> = OnceLock::new();
    COMMON.get_or_init(|| include_str!("words.txt").split_whitespace().collect())
}

/// The pairs of lower-case letters that are not a token.
const APART: [&str; 29] = [
    "bq", "gk", "gq", "jv", "jz", "kq", "kz", "lq", "nq", "qf", "qg", "qj", "qk", "qv", "qz", "rj", "tq", "wq", "wz",
    "xg", "xj", "xk", "xq", "xv", "xw", "yq", "zj", "zq", "zv",
];
/// The first character of each row of 64 ideographs in which some are three tokens.
const RARE_ROWS: [u32; 14] =
    [0x5d40, 0x5d80, 0x6ac0, 0x8780, 0x8800, 0x9780, 0x9bc0, 0x9c00, 0x9c40, 0x9d00, 0x9d40, 0x9d80, 0x9dc0, 0x9fc0];

/// Whether a character is kana, or an ideograph in a row without three-token characters.
fn is_paired(c: char) -> bool {
    match c {
        '\u{3040}'..='\u{30ff}' => true,
        '\u{4e00}'..='\u{9fff}' => !RARE_ROWS.contains(&(c as u32 & !0x3f)),
        _ => false,
    }
}
