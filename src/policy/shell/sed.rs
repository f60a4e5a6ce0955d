//! Sed scripts: which of them only edit and print.

/// Whether a sed script has only commands that neither run nor write: no `e`, `w`, `W`, `r`, `R`, no flags
/// `e`, `w`. A script that is not understood is not plain.
pub(crate) fn is_plain_sed(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    loop {
        while chars.next_if(|&c| c.is_whitespace() || matches!(c, ';' | '{' | '}' | '!')).is_some() {}
        let Some(c) = chars.next() else { return true };
        match c {
            // Addresses: numbers, `$`, ranges and steps.
            '0'..='9' | '$' | ',' | '~' | '+' => {}
            '/' => {
                if !skip_to(&mut chars, '/') {
                    return false;
                }
                while chars.next_if(|&c| matches!(c, 'I' | 'M')).is_some() {}
            }
            '\\' => {
                let Some(end) = chars.next() else { return false };
                if !skip_to(&mut chars, end) {
                    return false;
                }
            }
            's' | 'y' => {
                let Some(end) = chars.next().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n') else {
                    return false;
                };
                if !skip_to(&mut chars, end) || !skip_to(&mut chars, end) {
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

/// Skips to an unescaped delimiter; `false` if there is none.
fn skip_to(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) -> bool {
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == end {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_plain_sed;

    #[test]
    fn sed_scripts() {
        for script in ["s/a/b/", "s|a|b|g", "1,5p", "/x/d", "$!N;P;D", "s/a\\/b/c/gi; 3q", "y/ab/ba/", "/a/,/b/{p;d}"] {
            assert!(is_plain_sed(script), "{script}");
        }
        for script in
            ["s/a/b/e", "s/a/b/w f", "e id", "1e", "w f", "/x/w f", "r f", "R f", "s/a/b/we", "1!e", "a text", ";W o"]
        {
            assert!(!is_plain_sed(script), "{script}");
        }
    }
}
