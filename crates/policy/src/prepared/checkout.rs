//! Commands of git that write files which git tracks.

use super::Prepared;
use crate::argv::{Word, program};
use crate::shell::Role;

/// What git may write, read from a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Checkout<'w> {
    /// The revision that is named. `None`: files come from the index or from HEAD.
    pub(crate) revision: Option<&'w str>,
    /// Whether the revision may also be a path.
    pub(crate) may_be_path: bool,
}

/// The checkout, if the call is one and nothing else: `git checkout`, `git restore` or `git
/// switch` in its plain forms, beside commands that only read. Another command might change
/// what git tracks, or the folder.
pub(crate) fn checkout<'c>(call: &'c Prepared<'_>) -> Option<Checkout<'c>> {
    if !call.is_shell || !call.effects.unknowns.is_empty() {
        return None;
    }
    let mut found = None;
    for (_, command) in call.running() {
        if program(&command.words) == Some("git") && !super::looks(&command.words) {
            if found.is_some() {
                return None;
            }
            found = Some(Checkout::read(&command.words)?);
        } else if program(&command.words) == Some("cd") || !super::looks(&command.words) {
            return None;
        }
    }
    let alone = call.effects.commands.iter().all(|command| command.role == Role::Runs);
    found.filter(|_| alone)
}

impl<'w> Checkout<'w> {
    /// Reads the plain forms. `None`: another command, or an option that is not among them.
    fn read(words: &'w [Word]) -> Option<Self> {
        let words = words.iter().map(Word::get).collect::<Option<Vec<&str>>>()?;
        let (subcommand, rest) = match words.as_slice() {
            ["git", subcommand @ ("checkout" | "restore" | "switch"), rest @ ..] => (*subcommand, rest),
            _ => return None,
        };
        let end = rest.iter().position(|word| *word == "--");
        let (front, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let (mut source, mut operands) = (None, Vec::new());
        let mut words = front.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "-q" | "--quiet" | "-W" | "--worktree" => {}
                "-s" | "--source" if subcommand == "restore" => source = Some(words.next()?),
                _ if word.starts_with("--source=") && subcommand == "restore" => {
                    source = word.split_once('=').map(|(_, source)| source);
                }
                _ if word.starts_with('-') => return None,
                _ => operands.push(word),
            }
        }
        let paths = !behind.is_empty();
        let (revision, may_be_path) = match (subcommand, operands.as_slice()) {
            ("restore", [_, ..]) => (source, false),
            ("restore", []) if paths => (source, false),
            ("switch", [one]) if !paths => (Some(*one), false),
            ("checkout", [one]) => (Some(*one), !paths),
            ("checkout", []) if paths => (None, false),
            _ => return None,
        };
        revision.is_none_or(is_plain).then_some(Self { revision, may_be_path })
    }
}

/// Whether a revision has none of git's operators that depend on more than the repository, such as
/// `@{-1}` and `:/text`.
pub(super) fn is_plain(revision: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._/~^-".contains(c);
    !revision.is_empty() && !revision.starts_with('-') && revision.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_forms_are_read() {
        let read = |line: &str| {
            let words: Vec<Word> = line.split(' ').map(Word::known).collect();
            Checkout::read(&words).map(|found| (found.revision.map(str::to_owned), found.may_be_path))
        };
        let named = |revision: &str, may_be_path| Some((Some(revision.to_owned()), may_be_path));
        assert_eq!(read("git checkout main"), named("main", true));
        assert_eq!(read("git checkout -q HEAD~1 -- sub"), named("HEAD~1", false));
        assert_eq!(read("git checkout -- sub"), Some((None, false)));
        assert_eq!(read("git restore ."), Some((None, false)));
        assert_eq!(read("git restore --source=v1 sub"), named("v1", false));
        assert_eq!(read("git restore -s v1 -- sub"), named("v1", false));
        assert_eq!(read("git switch main"), named("main", false));
        for other in [
            "git pull",
            "git merge x",
            "git stash pop",
            "git -C sub checkout main",
            "git checkout --recurse-submodules main",
            "git checkout -f main",
            "git checkout -",
            "git checkout @{-1}",
            "git checkout main file",
            "git switch -",
            "git restore --source=:/text a",
            "git restore",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
