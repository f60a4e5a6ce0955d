//! Escapes of half a character, which cut texts contain and no JSON reader of Rust accepts.

use std::borrow::Cow;

/// The text with U+FFFD for each escape of a surrogate that has no partner. Of the same length.
pub(super) fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut lone: Vec<usize> = Vec::new();
    let mut at = 0;
    // A backslash outside a string is not JSON, so that every one begins an escape.
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let next = match unit(text, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(text, at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                lone.push(at);
                6
            }
            _ => 2,
        };
        at += next;
    }
    if lone.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut whole = text.to_owned();
    for at in lone {
        whole.replace_range(at..at + 6, "\\ufffd");
    }
    Cow::Owned(whole)
}

/// The UTF-16 unit of an escape at a place, `\u` and four digits.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    // `from_str_radix` accepts a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}
