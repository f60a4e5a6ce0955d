//! Awk programs: which of them only compute and print.

use super::sed::{skip_regex, skip_text};

/// Words after which a `/` begins a regular expression.
const BEFORE_REGEX: &[&str] = &["print", "printf", "return", "in", "else", "do", "exit", "case"];

/// Whether a program runs nothing, and reads and writes nothing but its input and output. A program that is not
/// understood is not plain.
pub(super) fn is_plain(text: &str) -> bool {
    // Whether this is inside a `print`, in which `>` writes, and the number of open parentheses in it.
    let (mut printing, mut depth) = (false, 0_usize);
    // Whether the previous token is an operand: then `/` divides.
    let mut before = Before::Operator;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => continue,
            '"' => {
                if !skip_text(&mut chars, '"') {
                    return false;
                }
                before = Before::Operand;
            }
            '/' if before == Before::Operator => {
                if !skip_regex(&mut chars, '/') {
                    return false;
                }
                before = Before::Operand;
            }
            '/' if before == Before::Unsure => return false,
            '#' => while chars.next_if(|&c| c != '\n').is_some() {},
            'a'..='z' | 'A'..='Z' | '_' => {
                let mut name = c.to_string();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                match name.as_str() {
                    "system" | "getline" | "close" | "fflush" | "ENVIRON" | "PROCINFO" | "SYMTAB" | "ARGV" => {
                        return false;
                    }
                    "print" | "printf" => (printing, depth) = (true, 0),
                    _ => {}
                }
                before = if BEFORE_REGEX.contains(&name.as_str()) { Before::Operator } else { Before::Operand };
            }
            '0'..='9' | ']' | '.' => before = Before::Operand,
            '|' if chars.next_if_eq(&'|').is_none() => return false,
            '>' if printing && depth == 0 => return false,
            '@' | '\\' | '`' => return false,
            ')' => {
                depth = depth.saturating_sub(1);
                before = Before::Unsure;
            }
            // `a++ /b/` and the like are ambiguous.
            '+' | '-' | '/' | '$' => before = Before::Unsure,
            // A line continues after a comma: a newline there does not end a `print`.
            '\n' => before = Before::Operator,
            ';' | '{' | '}' => {
                printing = false;
                before = Before::Operator;
            }
            c if c.is_ascii_punctuation() => {
                depth += usize::from(c == '(');
                before = Before::Operator;
            }
            _ => return false,
        }
    }
    true
}

#[derive(PartialEq, Eq)]
enum Before {
    Operator,
    Operand,
    Unsure,
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn programs() {
        for program in [
            "{print $1}",
            "NR>1",
            "length($0) > 80",
            "$3 > 5 {print $1}",
            "/a|b/ {print; n++} END {print n}",
            "BEGIN {FS=\":\"} {printf \"%s > %s\\n\", $1, $2}",
            "{print ($1 > $2)}",
            "{s += $2 / 3} END {print s/NR}",
            "$1 ~ /x/ || $2 == \"|\"",
            "NR==1{print; exit}",
            "!seen[$0]++",
            "{gsub(/a/, \"b\"); print}",
        ] {
            assert!(is_plain(program), "{program}");
        }
        for program in [
            "BEGIN{system(\"x\")}",
            "{print > \"f\"}",
            "{print $1, $2 >> \"f\"}",
            "{print | \"sh\"}",
            "{\"x\" | getline}",
            "{print |& \"x\"}",
            "@load \"x\"",
            "{if (1) /\"/; print | \"sh\" #\"\n}",
            "{x++ /\"/; print | \"sh\" #\"\n}",
            "{print (1) > \"f\"}",
            "{printf(\"%s\", $1) > \"f\"}",
            "{print a,\n b > \"f\"}",
            "\"unclosed",
            "/unclosed",
            "/[/]\"/; print | \"sh\" #\"",
            "/[]/]\"/; {print | \"sh\"} #\"",
            "/[[:alpha:]/]\"/; {print | \"sh\"} #\"",
        ] {
            assert!(!is_plain(program), "{program}");
        }
    }
}
