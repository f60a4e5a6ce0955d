//! Awk programs: which of them only compute and print.
//!
//! Where a `/` begins a regular expression and where it divides depends on the grammar, and awks
//! differ: mawk and the original awk read `length /"/` as a regular expression. So a `/` behind
//! anything but an operator is read both ways, and a program is plain only if every reading of it
//! is.

use std::collections::BTreeSet;

use super::sed::{skip_regex, skip_text};

/// The most states that are read of one program; beyond them it is not plain.
const MAX_STATES: usize = 4_096;

/// Where a reading of a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// The position in the text, in bytes.
    at: usize,
    /// Whether this is inside a `print`, in which `>` writes, and the number of open parentheses in
    /// it.
    printing: bool,
    depth: usize,
    /// Whether the previous token is an operator, so that `/` begins a regular expression for every
    /// awk.
    operator: bool,
}

/// What the next token of a reading leads to.
enum Step {
    /// The reading continues in these states.
    On(State, Option<State>),
    /// The program ends.
    End,
    /// The text is not a program in this reading, so no awk runs it: a string or a regular
    /// expression is not closed.
    NoProgram,
    /// It may run, read or write something, or is not understood.
    NotPlain,
}

/// Whether a program runs nothing, and reads and writes nothing but its input and output. A program
/// that is not understood is not plain.
pub(super) fn is_plain(text: &str) -> bool {
    let start = State { at: 0, printing: false, depth: 0, operator: true };
    let (mut left, mut seen, mut ends) = (vec![start], BTreeSet::new(), false);
    while let Some(state) = left.pop() {
        if !seen.insert(state) {
            continue;
        }
        if seen.len() > MAX_STATES {
            return false;
        }
        match step(text, state) {
            Step::On(next, other) => left.extend([Some(next), other].into_iter().flatten()),
            Step::End => ends = true,
            Step::NoProgram => {}
            Step::NotPlain => return false,
        }
    }
    ends
}

/// Reads one token.
fn step(text: &str, state: State) -> Step {
    let rest = text.get(state.at..).unwrap_or_default();
    let mut chars = rest.chars().peekable();
    let Some(c) = chars.next() else { return Step::End };
    let State { mut printing, mut depth, .. } = state;
    let mut divides = None;
    let operator = match c {
        ' ' | '\t' => state.operator,
        '"' => match skip_text(&mut chars, '"') {
            true => false,
            false => return Step::NoProgram,
        },
        '/' => {
            let behind = State { at: state.at + 1, operator: true, ..state };
            divides = if state.operator { None } else { Some(behind) };
            let mut closing = chars.clone();
            if !skip_regex(&mut chars, '/') {
                // A bracket may hide the end, unless there is none at all.
                return match (skip_text(&mut closing, '/'), divides) {
                    (true, _) => Step::NotPlain,
                    (false, Some(behind)) => Step::On(behind, None),
                    (false, None) => Step::NoProgram,
                };
            }
            false
        }
        '#' => {
            while chars.next_if(|&c| c != '\n').is_some() {}
            state.operator
        }
        'a'..='z' | 'A'..='Z' | '_' => {
            let mut name = c.to_string();
            while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                name.push(c);
            }
            match name.as_str() {
                "system" | "getline" | "close" | "fflush" | "ENVIRON" | "PROCINFO" | "SYMTAB" | "ARGV" => {
                    return Step::NotPlain;
                }
                "print" | "printf" => (printing, depth) = (true, 0),
                _ => {}
            }
            false
        }
        '|' if chars.next_if_eq(&'|').is_none() => return Step::NotPlain,
        '>' if printing && depth == 0 => return Step::NotPlain,
        '@' | '\\' | '`' => return Step::NotPlain,
        ')' => {
            depth = depth.saturating_sub(1);
            false
        }
        // `a++ /b/` may be either.
        '0'..='9' | ']' | '.' | '+' | '-' | '$' => false,
        // A line continues after a comma: a newline there does not end a `print`.
        '\n' => true,
        ';' | '{' | '}' => {
            printing = false;
            true
        }
        c if c.is_ascii_punctuation() => {
            depth += usize::from(c == '(');
            true
        }
        _ => return Step::NotPlain,
    };
    let at = text.len() - chars.map(char::len_utf8).sum::<usize>();
    Step::On(State { at, printing, depth, operator }, divides)
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
            "{printf \"%.2f\\n\", $1/$2*100; if ($3 > 5) print \"a/b\"}",
            "{x = $1/2\n y = $2/3\n} END {print x/y, \"a|b\"}",
            "length > 3 && /\"/",
            "{a[$1] += $2/1024} END {for (k in a) print k, a[k]/NR}",
            "function f(x) {return x/2} {print f($1)/f($2)}",
            "/\"/ {n++}",
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
            "length /\"/ {print | \"sh\"} #\"",
            "NF length /\"/ {print > \"f\"} #\"",
            "x in y /\"/ {print | \"sh\"} #\"",
            "x in y/#/ {print | \"sh\"}\n",
            "1 length /#/; {print | \"sh\"}\n",
            "a[1] /\"/; {print | \"sh\"} #\"",
            "$1 /\"/; {print | \"sh\"} #\"",
            "1 /\"/; {print | \"sh\"} #\"",
            "\"x\" /\"/; {print | \"sh\"} #\"",
            "/x/ /\"/; {print | \"sh\"} #\"",
            "x /= \"/; {print | \"sh\"} #/\"",
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
