//! The shell that reads the commands of a tool: which one, and whether it is interactive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::argv::contains_any;

/// A shell, as the key `shell` of a record names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Shell {
    /// bash 4 or 5.
    Bash,
    /// A POSIX shell, such as dash: it lacks what only bash and zsh have.
    Sh,
    /// zsh 5.
    Zsh,
    /// Any other: PowerShell, cmd, fish, nushell. Its commands are not read, so that every call
    /// asks.
    Other,
}

/// Shells that read no bash, as whole words of a tool's name: each is also a part of other words
/// (`finish`, `menu`).
const OTHER_WORDS: &[&str] = &["cmd", "fish", "nu", "csh", "tcsh", "elvish", "xonsh"];

/// Shells that read no bash, anywhere in a tool's name.
const OTHER_PARTS: &[&str] = &["powershell", "pwsh", "nushell", "commandprompt"];

/// The words of a name in lower case, without the digits at their ends: `runPwsh7` has `run` and
/// `pwsh`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = !c.is_uppercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.iter().map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()).collect()
}

impl Shell {
    /// Returns the shell that the name of a tool names, `Other` for one whose language is not read,
    /// or `None`.
    #[must_use]
    pub fn of_name(tool: &str) -> Option<Self> {
        let words = words(tool);
        let joined = words.concat();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        if contains_any(&joined, OTHER_PARTS) || has(OTHER_WORDS) {
            return Some(Self::Other);
        }
        let mut named = [("bash", Self::Bash), ("zsh", Self::Zsh), ("sh", Self::Sh)].into_iter();
        let (_, shell) = named.find(|(name, _)| has(&[name]))?;
        Some(shell)
    }

    /// How much it restricts beside others: a project's record only adds. An unnamed shell is read
    /// as bash, with what is dangerous in zsh.
    fn strictness(shell: Option<Self>) -> u8 {
        match shell {
            Some(Self::Bash) => 0,
            Some(Self::Sh) => 1,
            None => 2,
            Some(Self::Zsh) => 3,
            Some(Self::Other) => 4,
        }
    }

    pub(crate) fn stricter(own: Option<Self>, other: Option<Self>) -> Option<Self> {
        if Self::strictness(other) > Self::strictness(own) { other } else { own }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The shell. `None`: unknown. It is read as bash, and what zsh alone evaluates asks.
    pub shell: Option<Shell>,
    /// Whether the shell is interactive, so that it expands `!`.
    pub interactive: bool,
}

impl Dialect {
    /// `bash -c`.
    pub(crate) const BASH: Self = Self { shell: Some(Shell::Bash), interactive: false };

    pub(crate) fn is_zsh(self) -> bool {
        self.shell == Some(Shell::Zsh)
    }
}

#[cfg(test)]
mod tests {
    use super::Shell;

    #[test]
    fn names_of_tools() {
        for (shell, names) in [
            (
                Some(Shell::Other),
                "PowerShell powershell run_powershell pwsh runPwsh7 cmd run_cmd cmd.exe fish Nushell nu mcp:w/cmd",
            ),
            (Some(Shell::Bash), "Bash bash run_bash execBash"),
            (Some(Shell::Zsh), "zsh run-zsh"),
            (Some(Shell::Sh), "sh run_sh"),
            (None, "run_shell Shell execute command terminal finish menu manual shell_exec number"),
        ] {
            for name in names.split(' ') {
                assert_eq!(Shell::of_name(name), shell, "{name}");
            }
        }
    }

    #[test]
    fn the_stricter_of_two() {
        let all = [Some(Shell::Bash), Some(Shell::Sh), None, Some(Shell::Zsh), Some(Shell::Other)];
        for (i, own) in all.into_iter().enumerate() {
            for (j, other) in all.into_iter().enumerate() {
                assert_eq!(Shell::stricter(own, other), all[i.max(j)]);
            }
        }
    }
}
