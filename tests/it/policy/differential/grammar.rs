//! Random programs: mostly sound, some not, full of what readers get wrong.

use super::documents::{arithmetic, here_document, quotes};

/// A small generator: xorshift64*, seeded, so that a failure can be repeated.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 16) as usize % n
    }

    pub(super) fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Names that are allowed, and names that are not.
pub(super) const ALLOWED: &[&str] = &["ok", "fine"];
pub(super) const FORBIDDEN: &[&str] = &["rm", "id", "evil"];

pub(super) const NAMES: &[&str] = &[
    "ok",
    "fine",
    "ok",
    "fine",
    "o\\k",
    "'ok'",
    "\"fine\"",
    "$'ok'",
    "o''k",
    "\\fine",
    "timeout 5 ok",
    "nice fine",
    "env ok",
    "command ok",
    "nohup fine",
    "time ok",
    "! ok",
    "builtin echo",
    "echo",
    "printf %s",
    "true",
    ":",
    "xargs ok",
    "test",
    "cd /",
    "rm",
    "id",
    "r\\m",
    "eval ok",
    "exec ok",
    "sudo ok",
    "bash -c ok",
    "x=1 ok",
    "ok=rm",
    "$x",
    "o${e}k",
    "timeout -k 1 5 ok",
    "nice -n 5 ok",
    "env -i ok",
    "command -v rm",
    "env -u Y ok",
    "env - ok",
    "env -S ok",
    "env -S 'rm q'",
    "env --split-string='rm q'",
    "env Y=1 ok",
    "nice -5 ok",
    "nice rm",
    "timeout --signal=KILL 5 ok",
    "timeout 5 rm",
    "xargs -I% ok %",
    "xargs -i fine {}",
    "xargs --replace ok {}",
    "xargs -n1 -r ok",
    "xargs rm",
    "stdbuf -oL ok",
    "setsid rm",
    "bash -euo pipefail -c 'rm q'",
    "bash -c -- 'rm q'",
    "bash -s",
    "bash /dev/stdin",
    "exec ok",
    "command -p ok",
    "builtin command ok",
    "time -p ok",
    "! time ok",
    "coproc ok",
    "[[ a == a ]] && ok",
    "read v",
    "v=(ok rm)",
    "\"${v[@]}\"",
    "v+=rm",
    "let v=1",
    "((1)) && ok",
    "trap 'rm q' EXIT",
    ">f ok",
    "2>&1 ok",
];
const WORDS: &[&str] = &[
    "a",
    "'b c'",
    "\"d e\"",
    "\\$x",
    "a\\ b",
    "a'b'\"c\"",
    "''",
    "\"\"",
    "-n",
    "--",
    "$'x\\x20y'",
    "$'a\\'b'",
    "'$(rm q)'",
    "\"\\$(rm q)\"",
    "a#b",
    "\\;",
    "';'",
    "\"&&\"",
    "'|'",
    "\\\n",
    "x=y",
    "\\>",
    "'>'f",
    "{}",
    "a{",
    "}",
    "!",
    "%",
    "@",
    "a:b",
    "\"a\\b\"",
    "'a\\'",
    "\"it's\"",
    "'\"'",
    "=",
    "[",
    "]",
    "$x",
    "$(rm q)",
    "`rm q`",
    "\"$(rm q)\"",
    "${x:-$(rm q)}",
    "{a,b}",
    "*",
    "~",
    "$((1+1))",
    "<(rm q)",
    ">f",
    ">>f",
    "<<<z",
    "<<<'y z'",
    "2>&1",
    ">/dev/null",
    "2>/dev/null",
    "</dev/null",
    "&>f",
    "#c",
    "<<E\nrm q\nE\n",
    "<<'E'\n$(rm q)\nE\n",
    "$[1]",
    "$'\\u0041'",
    "$\"t\"",
    "\\\"",
    "\\'",
    ">|f",
    "<>f",
    "&>>f",
    "{fd}>f",
    "3>f",
    "> /dev/null",
    "&>/dev/null",
    ">&2",
    "2>&-",
    "<<-E\n\trm q\n\tE\n",
    "<<\\E\n`rm q`\nE\n",
    "<<E\n`rm q`\nE\n",
    "<<E <<'F'\nx\nE\n$(rm q)\nF\n",
    "<<E-1\nrm q\nE-1\n",
    "\"${x:=`rm q`}\"",
    "${v[$(rm q)]}",
    "\"${!x}\"",
    "${x@P}",
    "$((v[$(rm q)]))",
    ">(rm q)",
    "a{1..2}",
    "~+",
    "?",
    "[a]",
    "\"!x\"",
    "$'\\162m'",
    "\"\\`rm q\\`\"",
    "\"a\\\nb\"",
    "'a\nrm q'",
    "\"a\nb\"",
];
/// Parts of scripts for sed and awk: any order, most of them nonsense.
const SED: &[&str] = &[
    "p",
    "d",
    "s/a/b/",
    "s/a/b/g",
    "s/a/id/e",
    "s/a/b/w f",
    "w f",
    "e id",
    "e",
    "1",
    "2,3",
    "$",
    "/a/",
    "/[/]a/",
    "!",
    ";",
    "{",
    "}",
    " ",
    "\n",
    "y/ab/ba/",
    "#",
    "n",
    "r g",
    "R g",
    "W f",
    "a x",
    "i\\",
    "\\,a,",
    "s,a,id,e",
    "s|a|b|;",
    "=",
    "q",
    "M",
    "I",
    "~2",
    "x",
    "s/[/]/b/e",
    "s/\\//b/",
    "c",
    "l 5",
    "z",
    "F",
    "Q",
    "0",
    "e",
    "w",
    ",",
];
const AWK: &[&str] = &[
    "BEGIN",
    "{",
    "}",
    "{",
    "}",
    "print",
    "printf",
    "$1",
    "\"f\"",
    "\"id\"",
    ">",
    ">>",
    "|",
    "||",
    "(",
    ")",
    "system(\"id\")",
    "\"id\" | getline",
    "getline < \"g\"",
    "/a/",
    "/",
    "/\"/",
    "/[/]/",
    "1",
    "x",
    ";",
    "\n",
    ",",
    "<",
    "!",
    "~",
    "++",
    "--",
    "+",
    "=",
    "if (1)",
    "else",
    "# ",
    "\\\"",
    "\"\\\"\"",
    "[",
    "]",
    " ",
    " ",
    "END",
    "close(\"f\")",
    "&&",
    "?",
    ":",
    "in",
];
const JOINTS: &[&str] =
    &["; ", " && ", " || ", " | ", " & ", "\n", ";", "|", "&&", " |& ", "\r\n", " ;\n", "&", "# x\n", " \\\n; "];
const NOISE: &[char] = &[
    '\'', '"', '\\', '\n', '$', '`', '(', ')', '{', '}', ';', '&', '|', '<', '>', '#', ' ', '\t', '\r', '\u{a0}', '!',
    '[', ']', '*', '=', '~',
];

/// `sed` or `awk` with a random script, over a file of three lines.
pub(super) fn script(rng: &mut Rng) -> String {
    let (name, parts) = if rng.once_in(2) { ("sed", SED) } else { ("awk", AWK) };
    let script: String = (0..1 + rng.below(7)).map(|_| rng.of(parts)).collect();
    let option = match (name, rng.below(4)) {
        ("sed", 0) => "-n ",
        ("sed", 1) => "-ne ",
        ("sed", 2) => "-E -e ",
        ("awk", 0) => "-v x=1 ",
        ("awk", 1) => "-F: ",
        _ => "",
    };
    format!("{name} {option}'{script}' ../in")
}

fn simple(rng: &mut Rng) -> String {
    match rng.below(24) {
        0..3 => return script(rng),
        3..7 => return here_document(rng),
        7..9 => return arithmetic(rng),
        9..13 => return quotes(rng),
        _ => {}
    }
    let mut text = rng.of(NAMES).to_owned();
    for _ in 0..rng.below(4) {
        text.push(' ');
        text.push_str(rng.of(WORDS));
    }
    text
}

pub(super) fn program(rng: &mut Rng, depth: usize) -> String {
    let mut text = if depth > 0 && rng.once_in(5) {
        let inner = program(rng, depth - 1);
        match rng.below(16) {
            0 => format!("({inner})"),
            1 => format!("{{ {inner}; }}"),
            2 => format!("if ok; then {inner}; fi"),
            3 => format!("for v in a b; do {inner}; done"),
            4 => format!("case a in a) {inner};; esac"),
            5 => format!("if false; then ok; else {inner}; fi"),
            6 => format!("until ok; do {inner}; done"),
            7 => format!("f() {{ {inner}; }}; f"),
            8 => format!("while read l; do {inner}; done <<< a"),
            9 => format!("for ((i=0;i<1;i++)); do {inner}; done"),
            10 => format!("case a in b) ok;& *) {inner};; esac"),
            11 => format!("[[ a ]] && {{ {inner}; }}"),
            12 => format!("( {inner} ) </dev/null"),
            13 => format!("! {{ {inner}; }}"),
            14 => format!("if ! ok; then fine; elif ok; then {inner}; fi"),
            _ => format!("function f {{ {inner}; }}; ok"),
        }
    } else {
        simple(rng)
    };
    if rng.once_in(2) {
        text = format!("{text}{}{}", rng.of(JOINTS), if depth > 0 { program(rng, depth - 1) } else { simple(rng) });
    }
    if rng.once_in(6) {
        let places: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
        text.insert(places[rng.below(places.len())], NOISE[rng.below(NOISE.len())]);
    }
    text
}
