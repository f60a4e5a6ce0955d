//! The one glob of this layer: `*` any run of characters, `?` one character. No classes, no escapes.

/// Whether `text` fits `pattern` as a whole.
///
/// Runs in time proportional to the product of both lengths at worst, without recursion.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    glob_with(pattern, text, |a, b| a == b, |_| true)
}

/// The same, where letters that differ only in case are equal.
pub(crate) fn glob_fold(pattern: &str, text: &str) -> bool {
    glob_with(pattern, text, same_letter, |_| true)
}

/// The same within one path segment: neither `*` nor `?` stands for `/`.
pub(crate) fn glob_segment(pattern: &str, text: &str, fold: bool) -> bool {
    if fold {
        glob_with(pattern, text, same_letter, |c| c != '/')
    } else {
        glob_with(pattern, text, |a, b| a == b, |c| c != '/')
    }
}

/// The same where letters differ at most in case, and both cases agree: narrower than folding.
pub(crate) fn glob_ignoring_case(pattern: &str, text: &str) -> bool {
    glob_with(pattern, text, super::unicode::differs_only_in_case, |c| c != '/')
}

/// Whether a text has any of the glob's own characters.
pub(crate) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
}

fn same_letter(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

fn glob_with(pattern: &str, text: &str, same: impl Fn(char, char) -> bool, wild: impl Fn(char) -> bool) -> bool {
    let (mut p, mut t) = (pattern.chars(), text.chars());
    // Where to go on when the text after a `*` does not fit: behind the star, one character further.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let before_t = t.clone();
        match (p.next(), t.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((p.clone(), before_t.clone()));
                t = before_t;
                continue;
            }
            (Some('?'), Some(c)) if wild(c) => continue,
            (Some(a), Some(b)) if a != '?' && same(a, b) => continue,
            _ => {}
        }
        let Some((star, from)) = &mut retry else { return false };
        match from.next() {
            Some(c) if wild(c) => {
                p = star.clone();
                t = from.clone();
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, fits) in [
            ("", "", true),
            ("*", "", true),
            ("*", "abc", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("ls", "lsof", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} ~ {text}");
        }
        assert!(glob_fold("README*", "readme.md"));
        assert!(!glob_segment("a*", "a/b", false));
        assert!(glob_segment("*.RS", "x.rs", true));
    }

    #[test]
    fn a_hostile_pattern_ends_soon() {
        assert!(!glob(&format!("{}b", "a*".repeat(100)), &"a".repeat(2_000)));
    }
}
