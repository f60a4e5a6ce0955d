//! Letters of options: which can be combined, and which long options they stand for. For ask and deny.

/// Programs whose one-letter options can be combined, in any order and with others in between.
pub(super) const CLUSTERS: &[&str] =
    &["rm", "rmdir", "cp", "mv", "ln", "chmod", "chown", "git", "ls", "shred", "docker", "podman"];

/// Long options and their one-letter equivalents: `(program, long, letter)`. For ask and deny.
const SAME: &[(&str, &str, &str)] = &[
    ("rm", "--recursive", "r"),
    ("rm", "-R", "r"),
    ("rm", "--force", "f"),
    ("rm", "--dir", "d"),
    ("rm", "--interactive", "i"),
    ("rm", "--verbose", "v"),
    ("cp", "--recursive", "r"),
    ("cp", "-R", "r"),
    ("cp", "--force", "f"),
    ("mv", "--force", "f"),
    ("ln", "--force", "f"),
    ("ln", "--symbolic", "s"),
    ("chmod", "--recursive", "R"),
    ("chown", "--recursive", "R"),
    ("chgrp", "--recursive", "R"),
    ("git", "--force", "f"),
    ("git", "--delete", "d"),
    ("git", "-D", "df"),
    ("git", "-M", "mf"),
    ("git", "-C", "cf"),
    ("docker", "--force", "f"),
    ("docker", "--volumes", "v"),
    ("podman", "--force", "f"),
    ("systemctl", "--force", "f"),
];

/// The letters that an option stands for in a program, including those of long names.
pub(super) fn letters(program: &str, word: &str) -> Option<String> {
    let name = word.split('=').next().unwrap_or(word);
    if let Some((_, _, letter)) = SAME.iter().find(|(p, long, _)| *p == program && *long == name) {
        return Some((*letter).to_owned());
    }
    let doubles = |c: char| {
        SAME.iter().find(|(p, long, _)| *p == program && long.strip_prefix('-') == Some(c.encode_utf8(&mut [0; 4])))
    };
    short(word)
        .map(|l| l.chars().map(|c| doubles(c).map_or_else(|| c.to_string(), |(_, _, r)| (*r).to_owned())).collect())
}

/// The letters of `-rf`; `None` for `--long`, `-`, `-5`.
fn short(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|l| !l.is_empty() && l.chars().all(|c| c.is_ascii_alphabetic()))
}
