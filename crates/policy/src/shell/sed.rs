//! Sed scripts: which of them only edit and print.

use std::iter::Peekable;

/// Whether a sed script has only commands that neither run nor write: no `e`, `w`, `W`, `r`, `R`,
/// no flags `e`, `w`. A script that is not understood is not plain.
pub(crate) fn is_plain_sed(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    loop {
        while chars.next_if(|&c| c.is_whitespace() || matches!(c, ';' | '{' | '}' | '!')).is_some() {}
        let Some(c) = chars.next() else { return true };
        match c {
            // Addresses: numbers, `$`, ranges and steps.
            '0'..='9' | '$' | ',' | '~' | '+' => {}
            '/' | '\\' => {
                let end = if c == '/' { Some(c) } else { chars.next() };
                if !matches!(end, Some(end) if skip_regex(&mut chars, end)) {
                    return false;
                }
                while chars.next_if(|&c| matches!(c, 'I' | 'M')).is_some() {}
            }
            's' | 'y' => {
                let Some(end) = chars.next().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n') else {
                    return false;
                };
                let first = if c == 's' { skip_regex } else { skip_text };
                if !first(&mut chars, end) || !skip_text(&mut chars, end) {
                    return false;
                }
                while chars.next_if(|&c| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9')).is_some() {}
                if chars.peek().is_some_and(|&c| !c.is_whitespace() && !matches!(c, ';' | '}')) {
                    return false;
                }
            }
            'd' | 'D' | 'p' | 'P' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'l' | 'q' | 'Q' | 'z' => {
                while chars.next_if(char::is_ascii_digit).is_some() {}
                if chars.peek().is_some_and(|&c| !c.is_whitespace() && !matches!(c, ';' | '}')) {
                    return false;
                }
            }
            '#' => while chars.next_if(|&c| c != '\n').is_some() {},
            _ => return false,
        }
    }
}

/// The characters of a script.
pub(super) type Chars<'t> = Peekable<std::str::Chars<'t>>;

/// Skips to an unescaped delimiter; `false` if there is none on the line.
pub(super) fn skip_text(chars: &mut Chars<'_>, end: char) -> bool {
    loop {
        match chars.next() {
            None | Some('\n') => return false,
            Some('\\') => drop(chars.next()),
            Some(c) if c == end => return true,
            Some(_) => {}
        }
    }
}

/// Skips to the delimiter of a regular expression; `false` if there is none, or if a bracket may
/// hide it.
pub(super) fn skip_regex(chars: &mut Chars<'_>, end: char) -> bool {
    loop {
        match chars.next() {
            None | Some('\n') => return false,
            Some('\\') => drop(chars.next()),
            Some(c) if c == end => return true,
            Some('[') if !skip_bracket(chars, end) => return false,
            Some(_) => {}
        }
    }
}

/// Skips a bracket expression, which ends in the same place for every program that reads it. Some
/// end the regular expression at a delimiter within, and some read a backslash there as itself.
fn skip_bracket(chars: &mut Chars<'_>, end: char) -> bool {
    chars.next_if_eq(&'^');
    if chars.peek() == Some(&']') {
        return false;
    }
    loop {
        match chars.next() {
            Some(']') => return true,
            None | Some('\n') => return false,
            Some(c) if c == end => return false,
            Some('\\') if matches!(chars.next(), None | Some('[' | ']' | '\n')) => return false,
            // `[:alpha:]`
            Some('[') => {
                let named = chars.next_if_eq(&':').is_some();
                while chars.next_if(char::is_ascii_alphabetic).is_some() {}
                if !named || chars.next() != Some(':') || chars.next() != Some(']') {
                    return false;
                }
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_plain_sed;

    #[test]
    fn sed_scripts() {
        for script in [
            "s/a/b/",
            "s|a|b|g",
            "1,5p",
            "/x/d",
            "$!N;P;D",
            "s/a\\/b/c/gi; 3q",
            "y/ab/ba/",
            "/a/,/b/{p;d}",
            "s/[^[:space:]]*$//",
            "s/[\\/a-z.]/[/g",
        ] {
            assert!(is_plain_sed(script), "{script}");
        }
        for script in [
            "s/a/b/e",
            "s/a/b/w f",
            "e id",
            "1e",
            "w f",
            "/x/w f",
            "r f",
            "R f",
            "s/a/b/we",
            "1!e",
            "a text",
            ";W o",
            // The slash in brackets is one of the pattern, and the `e` a flag.
            "s/[/]/g;p;#/e",
            "s/[]/]/g;p;#/e",
            "s/[^]/]/g;p;#/e",
            "s/[[:alpha:]/]/g;p;#/e",
            "s/[\\]/]/g;p;#/e",
            "/[/]/p;#/e",
        ] {
            assert!(!is_plain_sed(script), "{script}");
        }
    }
}
