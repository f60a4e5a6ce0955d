//! What the model may be charged for knowing that skills exist, and how that is counted without a vocabulary.

use std::collections::HashSet;
use std::sync::OnceLock;

/// The most that the declaration of `activate_skill` may cost: name, description and parameters with the enum of names.
/// The list alone, where there is no tool ([`catalog_text`](super::catalog_text)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Characters.
    Chars(usize),
    /// Tokens: as the caller's counter counts them, else as [`most_tokens`] does.
    Tokens(usize),
}

impl Default for Budget {
    /// 2,000 tokens.
    fn default() -> Self {
        Self::Tokens(2_000)
    }
}

impl Budget {
    /// Two per cent of a context window of that many tokens.
    #[must_use]
    pub fn of_window(tokens: usize) -> Self {
        Self::Tokens(tokens / 50)
    }

    /// The limit, in the budget's own unit.
    #[must_use]
    pub fn limit(self) -> usize {
        match self {
            Self::Chars(most) | Self::Tokens(most) => most,
        }
    }

    /// What a text takes of the budget, without a vocabulary.
    #[must_use]
    pub fn weigh(self, text: &str) -> usize {
        match self {
            Self::Chars(_) => text.chars().count(),
            Self::Tokens(_) => most_tokens(text),
        }
    }
}

/// A rough count of tokens without any vocabulary: four ASCII characters, or one other, to the token. Near the truth for
/// prose, half of it for random letters. For billing use the counters of the tokens layer; for a bound [`most_tokens`].
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    quarters(text).div_ceil(4)
}

/// [`estimate_tokens`] in quarters of a token.
pub(super) fn quarters(text: &str) -> usize {
    text.chars().map(char_quarters).sum()
}

pub(super) fn char_quarters(c: char) -> usize {
    if c.is_ascii() { 1 } else { 4 }
}

/// The most tokens that a text can have in `o200k_base`, without its vocabulary.
///
/// The bound follows from how byte pair encoding ends: never with two neighbours that make a token together. But for 29
/// pairs any two lower-case ASCII letters make one, and so does a space or a hyphen with a letter behind it; of `n` such
/// characters at most `(2n + 1) / 3` tokens are left, and one more for each of those pairs. A thousand common words are
/// one token each with the space before them. Up to three digits are one token. Every other character is at most its
/// UTF-8 bytes, kana two and so are the ideographs of most rows. Prose comes to about twice its tokens.
#[must_use]
pub fn most_tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut rest = text;
    // Whether the character before belongs to a word or a number: then a hyphen leads what follows.
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

/// The beginning of a text of which every character is of a kind.
fn run(text: &str, kind: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !kind(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The most tokens of a word of lower-case letters with the sign that leads it. `after` is the character behind it:
/// letters, marks and apostrophes of any kind may make it another word.
fn of_word(lead: &str, word: &str, after: Option<char>) -> usize {
    let ends = after.is_none_or(|c| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '\'');
    if lead == " " && ends && common().contains(word) {
        return 1;
    }
    let pairs = word.as_bytes().windows(2).filter(|pair| APART.iter().any(|apart| apart.as_bytes() == *pair)).count();
    (2 * (lead.len() + word.len()) + 1) / 3 + pairs
}

/// The words that most of 252 public SKILL.md files use, of those that are a token with the space before them.
fn common() -> &'static HashSet<&'static str> {
    static COMMON: OnceLock<HashSet<&'static str>> = OnceLock::new();
    COMMON.get_or_init(|| include_str!("words.txt").split_whitespace().collect())
}

/// The pairs of lower-case letters that are no token.
const APART: [&str; 29] = [
    "bq", "gk", "gq", "jv", "jz", "kq", "kz", "lq", "nq", "qf", "qg", "qj", "qk", "qv", "qz", "rj", "tq", "wq", "wz",
    "xg", "xj", "xk", "xq", "xv", "xw", "yq", "zj", "zq", "zv",
];
/// The rows of 64 ideographs, by their first, in which some are three tokens.
const RARE_ROWS: [u32; 14] =
    [0x5d40, 0x5d80, 0x6ac0, 0x8780, 0x8800, 0x9780, 0x9bc0, 0x9c00, 0x9c40, 0x9d00, 0x9d40, 0x9d80, 0x9dc0, 0x9fc0];

/// Kana, and the ideographs of which none is more than two tokens.
fn is_paired(c: char) -> bool {
    match c {
        '\u{3040}'..='\u{30ff}' => true,
        '\u{4e00}'..='\u{9fff}' => !RARE_ROWS.contains(&(c as u32 & !0x3f)),
        _ => false,
    }
}
