//! What the model may be charged for knowing that skills exist, and how that is counted without a vocabulary.

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
/// characters at most `(2n + 1) / 3` tokens are left, and one more for each of those pairs. Up to three digits are one
/// token. Every other character is at most its UTF-8 bytes, kana two and so are the ideographs of most rows. Prose comes
/// to about two and a half times its tokens.
#[must_use]
pub fn most_tokens(text: &str) -> usize {
    let mut count = Count::default();
    for c in text.chars() {
        count.add(c);
    }
    count.end();
    count.tokens
}

#[derive(Default)]
struct Count {
    tokens: usize,
    /// Letters of the current word, with what leads it.
    word: usize,
    /// Its last letter.
    last: Option<char>,
    digits: usize,
    /// A space or a hyphen that leads a word if a letter follows.
    lead: bool,
}

impl Count {
    fn add(&mut self, c: char) {
        if c.is_ascii_lowercase() {
            self.end_digits();
            self.word += 1 + usize::from(std::mem::take(&mut self.lead));
            let before = self.last.replace(c);
            self.tokens += usize::from(before.is_some_and(|before| APART.contains(&(before, c))));
            return;
        }
        let in_word = self.word > 0 || self.digits > 0;
        self.end_word();
        if c.is_ascii_digit() {
            self.digits += 1;
            return;
        }
        self.end_digits();
        match c {
            ' ' => self.lead = true,
            // After another sign it belongs to that.
            '-' if in_word => self.lead = true,
            c if is_paired(c) => self.tokens += 2,
            c => self.tokens += c.len_utf8(),
        }
    }

    fn end(&mut self) {
        self.end_word();
        self.end_digits();
    }

    fn end_word(&mut self) {
        self.tokens += (2 * self.word + 1) / 3 + usize::from(std::mem::take(&mut self.lead));
        (self.word, self.last) = (0, None);
    }

    fn end_digits(&mut self) {
        self.tokens += self.digits.div_ceil(3);
        self.digits = 0;
    }
}

/// The pairs of lower-case letters that are no token.
const APART: [(char, char); 29] = [
    ('b', 'q'),
    ('g', 'k'),
    ('g', 'q'),
    ('j', 'v'),
    ('j', 'z'),
    ('k', 'q'),
    ('k', 'z'),
    ('l', 'q'),
    ('n', 'q'),
    ('q', 'f'),
    ('q', 'g'),
    ('q', 'j'),
    ('q', 'k'),
    ('q', 'v'),
    ('q', 'z'),
    ('r', 'j'),
    ('t', 'q'),
    ('w', 'q'),
    ('w', 'z'),
    ('x', 'g'),
    ('x', 'j'),
    ('x', 'k'),
    ('x', 'q'),
    ('x', 'v'),
    ('x', 'w'),
    ('y', 'q'),
    ('z', 'j'),
    ('z', 'q'),
    ('z', 'v'),
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
