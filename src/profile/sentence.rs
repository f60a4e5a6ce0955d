//! Shortens a description to one sentence.

mod blocks;
mod choose;
mod judge;
mod markup;
mod phrases;

pub(super) use self::choose::{Sentence, sentences};

/// The maximum length of a one-sentence description, in characters including `…`.
pub(crate) const MAX_SENTENCE_CHARS: usize = 100;

/// Words that end with a full stop without ending a sentence.
const ABBREVIATIONS: [&str; 28] = [
    "e.g.", "i.e.", "vs.", "cf.", "approx.", "incl.", "excl.", "resp.", "max.", "min.", "no.", "fig.", "dr.", "mr.",
    "mrs.", "ca.", "ex.", "z.b.", "d.h.", "bzw.", "v.", "ver.", "rev.", "vol.", "st.", "prof.", "al.", "pp.",
];

/// The first sentence of a description, on one line, at most 100 characters.
///
/// A sentence ends at `。！？`, at `.!?` before white space or the end, or at the end of a paragraph.
/// A full stop before a lower-case letter does not end it (UAX #29, rule SB8), nor does one inside
/// an abbreviation, a version, a URL or a file name. A longer sentence is cut at a word and closed
/// with `…`. Only as much of the description is read as fits.
#[must_use]
pub fn first_sentence(description: &str) -> String {
    let mut out = Shortened::default();
    for line in description.trim_start().lines() {
        let mut words = line_words(line).peekable();
        if words.peek().is_none() {
            break;
        }
        while let Some(word) = words.next() {
            let (kept, ends) = until_end(word, words.peek().copied());
            if !out.push(kept) {
                return out.close_shortened(kept);
            }
            if ends {
                return out.text;
            }
        }
    }
    out.text
}

/// Shortens a text to one line of sentence length, closed with `…` if it was cut.
fn shortened(text: &str) -> String {
    let mut out = Shortened::default();
    for word in line_words(text) {
        if !out.push(word) {
            return out.close_shortened(word);
        }
    }
    out.text
}

/// A sentence that is built word by word.
#[derive(Default)]
struct Shortened {
    text: String,
    chars: usize,
}

impl Shortened {
    /// Adds a word. Returns whether it fits.
    fn push(&mut self, word: &str) -> bool {
        let length = if word.is_ascii() { word.len() } else { word.chars().take(MAX_SENTENCE_CHARS + 1).count() };
        let gap = usize::from(!self.text.is_empty());
        if self.chars + gap + length > MAX_SENTENCE_CHARS {
            return false;
        }
        if gap > 0 {
            self.text.push(' ');
        }
        self.text.push_str(word);
        self.chars += gap + length;
        true
    }

    /// Returns what fits, closed with `…`: complete words, or the beginning of the only one.
    fn close_shortened(mut self, next: &str) -> String {
        if self.chars == 0 {
            self.text.extend(next.chars().take(MAX_SENTENCE_CHARS - 1));
        } else if self.chars == MAX_SENTENCE_CHARS {
            // The `…` replaces the last word, or the last character of the only word.
            let cut = self.text.rfind(' ').or_else(|| self.text.char_indices().next_back().map(|(at, _)| at));
            self.text.truncate(cut.unwrap_or_default());
        }
        let kept = self.text.trim_end_matches([' ', ',', ';', ':', '，', '；', '、', '-', '(', '（', '。', '.']).len();
        self.text.truncate(kept);
        self.text.push('…');
        self.text
    }
}

/// The words of a line. Most lines are ASCII with single spaces, which need no check of each
/// character.
fn line_words(line: &str) -> impl Iterator<Item = &str> {
    let plain =
        line.len() <= MAX_LOOKED_AT && line.bytes().fold(true, |plain, byte| plain & (0x20..0x7f).contains(&byte));
    let (blanks, spaces) = if plain { (line, "") } else { ("", line) };
    blanks.split(' ').filter(|word| !word.is_empty()).chain(spaces.split_whitespace())
}

/// The maximum length of a line that is searched for spaces only, in bytes.
const MAX_LOOKED_AT: usize = 1_000;

/// The part of a word up to the end of a sentence, and whether a sentence ends in it. White space
/// or the end of the text follows a word; `next` is the following word.
fn until_end<'t>(word: &'t str, next: Option<&str>) -> (&'t str, bool) {
    if !word.is_ascii()
        && let Some((at, c)) = word.char_indices().find(|(_, c)| matches!(c, '。' | '！' | '？'))
    {
        return (word.get(..at + c.len_utf8()).unwrap_or(word), true);
    }
    let bare = word.trim_end_matches(['"', '\'', '”', '’', ')', ']', '*', '_', '`', '»']);
    let goes_on = || next.is_some_and(begins_lower);
    let ends = bare.ends_with(['!', '?']) || (bare.ends_with('.') && !abbreviated(bare, next));
    (word, ends && !goes_on())
}

/// Whether a word begins with a lower-case letter, after any opening punctuation.
fn begins_lower(word: &str) -> bool {
    word.trim_start_matches(['(', '[', '"', '\'', '“', '*', '_']).starts_with(char::is_lowercase)
}

/// Whether a word that ends in a full stop is an abbreviation.
fn abbreviated(word: &str, next: Option<&str>) -> bool {
    let word = word.trim_start_matches(['(', '[', '"', '\'', '“', '（', ',']);
    if word.eq_ignore_ascii_case("etc.") || word == "..." || word.ends_with('…') {
        return next.is_some_and(|next| !next.starts_with(char::is_uppercase));
    }
    // At least two letters with a full stop each: `U.S.`, `a.m.`.
    let mut letters = word.split_terminator('.');
    let initials = word.len() >= 4 && letters.all(|letter| letter.len() == 1 && letter.is_ascii());
    initials || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_full_stop_before_a_lower_case_letter_ends_nothing() {
        let cases = [
            ("Reads approx. half of it. Then the rest.", "Reads approx. half of it."),
            ("Runs foo. bar is run too. Then stops.", "Runs foo. bar is run too."),
            (
                "Filters by state (open, closed, etc.) and by label. Slow.",
                "Filters by state (open, closed, etc.) and by label.",
            ),
            ("Takes rows, columns, etc. Then sorts.", "Takes rows, columns, etc."),
            ("Ships to the U.S. Postal codes only. More.", "Ships to the U.S. Postal codes only."),
            ("Says \"Hello.\" Then waits.", "Says \"Hello.\""),
            ("Reads v1.2 of a.txt at https://x.y/z. Then stops.", "Reads v1.2 of a.txt at https://x.y/z."),
            ("读取文件。第二句。", "读取文件。"),
        ];
        for (text, expected) in cases {
            assert_eq!(first_sentence(text), expected);
        }
    }
}
