//! Cutting a description down to its first sentence.

/// The longest one-sentence description, in characters, `…` included.
pub const MAX_SENTENCE_CHARS: usize = 100;

/// Words that end with a full stop without ending a sentence.
const ABBREVIATIONS: [&str; 14] =
    ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "incl.", "excl.", "resp.", "max.", "min.", "no.", "fig.", "dr."];

/// The first sentence of a description, on one line, at most [`MAX_SENTENCE_CHARS`] characters.
///
/// A sentence ends at `。！？`, at `.!?` before white space or the end, or at the end of a paragraph. An abbreviation, a
/// version, a URL or a file name does not end one. A longer sentence is cut at a word and closed with `…`. No more of the
/// description is looked at than can be kept.
#[must_use]
pub fn first_sentence(description: &str) -> String {
    let mut out = String::with_capacity(MAX_SENTENCE_CHARS + 4);
    let mut chars = 0;
    for line in description.trim_start().lines() {
        let mut words = words(line).peekable();
        if words.peek().is_none() {
            break;
        }
        for word in words {
            let (kept, ends) = until_end(word);
            let length = if kept.is_ascii() { kept.len() } else { kept.chars().take(MAX_SENTENCE_CHARS + 1).count() };
            let gap = usize::from(!out.is_empty());
            if chars + gap + length > MAX_SENTENCE_CHARS {
                return shortened(out, chars, kept);
            }
            if gap > 0 {
                out.push(' ');
            }
            out.push_str(kept);
            chars += gap + length;
            if ends {
                return out;
            }
        }
    }
    out
}

/// The words of a line. Most lines are ASCII with single blanks, where they can be had without looking at characters.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let plain =
        line.len() <= MAX_LOOKED_AT && line.bytes().fold(true, |plain, byte| plain & (0x20..0x7f).contains(&byte));
    let (blanks, spaces) = if plain { (line, "") } else { ("", line) };
    blanks.split(' ').filter(|word| !word.is_empty()).chain(spaces.split_whitespace())
}

/// The longest sentence that [`sentence_end`] looks for, in bytes.
const MAX_LOOKED_AT: usize = 1_000;

/// Where the first sentence of a text ends, in bytes from its beginning: by the rules of [`first_sentence`], save that an
/// `etc.` before a capital ends one as well. Nothing if it does not end within 1,000 bytes. The text begins with no white
/// space.
pub(super) fn sentence_end(text: &str) -> Option<usize> {
    let mut pieces = text.split_inclusive(char::is_whitespace).peekable();
    let (mut at, mut end, mut line_is_empty) = (0, 0, false);
    while let Some(piece) = pieces.next() {
        let word = piece.trim_end();
        if word.is_empty() && line_is_empty && piece.ends_with('\n') {
            return Some(end);
        }
        if !word.is_empty() {
            let (kept, ends) = until_end(word);
            end = at + kept.len();
            let etc = kept.eq_ignore_ascii_case("etc.")
                && pieces.peek().is_some_and(|next| next.starts_with(char::is_uppercase));
            if ends || etc {
                return Some(end);
            }
        }
        line_is_empty = piece.ends_with('\n') || (word.is_empty() && line_is_empty);
        at += piece.len();
        if at > MAX_LOOKED_AT {
            return None;
        }
    }
    Some(end)
}

/// The part of a word up to the end of a sentence, and whether one ends in it. A word is followed by white space or the
/// end of the text.
fn until_end(word: &str) -> (&str, bool) {
    if !word.is_ascii()
        && let Some((at, c)) = word.char_indices().find(|(_, c)| matches!(c, '。' | '！' | '？'))
    {
        return (word.get(..at + c.len_utf8()).unwrap_or(word), true);
    }
    (word, word.ends_with(['!', '?']) || (word.ends_with('.') && !abbreviated(word)))
}

/// What fits of a sentence that is too long, closed with `…`: whole words, or the beginning of the only one.
fn shortened(mut kept: String, chars: usize, next: &str) -> String {
    if chars == 0 {
        kept.extend(next.chars().take(MAX_SENTENCE_CHARS - 1));
    } else if chars == MAX_SENTENCE_CHARS {
        // The last word gives way to the `…`, or its last character where it is the only one.
        let cut = kept.rfind(' ').or_else(|| kept.char_indices().next_back().map(|(at, _)| at));
        kept.truncate(cut.unwrap_or_default());
    }
    kept.truncate(kept.trim_end_matches([' ', ',', ';', ':', '，', '；', '、', '-', '(', '（']).len());
    kept.push('…');
    kept
}

/// Whether a word that ends in a full stop is an abbreviation.
fn abbreviated(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '[', '"', '\'', '“', '（', ',']);
    ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}
