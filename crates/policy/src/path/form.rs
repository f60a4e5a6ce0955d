//! What a text may name besides its literal path.
//!
//! Tools differ: one decodes `%2e`, one reads `\` as `/`, one trims whitespace, Windows drops dots
//! and spaces at the end of a name. Which tool will read the text is unknown here. So a deny
//! considers every reading, and an allow none: a text that tools may read differently asks.
//!
//! | form | an allow fits | a deny considers |
//! |---|---|---|
//! | `file:///a` | the path `/a` | the same |
//! | `file://localhost/a`, `file:/a`, `FILE:`, with `%`, `?`, `#` | never | `/a`, decoded and not |
//! | `%70`, `%252e` | never | decoded repeatedly, as long as something can be decoded |
//! | `a\b`, `C:\a`, `C:/a`, `\\?\C:\a` | never | `a/b`, `/a` |
//! | `a.`, `a `, ` a`, `a. .`, `'a'` | never | the path without them |
//! | `//localhost/a`, `\\localhost\a` | never | `/a` |
//! | NUL, controls, invisible characters | never | the path without them, and up to the NUL |
//! | `a／b`, `．．/a` | never | `a/b`, `../a` |
//! | `$HOME/a`, `${HOME}/a`, `%USERPROFILE%\a`, `$PWD/a` | never | `~/a`, `./a` |
//! | `~user/a` | never | `/home/user/a`, `/Users/user/a`, `/root/a`; anything else is unknown |
//! | `/proc/self/root/a`, `/proc/self/cwd/a` | never | `/a`, `./a`; for other processes: unknown |
//! | `/dev/fd/3`, `/proc/self/fd/3` | never | unknown, unless it is a standard stream |
//! | `/private/etc/a`, `/System/Volumes/Data/a` | as written | also `/etc/a`, `/a` |
//! | `a:b` | as written | also `a`: an NTFS stream |
//! | `a::$INDEX_ALLOCATION/b` | never | `a/b`: a stream of a folder |
//! | `GIT~1/b` | never | `.git/b`: a short name |
//! | `//a`, `/./a`, `a/` | the plain path | the same |

use percent_encoding::percent_decode_str;

use super::MOST;
use crate::unicode::{has_unseen, is_digits, strip};

/// What a text may name besides its literal path.
#[derive(Debug, Default)]
pub(super) struct Readings {
    /// Other texts that it may be read as.
    pub(super) texts: Vec<String>,
    /// Whether tools may read the text differently.
    pub(super) odd: bool,
    /// Whether it may name something that the texts do not list.
    pub(super) doubt: bool,
}

impl Readings {
    fn add(&mut self, text: &str) {
        self.texts.push(text.to_owned());
    }

    /// Adds another form of a text, if it is another one: tools may read either.
    fn add_other(&mut self, text: &str, other: &str) {
        if other != text {
            self.odd = true;
            self.add(other);
        }
    }
}

/// The path of a `file:///…` URL that every tool reads in the same way.
pub(super) fn plain_url(text: &str) -> Option<&str> {
    let path = text.strip_prefix("file://")?;
    if path.starts_with('/') && !path.contains(['%', '?', '#', '\\']) { Some(path) } else { None }
}

type Read = fn(&str, &mut Readings);

const READS: &[Read] =
    &[url, unseen, lookalikes, trimmed, decoded, slashes, variables, users, kernel, ends, aliases, short];

/// Every other reading of a text. Those that lead to the fully decoded one come first, so that a
/// text with more readings than are kept cannot hide that one.
pub(super) fn readings(text: &str) -> Readings {
    let mut found = Readings::default();
    if has_one_reading(text) {
        return found;
    }
    let mut seen = vec![text.to_owned()];
    let mut bare = text.to_owned();
    for _ in 0..MOST / 2 {
        let before = bare.clone();
        for read in READS {
            read(&bare, &mut found);
            if let Some(other) = found.texts.drain(..).next() {
                bare = other;
            }
        }
        if bare == before {
            break;
        }
        add_once(&mut seen, bare.clone());
    }
    let mut next = 0;
    while let Some(text) = seen.get(next).cloned() {
        next += 1;
        for read in READS {
            read(&text, &mut found);
        }
        for other in found.texts.drain(..) {
            add_once(&mut seen, other);
        }
        if seen.len() > MOST {
            found.doubt = true;
            break;
        }
    }
    found.texts = seen.split_off(1);
    found
}

/// Adds a text to a list that does not have it.
fn add_once(seen: &mut Vec<String>, other: String) {
    if !seen.contains(&other) {
        seen.push(other);
    }
}

/// Whether a text is so plain that no function below reads it differently: a fast path for the
/// common case.
fn has_one_reading(text: &str) -> bool {
    let special = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '/' | '.' | '_' | '-' | '+' | '=' | '@' | ',');
    if text.contains(special) || text.starts_with("//") {
        return false;
    }
    let first = text.split('/').find(|part| !matches!(*part, "" | ".")).unwrap_or_default();
    if text.starts_with('/') && (first == ".." || has_aliases(first)) {
        return false;
    }
    // A dot at the end of a name may be dropped.
    !text.contains('.') || text.split('/').all(|part| matches!(part, "." | "..") || !part.ends_with('.'))
}

/// Whether a folder at the root contains aliases of other files.
pub(super) fn has_aliases(first: &str) -> bool {
    ["proc", "dev", "private", "system"].iter().any(|name| first.eq_ignore_ascii_case(name))
}

/// `file:` URLs (RFC 8089) other than plain ones.
fn url(text: &str, found: &mut Readings) {
    let Some((scheme, rest)) = text.split_once(':') else { return };
    if !scheme.eq_ignore_ascii_case("file") {
        return;
    }
    found.odd = true;
    let mut path = rest;
    if let Some(rest) = rest.strip_prefix("//") {
        let (host, behind) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        found.doubt |= !(host.is_empty() || host.eq_ignore_ascii_case("localhost"));
        path = behind;
    }
    found.add(path);
    found.add(path.split(['?', '#']).next().unwrap_or(path));
}

fn unseen(text: &str, found: &mut Readings) {
    if has_unseen(text) {
        found.odd = true;
        if let Some((head, _)) = text.split_once('\0') {
            found.add(head);
        }
    }
    let stripped = strip(text);
    if stripped != text {
        found.add(&stripped);
    }
}

/// Separators and dots of other scripts, which a conversion to a smaller character set may turn
/// into ASCII.
fn lookalikes(text: &str, found: &mut Readings) {
    let plain = text.replace(['\u{ff0f}', '\u{2215}', '\u{2044}', '\u{29f8}'], "/");
    let plain = plain.replace(['\u{ff3c}', '\u{29f5}'], "\\").replace(['\u{ff0e}', '\u{2024}'], ".");
    found.add_other(text, &plain);
}

/// Whitespace and quotes around the text, which some tools strip.
fn trimmed(text: &str, found: &mut Readings) {
    let inner = text.trim();
    let quoted = ['\'', '"', '`'].iter().find_map(|&q| inner.strip_prefix(q)?.strip_suffix(q));
    let inner = quoted.unwrap_or(inner);
    if !inner.is_empty() {
        found.add_other(text, inner);
    }
}

fn decoded(text: &str, found: &mut Readings) {
    found.add_other(text, &percent_decode_str(text).decode_utf8_lossy());
}

/// Backslashes and drive letters.
fn slashes(text: &str, found: &mut Readings) {
    let before = found.texts.len();
    if text.contains('\\') {
        // A shell, or a parser of JSON within JSON, removes one of them.
        found.add(&text.replace('\\', "/"));
        found.add(&text.replace('\\', ""));
    }
    if let Some(rest) = text.strip_prefix("//?/").or_else(|| text.strip_prefix("//./")) {
        found.add(rest);
    }
    for own in ["//localhost/", "//127.0.0.1/"] {
        if text.to_ascii_lowercase().starts_with(own) {
            found.add(text.get(own.len() - 1..).unwrap_or_default());
        }
    }
    let mut chars = text.chars();
    if let (Some('A'..='Z' | 'a'..='z'), Some(':')) = (chars.next(), chars.next()) {
        // `C:a` is relative to the current folder of that drive.
        found.doubt |= !chars.as_str().starts_with(['/', '\\']);
        found.add(chars.as_str());
    }
    found.odd |= found.texts.len() > before;
}

fn variables(text: &str, found: &mut Readings) {
    let home = ["${HOME}", "$HOME", "%USERPROFILE%", "%HOMEPATH%"];
    let here = ["${PWD}", "$PWD", "%CD%"];
    for (names, folder) in [(home.as_slice(), '~'), (here.as_slice(), '.')] {
        let rest = names.iter().find_map(|name| text.strip_prefix(name));
        if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\'])) {
            found.odd = true;
            found.add(&format!("{folder}{}", rest.replace('\\', "/")));
        }
    }
}

/// `~user`, assuming the usual locations of home folders.
fn users(text: &str, found: &mut Readings) {
    let Some(rest) = text.strip_prefix('~').filter(|rest| !rest.is_empty() && !rest.starts_with('/')) else { return };
    (found.odd, found.doubt) = (true, true);
    found.add(&format!("/home/{rest}"));
    found.add(&format!("/Users/{rest}"));
    if let Some(rest) = rest.strip_prefix("root") {
        found.add(&format!("/root{rest}"));
    }
}

/// Paths by which the kernel leads to the files and folders of a process.
fn kernel(text: &str, found: &mut Readings) {
    if !text.starts_with('/') {
        return;
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    // `/proc/self/task/7/root` is equivalent, one level deeper.
    let (door, behind) = match parts.as_slice() {
        ["proc", _, "task", _, door, ..] => (*door, 5),
        ["proc", _, door, ..] => (*door, 3),
        ["dev", "fd", ..] => ("fd", 3),
        ["dev", "stdin" | "stdout" | "stderr"] => ("std", 2),
        _ => return,
    };
    match door {
        "root" | "cwd" => {
            found.odd = true;
            found.doubt |= !matches!(parts.get(1), Some(&"self" | &"thread-self"));
            let start = if door == "root" { "/" } else { "./" };
            found.add(&format!("{start}{}", parts.get(behind..).unwrap_or_default().join("/")));
        }
        "fd" | "exe" | "map_files" | "std" => {
            found.odd = true;
            // The reader of commands accounts for the standard streams.
            found.doubt |= !(door == "std" || matches!(parts.last(), Some(&"0" | &"1" | &"2")));
        }
        _ => {}
    }
}

/// Dots and spaces at the end of a name, which Windows drops.
fn ends(text: &str, found: &mut Readings) {
    found.add_other(text, &text.split('/').map(without_end).collect::<Vec<_>>().join("/"));
}

/// A name without the dots and spaces at its end.
fn without_end(name: &str) -> &str {
    let name = name.trim_end_matches(' ');
    if matches!(name, "" | "." | "..") { name } else { name.trim_end_matches(['.', ' ']) }
}

/// Harmless aliases of the same file: macOS keeps `/etc`, `/tmp` and `/var` below `/private`, and
/// users' files also below `/System/Volumes/Data`; NTFS has streams.
fn aliases(text: &str, found: &mut Readings) {
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("/system/volumes/data/") {
        found.add(text.get("/system/volumes/data".len()..).unwrap_or_default());
    }
    if ["/private/etc", "/private/tmp", "/private/var"].iter().any(|folder| lower.starts_with(folder)) {
        found.add(text.get("/private".len()..).unwrap_or_default());
    }
    let (head, name) = text.rsplit_once('/').unwrap_or(("", text));
    if let Some((file, _)) = name.split_once(':').filter(|(file, _)| file.len() > 1) {
        let is_name = head.is_empty() && !text.starts_with('/');
        found.add(&if is_name { file.to_owned() } else { format!("{head}/{file}") });
    }
}

/// What NTFS names otherwise: a folder by its stream, and a file by eight characters and three,
/// where the dot at the front of a name is dropped.
fn short(text: &str, found: &mut Readings) {
    let long = |name: &str| match name.split_once('~') {
        Some((stem, number)) if is_stem(stem) && is_digits(number) => format!(".{}", stem.to_lowercase()),
        _ if name.to_ascii_lowercase().contains(":$index_allocation") => {
            name.split(':').next().unwrap_or_default().to_owned()
        }
        _ => name.to_owned(),
    };
    if text.contains(['~', '$']) {
        found.add_other(text, &text.split('/').map(long).collect::<Vec<_>>().join("/"));
    }
}

/// Whether a text may be the front of a short name.
fn is_stem(text: &str) -> bool {
    (1..=6).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(256)))]

        /// The fast path agrees with the full reading.
        #[test]
        fn the_quick_answer_is_right(text in "(/|//|/proc|/Private|/dev|\\.|~)?([a-z./ :%C-]|\\.\\.){0,12}") {
            if has_one_reading(&text) {
                let mut found = Readings::default();
                READS.iter().for_each(|read| read(&text, &mut found));
                prop_assert!(found.texts.is_empty() && !found.odd && !found.doubt, "{text:?}: {:?}", found.texts);
            }
        }
    }
}
