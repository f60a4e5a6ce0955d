//! Formats of `printf` that assign variables.

use crate::argv::{Word, base_name, behind_first, first, program};

/// Words that may precede a built-in and run it.
const BEFORE: &[&str] = &["command", "builtin", "exec", "noglob", "nocorrect", "-", "--", "-p"];

/// How a `printf` changes variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Assigns {
    /// In no way, as far as its words are known.
    No,
    /// Its format is known only when it runs: it may.
    Maybe,
    /// `-v NAME` or `%n`.
    Yes,
}

/// The words of a command from its built-in on: without `builtin`, `command -p` and the like.
pub(super) fn behind_prefixes(words: &[Word]) -> &[Word] {
    let from = words.iter().position(|word| !matches!(word.get(), Some(text) if BEFORE.contains(&text)));
    words.get(from.unwrap_or(words.len())..).unwrap_or_default()
}

/// Whether [`assigns`] depends on the words behind this first one.
pub(super) fn is_lead(first: &Word) -> bool {
    matches!(first.get(), Some(name) if BEFORE.contains(&name) || base_name(name) == "printf")
}

/// Whether a command is a `printf` that assigns a variable. `words` are its program and arguments.
pub(super) fn assigns(words: &[Word]) -> Assigns {
    let command = behind_prefixes(words);
    if program(command) != Some("printf") {
        return Assigns::No;
    }
    let arguments = behind_first(command);
    if matches!(first(arguments), Some(text) if text.starts_with("-v")) {
        return Assigns::Yes;
    }
    match arguments.iter().find(|word| !word.is("--")).map(Word::get) {
        None => Assigns::No,
        Some(None) => Assigns::Maybe,
        Some(Some(format)) if counts(format) || counts(&decoded(format)) => Assigns::Yes,
        Some(Some(_)) => Assigns::No,
    }
}

/// Whether a format has a conversion `n`, which stores the number of characters so far: `%n`,
/// `%5n`, `%-*.3ln`.
fn counts(format: &str) -> bool {
    // Flags, width, precision, an argument's number (zsh) and modifiers of length, in any order.
    let between = |c: char| c.is_ascii_digit() || " #'+-*.$,hlLjztqI".contains(c);
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let end = behind.trim_start_matches(between);
        if end.starts_with('n') {
            return true;
        }
        rest = end.strip_prefix('%').unwrap_or(end);
    }
    false
}

/// The format with its numeric escapes replaced by their characters: zsh replaces them before it
/// reads the conversions.
fn decoded(format: &str) -> String {
    let mut text = String::new();
    let mut rest = format;
    while let Some((before, behind)) = rest.split_once('\\') {
        text.push_str(before);
        let (digits, most, radix) = match behind.chars().next() {
            Some('x') => (behind.get(1..), 2, 16),
            Some('u') => (behind.get(1..), 4, 16),
            Some('U') => (behind.get(1..), 8, 16),
            // `\045` and `\45`; a leading zero may be one more digit.
            Some('0') => (behind.get(1..), 3, 8),
            _ => (Some(behind), 3, 8),
        };
        let digits = digits.unwrap_or_default();
        let count = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let number = u32::from_str_radix(digits.split_at(count).0, radix).ok();
        match number.and_then(char::from_u32) {
            Some(c) => {
                text.push(c);
                rest = digits.get(count..).unwrap_or_default();
            }
            None => {
                text.push('\\');
                let skipped = behind.chars().next().map_or(0, char::len_utf8);
                text.push_str(behind.get(..skipped).unwrap_or_default());
                rest = behind.get(skipped..).unwrap_or_default();
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::{Assigns, assigns};
    use crate::argv::Word;

    #[track_caller]
    fn check(expected: Assigns, lines: &[&[&str]]) {
        for line in lines {
            let words: Vec<Word> = line.iter().map(|word| Word::known(word)).collect();
            assert_eq!(assigns(&words), expected, "{line:?}");
        }
    }

    #[test]
    fn formats_that_assign() {
        let formats = [
            "%n",
            "a%n",
            "%s %n",
            "%5n",
            "%ln",
            "%hhn",
            "%*n",
            "%-0+#'12.3n",
            "%.*n",
            "%2$n",
            "100% new",
            "%%%n",
            "%%a%n\\n",
            "\\x25n",
            "%\\x6e",
            "\\45n",
            "\\045n",
            // bash replaces the escape when it prints, so that the `%` after it begins a
            // conversion.
            "\\045%n",
            "\\0045n",
            "%\\156",
            "\\u0025n",
            "\\U00000025n",
            "%\\\\%n",
        ];
        for format in formats {
            check(Assigns::Yes, &[&["printf", format, "X"], &["printf", "--", format, "X"]]);
        }
        check(
            Assigns::Yes,
            &[
                &["printf", "-v", "x", "a"],
                &["printf", "-vx", "a"],
                &["command", "-p", "printf", "%n", "x"],
                &["builtin", "printf", "%n", "x"],
                &["/usr/bin/printf", "%n", "x"],
            ],
        );
    }

    #[test]
    fn formats_that_only_print() {
        for format in
            ["", "a", "%s\\n", "%%n", "50%\\n", "%d %5.2f %x", "%%%%n", "a\\nb", "%snow", "\\\\x25n", "%", "%q\\x41n"]
        {
            check(Assigns::No, &[&["printf", format, "n"]]);
        }
        check(Assigns::No, &[&["printf"], &["printf", "--"], &["echo", "%n", "x"], &["printf", "%s", "%n", "-v"]]);
        assert_eq!(assigns(&[Word::known("printf"), Word::unknown("$x", false)]), Assigns::Maybe);
    }
}
