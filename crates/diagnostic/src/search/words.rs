//! The words of names, descriptions and queries.

use unicode_general_category::{GeneralCategory, get_general_category};

use super::stem::stem;

/// Words too common to search for.
const STOP_WORDS: [&str; 44] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "for", "from", "has", "have", "i", "if", "in",
    "into", "is", "it", "me", "my", "no", "not", "of", "on", "or", "our", "such", "that", "the", "their", "then",
    "there", "these", "they", "this", "to", "was", "we", "will", "with", "you", "your",
];

/// Words that say nothing in a query, because every entry is one of these.
const QUERY_STOP_WORDS: [&str; 14] = [
    "tool",
    "tools",
    "server",
    "servers",
    "platform",
    "service",
    "function",
    "functions",
    "api",
    "task",
    "assistant",
    "operation",
    "operations",
    "available",
];

/// Calls `each` for each word of a text, in lower case. Words are split at capitals, so that
/// `readFile` has two. A run in a script without spaces is split into overlapping pairs of
/// characters.
pub(super) fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut before = Kind::Other;
    let mut unspaced: Option<(char, bool)> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let kind = Kind::of(c);
        if kind == Kind::Unspaced {
            flush(&mut word, &mut each);
            if let Some((previous, _)) = unspaced {
                each(&String::from_iter([previous, c]));
            }
            unspaced = Some((c, unspaced.is_some()));
        } else {
            end_unspaced(&mut unspaced, &mut each);
            let next_is_lower = chars.peek().is_some_and(|next| Kind::of(*next) == Kind::Lower);
            let splits = kind == Kind::Upper && (before == Kind::Lower || before == Kind::Upper && next_is_lower);
            if splits || kind == Kind::Other {
                flush(&mut word, &mut each);
            }
            match kind {
                Kind::Other => {}
                Kind::Upper => word.extend(c.to_lowercase()),
                _ => word.push(c),
            }
        }
        before = kind;
    }
    end_unspaced(&mut unspaced, &mut each);
    flush(&mut word, &mut each);
}

fn flush(word: &mut String, each: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        each(word);
        word.clear();
    }
}

/// Ends a run of a script without spaces: a single character is a word.
fn end_unspaced(run: &mut Option<(char, bool)>, each: &mut impl FnMut(&str)) {
    if let Some((only, false)) = run.take() {
        each(only.encode_utf8(&mut [0; 4]));
    }
}

/// The term of a word: its stem, or `None` for a stop word.
pub(super) fn term(word: &str) -> Option<String> {
    if STOP_WORDS.contains(&word) {
        return None;
    }
    Some(stem(word)).filter(|stem| !STOP_WORDS.contains(&stem.as_str()))
}

/// Whether a word or its stem says nothing in a query.
pub(super) fn is_query_stop_word(word: &str, term: &str) -> bool {
    QUERY_STOP_WORDS.contains(&word) || QUERY_STOP_WORDS.iter().any(|stop| stem(stop) == term)
}

/// The words of a name in lower case, joined by spaces: equal for `server.readFile`,
/// `server__read_file` and `Server read file`.
pub(super) fn joined_words(name: &str) -> String {
    let mut joined = String::new();
    each_word(name, |word| {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    });
    joined
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    /// A digit, a letter without case, or a mark that belongs to the letter before it.
    Caseless,
    /// A letter of a script without spaces between words.
    Unspaced,
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        if c.is_ascii_lowercase() {
            Self::Lower
        } else if c.is_ascii_uppercase() {
            Self::Upper
        } else if c.is_ascii() {
            if c.is_ascii_digit() { Self::Caseless } else { Self::Other }
        } else if is_unspaced(c) {
            Self::Unspaced
        } else if c.is_lowercase() {
            Self::Lower
        } else if c.is_uppercase() {
            Self::Upper
        } else if c.is_alphanumeric() || is_mark(c) {
            Self::Caseless
        } else {
            Self::Other
        }
    }
}

fn is_mark(c: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark, SpacingMark};
    matches!(get_general_category(c), EnclosingMark | NonspacingMark | SpacingMark)
}

/// Whether a character is Han, kana, Hangul, Thai, Lao, Khmer or Burmese.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_split_at_capitals_and_pairs() {
        for (text, expected) in [
            ("getURLPath", "get url path"),
            ("github__create-issue2", "github create issue2"),
            ("The file's café, naïve Straße", "the file s café naïve straße"),
            ("单元格", "单元 元格"),
            ("读 file写入a", "读 file 写入 a"),
            ("Привет МИР", "привет мир"),
            ("cafe\u{301} x", "cafe\u{301} x"),
            ("हिन्दी शब्द", "हिन्दी शब्द"),
            (" … ", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
        assert_eq!(term("the"), None);
        assert_eq!(term("files").as_deref(), Some("fil"));
        assert!(is_query_stop_word("services", "servic"));
        assert_eq!(joined_words("Server.readFile"), joined_words("server__read_file"));
    }
}
