//! The languages of `sed` and `awk`, and what `echo` and `printf` print.

use super::side_effects::Weight;
use super::walker::Walker;
use crate::policy::argv::{Word, base_name};
use crate::policy::rule::Access;

/// Reads a script in the arguments.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word]) {
    match base {
        "sed" | "gsed" => sed(walker, words),
        "awk" | "gawk" | "mawk" | "nawk" => super::awk::inspect(walker, words),
        _ => {}
    }
}

fn sed(walker: &mut Walker, words: &[Word]) {
    let mut scripts: Vec<Word> = Vec::new();
    let (mut in_place, mut explicit, mut operands) = (false, false, Vec::new());
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let Some(option) = word.get().filter(|v| v.starts_with('-') && v.len() > 1) else {
            operands.push(word.clone());
            continue;
        };
        if option == "--" {
            operands.extend(rest.by_ref().cloned());
        } else if option.starts_with("--") {
            let (name, value) = option.split_once('=').map_or((option, None), |(n, v)| (n, Some(v)));
            // Long options may be abbreviated.
            let cut = |full: &str| name.len() > 2 && full.starts_with(name);
            if cut("--in-place") {
                in_place = true;
            } else if cut("--expression") {
                explicit = true;
                scripts.extend(value.map(Word::known).or_else(|| rest.next().cloned()));
            } else if cut("--file") {
                explicit = true;
                walker.found.unknown("script-file", option, Weight::Code);
                if value.is_none() {
                    rest.next();
                }
            } else if cut("--line-length") && value.is_none() {
                rest.next();
            }
        } else {
            let letters = option.trim_start_matches('-');
            for (i, letter) in letters.char_indices() {
                let after = letters.get(i + letter.len_utf8()..).filter(|a| !a.is_empty());
                match letter {
                    'n' | 'E' | 'r' | 's' | 'u' | 'z' => continue,
                    // The rest is a suffix in GNU sed. In other versions it may be options.
                    'i' | 'I' => {
                        in_place = true;
                        explicit |= after.is_some_and(|a| a.ends_with('e') && !a.contains('.'));
                    }
                    'e' => {
                        explicit = true;
                        scripts.extend(after.map(Word::known).or_else(|| rest.next().cloned()));
                    }
                    'l' if after.is_none() => drop(rest.next()),
                    'l' => {}
                    _ => {
                        explicit |= letter == 'f';
                        walker.found.unknown("script-file", option, Weight::Code);
                        if letter == 'f' && after.is_none() {
                            rest.next();
                        }
                    }
                }
                break;
            }
        }
    }
    if !explicit && !operands.is_empty() {
        scripts.push(operands.remove(0));
    }
    for script in scripts {
        match script.get() {
            Some(text) if is_plain_sed(text) => {}
            _ => {
                walker.found.unknown("script", &script.text, Weight::Code);
                guess_words(walker, &script);
            }
        }
    }
    if in_place {
        for file in operands {
            walker.file(&file, Access::Write, true, false);
        }
    }
}

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

/// What `echo` or `printf` prints, where every word is certain. For guesses only.
pub(super) fn printed(words: &[Word]) -> Option<String> {
    let program = base_name(words.first()?.get()?);
    if matches!(
        (program, words.get(1).and_then(Word::get)),
        ("which", _) | ("command", Some("-v")) | ("type", Some("-p" | "-P"))
    ) {
        // A lookup prints the path of the program.
        return words.last()?.get().map(str::to_owned);
    }
    if !matches!(program, "echo" | "printf") {
        return None;
    }
    let words: Option<Vec<&str>> = words.iter().skip(1).map(Word::get).collect();
    let words = words?;
    let words: Vec<&str> =
        words.into_iter().skip_while(|w| matches!(*w, "-n" | "-e" | "-E" | "-ne" | "-en" | "--")).collect();
    let text = match (program, words.split_first()) {
        ("printf", Some((format, rest))) if format.contains('%') && !rest.is_empty() => formatted(format, rest),
        _ => words.join(" "),
    };
    Some(text.replace("\\n", "\n"))
}

/// A format of `printf` with its arguments inserted, repeated while arguments remain. Widths are ignored.
fn formatted(format: &str, arguments: &[&str]) -> String {
    let mut rest = arguments.iter();
    let mut out = String::new();
    while rest.len() > 0 && out.len() < super::side_effects::MAX_CHARS {
        let before = rest.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
            } else if chars.find(char::is_ascii_alphabetic).is_some() {
                out.push_str(rest.next().copied().unwrap_or_default());
            }
        }
        if rest.len() == before {
            break;
        }
    }
    out
}

/// What `cat` and `tee` pass on of their input. For guesses only.
pub(super) fn passed_on(words: &[Word], read: Option<String>) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let option = |w: &Word| w.get().is_some_and(|v| v.starts_with('-'));
    match base_name(program.get()?) {
        "cat" if rest.iter().all(option) => read,
        "tee" => read,
        _ => None,
    }
}

impl Walker {
    /// The certain text of `$(cat <<'E' … E)`: only `cat`, not redefined, with a here-document whose delimiter is
    /// quoted.
    pub(super) fn text_of_cat<'t>(
        &self,
        source: &str,
        (commands, files, unknowns): (usize, usize, usize),
        text: Option<&'t str>,
    ) -> Option<&'t str> {
        let mark = source.lines().next()?.strip_prefix("cat")?.trim().strip_prefix("<<")?.trim();
        let quoted = |q: char| mark.strip_prefix(q).and_then(|m| m.strip_suffix(q));
        let name = quoted('\'').or_else(|| quoted('"'))?;
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let found = &self.found;
        let alone = found.files.len() == files && found.unknowns.len() == unknowns && self.functions.is_empty();
        let one = matches!(found.commands.get(commands..), Some([only]) if matches!(only.words.as_slice(), [w] if w.is("cat")));
        text.filter(|_| plain && alone && one)
    }
}

/// Guesses the commands in a script of another language: every tail of its words.
pub(super) fn guess_words(walker: &mut Walker, script: &Word) {
    let Some(text) = script.get() else { return };
    let apart = |c: char| c.is_whitespace() || "\"'`()|;{}/".contains(c);
    let words: Vec<Word> = text.split(apart).filter(|w| !w.is_empty()).take(12).map(Word::known).collect();
    super::heuristics::anywhere(&words, &mut walker.found);
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
