//! The glob syntax of this layer: `*` is any run of characters, `?` is one character. No classes,
//! no escapes.

/// Whether the whole of `text` fits `pattern`.
///
/// In the worst case, the time is proportional to the product of both lengths. There is no
/// recursion.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    glob_with(pattern, text, |a, b| a == b)
}

/// The same, ignoring case.
pub(crate) fn glob_fold(pattern: &str, text: &str) -> bool {
    glob_with(pattern, text, |a, b| match a.is_ascii() && b.is_ascii() {
        true => a.eq_ignore_ascii_case(&b),
        false => a.to_lowercase().eq(b.to_lowercase()),
    })
}

/// Whether a text contains a wildcard.
pub(crate) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The same for an allow: its wildcards match no `..` that leaves the path before them.
pub(crate) fn glob_inside(pattern: &str, text: &str) -> bool {
    pattern == text || (glob(pattern, text) && (!is_glob(pattern) || !climbs(text)))
}

/// Whether a text has a `..` as a segment of a path or of a URL, in any notation.
pub(crate) fn climbs(text: &str) -> bool {
    // Every allow asks this of every word: only an encoded text has to be decoded.
    if !text.contains('%') && !text.contains("..") {
        return false;
    }
    let mut plain = text.to_ascii_lowercase();
    // A text that is decoded twice is still one.
    for _ in 0..3 {
        for (code, c) in [("%25", "%"), ("%2e", "."), ("%2f", "/"), ("%5c", "/")] {
            plain = plain.replace(code, c);
        }
    }
    plain.split(['/', '\\', ';', '?', '#', '&']).any(|part| part == "..")
}

/// Whether the whole of `text` fits `pattern`, where `same` says which letters are equal.
pub(crate) fn glob_with(pattern: &str, text: &str, same: impl Fn(char, char) -> bool) -> bool {
    let (mut p, mut t) = (pattern.chars(), text.chars());
    // Where to continue when the text after a `*` does not fit: after the star, one character
    // further on.
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
            (Some('?'), Some(_)) => continue,
            (Some(a), Some(b)) if a != '?' && same(a, b) => continue,
            _ => {}
        }
        let Some((star, from)) = &mut retry else { return false };
        if from.next().is_none() {
            return false;
        }
        p = star.clone();
        t = from.clone();
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
        assert!(glob_fold("*.RS", "x.rs"));
    }

    #[test]
    fn a_hostile_pattern_ends_soon() {
        assert!(!glob(&format!("{}b", "a*".repeat(100)), &"a".repeat(2_000)));
    }
}
