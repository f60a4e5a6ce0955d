//! Here-documents, arithmetic and quotes: where readers lose their place.

use super::grammar::{NAMES, Rng};

/// Marks of here-documents as they are written, and as they end one.
const MARKS: &[(&str, &str)] = &[
    ("E", "E"),
    ("E", "E"),
    ("'E'", "E"),
    ("\"E\"", "E"),
    ("\\E", "E"),
    ("E\"O\"F", "EOF"),
    ("EO\\F", "EOF"),
    ("EO\\\nF", "EOF"),
    ("$'E'", "E"),
    ("$'E'", "$E"),
    ("$E", "$E"),
    ("$(E)", "$(E)"),
    ("`E`", "`E`"),
    ("''", ""),
    ("'E F'", "E F"),
    ("E;", "E"),
    ("{E}", "{E}"),
    ("E#", "E#"),
    ("*", "*"),
    ("'E\\'", "E\\"),
];
/// Lines of a here-document's body: what they may end, continue or hide.
const BODY: &[&str] = &[
    "rm q",
    "rm q",
    "text",
    "$(rm q)",
    "`rm q`",
    "\\$(rm q)",
    "\\\\$(rm q)",
    "$\\\n(rm q)",
    "`\\\nrm q`",
    "$x",
    "${x:-$(rm q)}",
    "${x:-\"$(rm q)\"}",
    "$((v[$(rm q)]))",
    "$((1+1))",
    "'$(rm q)'",
    "\"$(rm q)\"",
    "EO\\\nF",
    "E\\\nOF",
    "\\\nE",
    "E ",
    " E",
    "\tE",
    "\tEOF",
    "E\r",
    "EE",
    "E)",
    "\"E\"",
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "#",
    "\\",
    "",
    "<<F",
    "E\nrm q",
];
/// Parts of arithmetic.
const SUMS: &[&str] = &[
    "1",
    "x",
    "+",
    "*",
    "v[0]",
    "v[$(rm q)]",
    "v['$(rm q)']",
    "`rm q`",
    "$(rm q)",
    "(",
    ")",
    "))",
    "((",
    "=",
    "==",
    "<<",
    ">",
    "?",
    ":",
    ",",
    " ",
    "\n",
    "\\",
    "'",
    "\"",
    "$x",
    "${x}",
    "$'1'",
    "16#f",
    "x++",
    "${#x}",
    "#",
    "{a,b}",
];
/// What stands within, between and at the edges of quotes.
const QUOTES: &[&str] = &[
    "'", "'", "\"", "\"", "\\", "\\\n", "$'", "$\"", "\\'", "\\\"", "a", " ", "rm", " rm q ", ";", "\nrm q\n",
    "&&rm q&&", "$", "`", "$(", ")", "(", "#", "!", "x=", ">f", "|", "{", "}", "\\\\", "\r\n", "\0", "\u{b}", "\t",
];

/// A command with a here-document, or what may be one.
pub(super) fn here_document(rng: &mut Rng) -> String {
    let (written, mark) = MARKS[rng.below(MARKS.len())];
    let operator = rng.of(&["<<", "<<", "<<", "<<-", "<< ", "<<-\t", "<<\\\n", "<<<", "0<<", "3<<"]);
    let lines: Vec<&str> = (0..rng.below(4)).map(|_| rng.of(BODY)).collect();
    let end = match rng.below(8) {
        0 => String::new(),
        1 => format!("\t{mark}\n"),
        2 => format!("{mark} \n"),
        3 => mark.to_owned(),
        _ => format!("{mark}\n"),
    };
    let body = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let name = if rng.once_in(4) { rng.of(NAMES) } else { rng.of(&["ok", "fine", "cat"]) };
    let more = rng.of(&["", "", " a", "; rm q", "; ok", " && fine", " | ok", " <<'F'", ")", "\\"]);
    let text = format!("{name} {operator}{written}{more}\n{body}{end}");
    match rng.below(6) {
        0 => format!("ok \"$(cat {operator}{written}\n{body}{end})\""),
        1 => format!("ok $({text})"),
        2 => format!("{text}ok b"),
        3 => format!("{text}rm q"),
        _ => text,
    }
}

pub(super) fn arithmetic(rng: &mut Rng) -> String {
    let sum: String = (0..1 + rng.below(6)).map(|_| rng.of(SUMS)).collect();
    match rng.below(7) {
        0 => format!("(({sum}))"),
        1 => format!("ok $[{sum}]"),
        2 => format!("let '{sum}'"),
        3 => format!("test 1 -eq '{sum}'"),
        4 => format!("test -v '{sum}' && ok"),
        _ => format!("ok $(({sum}))"),
    }
}

pub(super) fn quotes(rng: &mut Rng) -> String {
    format!("ok {}", (0..1 + rng.below(9)).map(|_| rng.of(QUOTES)).collect::<String>())
}
