//! Cutting a description down to its first sentence.

use std::borrow::Cow;

/// The longest one-sentence description, in characters, `…` included.
pub const MAX_SENTENCE_CHARS: usize = 100;

/// How much of a description is looked at, in characters: far more than any sentence that is kept.
const LOOK_AHEAD_CHARS: usize = 1_000;

/// Words that end with a full stop without ending a sentence.
const ABBREVIATIONS: [&str; 14] =
    ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "incl.", "excl.", "resp.", "max.", "min.", "no.", "fig.", "dr."];

/// The first sentence of a description, on one line, at most [`MAX_SENTENCE_CHARS`] characters.
///
/// A sentence ends at `。！？`, at `.!?` before white space or the end, or at the end of a paragraph. An abbreviation, a
/// version, a URL or a file name does not end one. A longer sentence is cut at a word and closed with `…`.
#[must_use]
pub fn first_sentence(description: &str) -> String {
    let line = one_line(description);
    let sentence = cut(&line);
    if sentence.chars().count() <= MAX_SENTENCE_CHARS {
        return sentence.to_owned();
    }
    let kept: String = sentence.chars().take(MAX_SENTENCE_CHARS).collect();
    // The last character makes room for `…`; a word is kept only if it is whole.
    let mut head: &str = kept.char_indices().next_back().and_then(|(at, _)| kept.get(..at)).unwrap_or_default();
    let whole = sentence.chars().nth(MAX_SENTENCE_CHARS - 1).is_some_and(char::is_whitespace);
    if !whole && let Some(at) = head.rfind(char::is_whitespace).filter(|at| *at > 0) {
        head = head.get(..at).unwrap_or(head);
    }
    format!("{}…", head.trim_end_matches([' ', ',', ';', ':', '，', '；', '、', '-', '(', '（']))
}

/// The first paragraph with white space folded to single blanks; borrowed never, bounded always.
fn one_line(description: &str) -> Cow<'static, str> {
    let mut out = String::new();
    for line in description.trim().lines() {
        let line = line.trim();
        if line.is_empty() || out.chars().count() > LOOK_AHEAD_CHARS {
            break;
        }
        for word in line.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.extend(word.chars().take(LOOK_AHEAD_CHARS));
            if out.len() > LOOK_AHEAD_CHARS * 4 {
                break;
            }
        }
    }
    Cow::Owned(out)
}

fn cut(line: &str) -> &str {
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                chars.peek().is_none_or(|(_, next)| next.is_whitespace())
                    && !(c == '.' && abbreviated(line.get(..end).unwrap_or_default()))
            }
            _ => false,
        };
        if ends {
            return line.get(..end).unwrap_or(line);
        }
    }
    line
}

/// Whether the text ends in an abbreviation rather than at the end of a sentence.
fn abbreviated(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '[', '"', '\'', '“', '（', ',']).to_lowercase();
    ABBREVIATIONS.contains(&word.as_str())
}
