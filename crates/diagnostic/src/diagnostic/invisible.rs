//! Characters that are invisible, or that change how the surrounding text is shown.
//!
//! One classification serves all purposes: diagnostics escape these characters, the catalog warns
//! about them, policy ignores them in names, and skill texts are stripped of them. Sources: the
//! general categories `Cc`, `Cf`, `Zl` and `Zp` and the property `Default_Ignorable_Code_Point` of
//! Unicode 16.0 (`UnicodeData.txt`, `DerivedCoreProperties.txt`); "Trojan Source" (CVE-2021-42574)
//! for the bidirectional ones.

use std::borrow::Cow;

/// The kind of an invisible character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Invisible {
    /// A tab, line feed or carriage return, as in ordinary text.
    Break,
    /// Another control character. Terminal escape sequences begin with one.
    Control,
    /// U+2028 or U+2029: a line break that most programs do not show.
    Separator,
    /// Reorders the text around it.
    Bidi,
    /// A soft hyphen, or one of the two joiners that some scripts and many emoji need.
    Joiner,
    /// Selects a variant of the preceding character.
    Selector,
    /// A tag character: a copy of ASCII that is never shown.
    Tag,
    /// Shows nothing: zero-width spaces, fillers, and code points that Unicode reserves for this
    /// purpose.
    Blank,
    /// A format character that is shown, such as the Arabic number sign.
    Mark,
}

/// The kind of a character; `None` for a visible one.
#[must_use]
pub fn invisible(c: char) -> Option<Invisible> {
    Some(match c {
        '\t' | '\n' | '\r' => Invisible::Break,
        _ if c.is_control() => Invisible::Control,
        '\0'..='\u{ac}' => return None,
        '\u{2028}' | '\u{2029}' => Invisible::Separator,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Invisible::Bidi,
        '\u{ad}' | '\u{200c}' | '\u{200d}' => Invisible::Joiner,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            Invisible::Selector
        }
        '\u{e0000}'..='\u{e007f}' => Invisible::Tag,
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        // The empty Braille pattern: not ignorable by Unicode's rules, but shown as nothing.
        | '\u{2800}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0080}'..='\u{e0fff}' => Invisible::Blank,
        '\u{600}'..='\u{605}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'
        | '\u{891}'
        | '\u{8e2}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}' => Invisible::Mark,
        _ => return None,
    })
}

/// Whether a character must be escaped for display because it is invisible or reorders text. True
/// for all kinds except selectors and marks, which do not affect other characters.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    !matches!(invisible(c), None | Some(Invisible::Selector | Invisible::Mark))
}

/// Returns the first character that can hide text from a person while a model or a shell still
/// reads it. Breaks, joiners, selectors and marks are part of ordinary text, except the second of
/// two adjacent selectors: it selects nothing and may carry data.
#[must_use]
pub fn hidden_in(text: &str) -> Option<char> {
    let mut before = None;
    text.chars().find(|&c| {
        let kind = invisible(c);
        let second = kind == Some(Invisible::Selector) && before == kind;
        before = kind;
        second
            || matches!(
                kind,
                Some(Invisible::Control | Invisible::Separator | Invisible::Bidi | Invisible::Tag | Invisible::Blank)
            )
    })
}

/// Escapes invisible characters as `\u{…}`, so that a hostile name cannot rewrite the terminal line
/// that reports it. Borrows a text without invisible characters.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_general_category::{GeneralCategory as Category, get_general_category};

    /// Compares with Unicode's own table: every format character, control and separator is
    /// classified, and no visible letter, number, sign or space is.
    #[test]
    fn the_classes_agree_with_the_general_categories() {
        // A quick run skips the planes without assigned characters and the private use planes.
        let all =
            |c: &char| !toolfold_testing::Cases::of_this_run().is_quick() || matches!(u32::from(*c) >> 16, 0 | 1 | 14);
        for c in ('\0'..=char::MAX).filter(all) {
            let category = get_general_category(c);
            let unseen = matches!(
                category,
                Category::Control | Category::Format | Category::LineSeparator | Category::ParagraphSeparator
            );
            let kind = invisible(c);
            if unseen {
                assert!(kind.is_some(), "U+{:04X} {category:?}", u32::from(c));
            } else if let Some(kind) = kind {
                let expected = match c {
                    '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => Category::OtherLetter,
                    '\u{2800}' => Category::OtherSymbol,
                    '\u{34f}' | '\u{17b4}' | '\u{17b5}' => Category::NonspacingMark,
                    _ if kind == Invisible::Selector => Category::NonspacingMark,
                    _ => Category::Unassigned,
                };
                assert_eq!(category, expected, "U+{:04X} {kind:?}", u32::from(c));
            }
        }
    }

    #[test]
    fn each_purpose_has_its_own_rule() {
        for (c, escaped, hides) in [
            ('a', false, false),
            (' ', false, false),
            ('\u{a0}', false, false),
            ('\n', true, false),
            ('\t', true, false),
            ('\u{1b}', true, true),
            ('\u{85}', true, true),
            ('\u{ad}', true, false),
            ('\u{200b}', true, true),
            ('\u{200d}', true, false),
            ('\u{202e}', true, true),
            ('\u{2029}', true, true),
            ('\u{3164}', true, true),
            ('\u{fe0f}', false, false),
            ('\u{e0041}', true, true),
            ('\u{e0101}', false, false),
            ('\u{604}', false, false),
            ('\u{10ffff}', false, false),
        ] {
            assert_eq!(is_invisible(c), escaped, "{c:?}");
            assert_eq!(hidden_in(&format!("x{c}y")), hides.then_some(c), "{c:?}");
        }
        assert_eq!(
            hidden_in("\u{26a0}\u{fe0f} warning \u{845b}\u{e0100}"),
            None,
            "emoji and ideographs choose pictures"
        );
        assert_eq!(hidden_in("ok\u{fe0f}\u{fe03}"), Some('\u{fe03}'), "data in selectors");
    }
}
