//! Encodings: the vocabulary of a model, and counting with it in bounded time.

use std::fmt;
use std::str::FromStr;

use super::meter::{hint, shown_name};
use crate::diagnostic::InvalidValue;
use crate::model::{ModelId, Version};
use crate::name::nearest;

/// Counts the tokens of a text.
pub trait TokenCounter {
    /// The name of the encoding, as printed beside a figure: `o200k_base`.
    fn name(&self) -> &str;

    /// The number of tokens of a text. Special tokens in it count as ordinary text.
    fn count(&self, text: &str) -> usize;

    /// Whether a text may be split between these two adjacent characters in any context without
    /// changing its count: `count(a + b) == count(a) + count(b)` for every `a` ending in `before`
    /// and `b` starting with `after`. [`marginal`](super::marginal::marginal) counts windows
    /// between such splits. `false` is always correct.
    fn splits_between(&self, before: char, after: char) -> bool {
        let _ = (before, after);
        false
    }
}

impl<C: TokenCounter + ?Sized> TokenCounter for &C {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn count(&self, text: &str) -> usize {
        (**self).count(text)
    }

    fn splits_between(&self, before: char, after: char) -> bool {
        (**self).splits_between(before, after)
    }
}

/// A published vocabulary of OpenAI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Encoding {
    /// `o200k_base`: gpt-4o, 4.1, 4.5, gpt-5 and the o-series.
    O200kBase,
    /// `cl100k_base`: gpt-3.5 and gpt-4, including turbo.
    Cl100kBase,
}

impl Encoding {
    /// Every encoding.
    pub(crate) const ALL: [Self; 2] = [Self::O200kBase, Self::Cl100kBase];

    /// The published name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// The encoding of a model in the spelling of any host, and whether it is assumed because none
    /// is published.
    ///
    /// Source: the table of models that OpenAI publishes with `tiktoken`. Models without a
    /// published encoding count as `o200k_base`, the newest.
    #[must_use]
    pub(crate) fn for_model(model: &str) -> (Self, bool) {
        Self::of_id(&ModelId::parse(model))
    }

    pub(super) fn of_id(id: &ModelId) -> (Self, bool) {
        let Some(version) = id.version else { return (Self::O200kBase, true) };
        match id.family.as_deref() {
            Some("gpt") if version >= Version::new(6, 0) => (Self::O200kBase, true),
            Some("gpt") if version >= Version::new(4, 1) || id.variants.iter().any(|word| word == "4o") => {
                (Self::O200kBase, false)
            }
            Some("gpt") => (Self::Cl100kBase, false),
            Some("o") => (Self::O200kBase, version >= Version::new(5, 0)),
            _ => (Self::O200kBase, true),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Encoding {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|e| e.name() == text).ok_or_else(|| {
            let near = hint(nearest(text, Self::ALL.map(Self::name), 1).first());
            let text = shown_name(text);
            InvalidValue::from(format!("`{text}` is not an encoding: use `o200k_base` or `cl100k_base`{near}"))
        })
    }
}

/// The maximum length of a text passed to the tokenizer at once, in bytes.
///
/// tiktoken-rs 0.12.1 panics on about 1 MB of spaces or tabs (`fancy-regex` reports
/// `StackOverflow`, which is unwrapped), and takes `n log n` time with bad locality on one huge
/// piece. 100 KB of any such run was measured safe; this is a sixth of it.
const LONGEST_STRETCH: usize = 16 * 1024;

/// Whether both OpenAI patterns split here in any context: after a letter or a digit, before white
/// space or ASCII punctuation.
///
/// A piece of letters ends before any character that is not a letter or mark, except for
/// contractions such as `'s` (so `'` is not a split); a piece of digits ends before any character
/// that is not a digit; and the next character begins a new piece, because the patterns never look
/// behind. Only ASCII, Han, kana and Hangul letters count: their general categories will not
/// change.
#[must_use]
pub(crate) fn openai_splits_between(before: char, after: char) -> bool {
    let word = matches!(before, '0'..='9' | 'a'..='z' | 'A'..='Z' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}'
        | '\u{4e00}'..='\u{9fef}' | '\u{ac00}'..='\u{d7a3}');
    word && after != '\'' && (after.is_ascii_punctuation() || matches!(after, ' ' | '\n' | '\r' | '\t'))
}

/// Splits a text into stretches of at most [`LONGEST_STRETCH`] bytes: at the last place where the
/// tokenizer splits anyway or, if there is none, at the maximum length.
#[cfg_attr(not(feature = "tiktoken"), allow(dead_code, reason = "only the tokenizer needs stretches"))]
fn stretches(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (head, tail) = rest.split_at_checked(stretch_end(rest)).unwrap_or((rest, ""));
        rest = tail;
        Some(head)
    })
}

fn stretch_end(text: &str) -> usize {
    if text.len() <= LONGEST_STRETCH {
        return text.len();
    }
    let limit = text.floor_char_boundary_at(LONGEST_STRETCH);
    let mut after: Option<(usize, char)> = None;
    for (at, before) in text.get(..limit).unwrap_or_default().char_indices().rev() {
        if let Some((cut, next)) = after
            && openai_splits_between(before, next)
        {
            return cut;
        }
        after = Some((at, before));
    }
    limit
}

/// `str::floor_char_boundary`, which requires a newer Rust version than the oldest supported one.
trait FloorCharBoundary {
    fn floor_char_boundary_at(&self, at: usize) -> usize;
}

impl FloorCharBoundary for str {
    fn floor_char_boundary_at(&self, at: usize) -> usize {
        (0..=at.min(self.len())).rev().find(|&i| self.is_char_boundary(i)).unwrap_or(0)
    }
}

/// OpenAI's tokenizer, from tiktoken-rs.
///
/// A vocabulary is loaded when the first text is counted with it (about 0.06 s of CPU) and stays
/// for the life of the process; unused ones are not loaded. Counts are exact for every text in
/// which white space or punctuation follows a letter or digit at least once in 16 KiB. A longer run
/// (base64 without `+` and `/`, a megabyte of spaces) is split every 16 KiB, which may add a token
/// or two per split. Counting never panics, and any megabyte takes well under two seconds.
#[cfg(feature = "tiktoken")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiktoken {
    encoding: Encoding,
}

#[cfg(feature = "tiktoken")]
impl Tiktoken {
    /// Creates a counter with an encoding. Loads nothing yet.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        Self { encoding }
    }
}

#[cfg(feature = "tiktoken")]
impl TokenCounter for Tiktoken {
    fn name(&self) -> &str {
        self.encoding.name()
    }

    fn count(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        // Unknown is never 0: without a vocabulary a text counts as its bytes, which no real count
        // exceeds.
        let Some(vocabulary) = super::vocabulary::vocabulary(self.encoding) else { return text.len() };
        stretches(text).map(|stretch| vocabulary.count(stretch)).sum()
    }

    fn splits_between(&self, before: char, after: char) -> bool {
        openai_splits_between(before, after)
    }
}

#[cfg(test)]
mod tests {
    use super::Encoding;

    #[test]
    fn models_select_their_encoding() {
        for (model, encoding, assumed) in [
            ("gpt-4o-mini", Encoding::O200kBase, false),
            ("gpt-4.1", Encoding::O200kBase, false),
            ("gpt-4.5-preview", Encoding::O200kBase, false),
            ("gpt-5.6-sol", Encoding::O200kBase, false),
            ("o3-mini", Encoding::O200kBase, false),
            ("gpt-4", Encoding::Cl100kBase, false),
            ("gpt-4-turbo", Encoding::Cl100kBase, false),
            ("gpt-35-turbo", Encoding::Cl100kBase, false),
            ("openai/gpt-4-turbo", Encoding::Cl100kBase, false),
            ("azure/gpt-4o", Encoding::O200kBase, false),
            ("chatgpt-4o-latest", Encoding::O200kBase, false),
            ("ft:gpt-4o-mini:org::id", Encoding::O200kBase, false),
            ("gpt-6", Encoding::O200kBase, true),
            ("gpt-oss-120b", Encoding::O200kBase, true),
            ("", Encoding::O200kBase, true),
        ] {
            assert_eq!(Encoding::for_model(model), (encoding, assumed), "{model}");
        }
    }
}
