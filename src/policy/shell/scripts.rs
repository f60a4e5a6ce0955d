//! The small languages of `sed` and `awk`, and what `echo` and `printf` print.

use super::Weight;
use super::walk::Walker;
use crate::policy::argv::{Word, base_name};
use crate::policy::rule::Access;

/// Looks at a script in the arguments.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word]) {
    match base {
        "sed" | "gsed" => sed(walker, words),
        "awk" | "gawk" | "mawk" | "nawk" => awk(walker, words),
        _ => {}
    }
}

fn sed(walker: &mut Walker, words: &[Word]) {
    let mut scripts: Vec<&Word> = Vec::new();
    let (mut in_place, mut operands) = (false, Vec::new());
    let mut rest = words.iter().skip(1);
    let mut explicit = false;
    while let Some(word) = rest.next() {
        match word.get() {
            Some("-e" | "--expression") => {
                explicit = true;
                scripts.extend(rest.next());
            }
            Some("-f" | "--file") => {
                explicit = true;
                rest.next();
                walker.found.unknown("script-file", &word.text, Weight::Code);
            }
            Some(v) if v.starts_with("--in-place") => in_place = true,
            Some(v) if v.starts_with("--expression=") || v.starts_with("--file=") => {
                explicit = true;
                walker.found.unknown("script", v, Weight::Code);
            }
            Some(v) if v.starts_with("--") => {}
            Some(v) if v.starts_with('-') && v.len() > 1 => {
                // -n, -E, -r, -s, -u, -z stand alone; -i takes the rest as a suffix; e and f take the next word.
                in_place |= v.contains(['i', 'I']);
                if !in_place && v.contains(['e', 'f']) {
                    explicit = true;
                    walker.found.unknown("script", v, Weight::Code);
                }
            }
            _ => operands.push(word),
        }
    }
    if !explicit && !operands.is_empty() {
        scripts.push(operands.remove(0));
    }
    for script in scripts {
        match script.get() {
            Some(text) if is_plain_sed(text) => {}
            _ => walker.found.unknown("script", &script.text, Weight::Code),
        }
    }
    if in_place {
        for file in operands {
            walker.file(&file.clone(), Access::Write, true, false);
        }
    }
}

/// Whether a sed script has only commands that neither run nor write: no `e`, `w`, `W`, `r`, `R`, no flags
/// `e`, `w`. What is not understood is not plain.
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

/// Skips to an unescaped delimiter; false if there is none.
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

fn awk(walker: &mut Walker, words: &[Word]) {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.get() {
            Some("-F" | "-v") => drop(rest.next()),
            Some("-f" | "-i" | "-l" | "-E" | "--file" | "--include" | "--load" | "--exec" | "-e" | "--source") => {
                return walker.found.unknown("script-file", &word.text, Weight::Code);
            }
            Some(v) if v.starts_with("-F") || v.starts_with("-v") => {}
            Some(v) if v.starts_with('-') && v.len() > 1 => walker.found.unknown("script", v, Weight::Code),
            Some(text) => {
                // Pipes, redirects, files, commands: whatever is not plain arithmetic and printing.
                let risky = ["system", "|", ">", "getline", "@", "close", "ENVIRON", "fflush"];
                if risky.iter().any(|r| text.contains(r)) {
                    walker.found.unknown("script", text, Weight::Code);
                }
                return;
            }
            None => return walker.found.unknown("script", &word.text, Weight::Code),
        }
    }
}

/// What `echo` or `printf` prints, where every word is certain. For guesses only.
pub(super) fn printed(words: &[Word]) -> Option<String> {
    let program = base_name(words.first()?.get()?);
    if !matches!(program, "echo" | "printf") {
        return None;
    }
    let words: Option<Vec<&str>> = words.iter().skip(1).map(Word::get).collect();
    let words = words?;
    let words: Vec<&str> =
        words.into_iter().skip_while(|w| matches!(*w, "-n" | "-e" | "-E" | "-ne" | "-en" | "--")).collect();
    let text = match (program, words.split_first()) {
        ("printf", Some((format, rest))) if format.contains('%') && !rest.is_empty() => rest.join(" "),
        _ => words.join(" "),
    };
    Some(text.replace("\\n", "\n"))
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
