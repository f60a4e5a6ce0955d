//! Commands of git that print what git has stored: `git log -p`, `git diff -- 'src/*'`.

use super::Prepared;
use super::checkout::is_plain;
use crate::argv::{Word, all_known, is_listed, program};
use crate::shell::{Role, is_filter};

/// Options with which these commands print nothing but files that git tracks in the history of the
/// revisions that they name. Sources: git-log(1), git-diff(1), git-show(1), git-grep(1),
/// git-stash(1).
const OPTIONS: &str = "-p -u --patch --oneline --stat --numstat --shortstat --name-only --name-status --no-color \
    --graph --decorate --no-merges --first-parent --reverse --cached --staged -w -b -i -l -n -c -h -q -s -E -F \
    --format --pretty --since --until --author --color";

/// The revisions that the call prints files of, if it does and does nothing else, beside filters of
/// what it prints. Without one they are those of HEAD.
pub(crate) fn printed<'c>(call: &'c Prepared<'_>) -> Option<Vec<&'c str>> {
    if !call.is_shell || !call.effects.unknowns.is_empty() || call.effects.written().next().is_some() {
        return None;
    }
    let mut found = None;
    for command in &call.effects.commands {
        let is_git = program(&command.words) == Some("git");
        match is_git && command.role == Role::Runs && found.is_none() {
            true => found = Some(revisions(&command.words)?),
            false if command.role == Role::Runs && is_filter(&command.words) => {}
            false => return None,
        }
    }
    found
}

/// The revisions that a command of git names. `None`: another command, or an option or operand that
/// may print something else.
fn revisions(words: &[Word]) -> Option<Vec<&str>> {
    let words = all_known(words)?;
    let (subcommand, rest) = match words.as_slice() {
        ["git", "stash", "show", rest @ ..] => ("stash", rest),
        ["git", subcommand @ ("log" | "diff" | "show" | "grep"), rest @ ..] => (*subcommand, rest),
        _ => return None,
    };
    let end = rest.iter().position(|word| *word == "--").unwrap_or(rest.len());
    let mut operands = Vec::new();
    for word in rest.get(..end)? {
        let name = word.split('=').next().unwrap_or(word);
        let is_number = word.len() > 1 && word.bytes().skip(1).all(|b| b.is_ascii_digit());
        match word.starts_with('-') {
            // Of a stash, it adds files that are not tracked.
            true if *word == "-u" && subcommand == "stash" => return None,
            true if is_number || is_listed(OPTIONS, name) => {}
            true => return None,
            false => operands.push(*word),
        }
    }
    match subcommand {
        // Its first operand is what it looks for.
        "grep" => drop(operands.drain(..operands.len().min(1))),
        "stash" if operands.is_empty() => operands.push("stash@{0}"),
        // Each is a stash, by its number or its name.
        "stash" => return None,
        _ => {}
    }
    let are_plain = operands.iter().all(|revision| is_plain(revision) || subcommand == "stash");
    are_plain.then(|| operands.into_iter().flat_map(ends).collect())
}

/// The revisions of a range, `HEAD` for an end that is left out, or of one that is excluded: `git
/// diff a..b`, `git diff a...b` and `git diff b ^a` print files of both. Anything else is itself.
fn ends(revision: &str) -> Vec<&str> {
    if !revision.contains("..") {
        return vec![revision.trim_start_matches('^')];
    }
    let mut ends = Vec::new();
    for part in revision.split("..") {
        let name = part.trim_start_matches(['^', '.']);
        ends.push(if name.is_empty() { "HEAD" } else { name });
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_tracked_is_printed() {
        let read = |line: &str| {
            let words: Vec<Word> = line.split(' ').map(Word::known).collect();
            revisions(&words).map(|found| found.join(" "))
        };
        for (line, expected) in [
            ("git log -p", ""),
            ("git log -p -3 --oneline main..HEAD", "main HEAD"),
            ("git diff secret...main", "secret main"),
            ("git diff secret..", "secret HEAD"),
            ("git diff main..secret..main", "main secret main"),
            ("git diff main ^secret", "main secret"),
            ("git diff v1 v2 --stat -- *.rs", "v1 v2"),
            ("git show HEAD~2 --format=%H -- src", "HEAD~2"),
            ("git grep -n key -- src/*", ""),
            ("git grep key v1", "v1"),
            ("git stash show -p", "stash@{0}"),
        ] {
            assert_eq!(read(line).as_deref(), Some(expected), "{line}");
        }
        for other in [
            "git log -p --all",
            "git log -p -g",
            "git log -p HEAD@{1}",
            "git diff --no-index a b",
            "git diff --submodule=diff",
            "git grep --untracked x",
            "git grep --recurse-submodules x",
            "git show :/text",
            "git show HEAD:.env",
            "git stash show -p 1",
            "git stash show -u",
            "git -C sub log -p",
            "git fast-export HEAD",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
