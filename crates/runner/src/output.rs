//! The output of a script as a model reads it.

use toolfold_diagnostic::diagnostic::invisible;

/// A text without control characters, except line breaks and tabs, and without characters that are
/// invisible or change the direction of text.
#[must_use]
pub fn clean(text: &str) -> String {
    let visible = |c: &char| matches!(c, '\n' | '\t') || !c.is_control() && invisible(*c).is_none();
    text.chars().filter(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_gets_visible_characters_only() {
        assert_eq!(clean("a\x1b[31mb\r\n\tc\u{202e}d\u{200b}e\0"), "a[31mb\n\tcde");
    }
}
