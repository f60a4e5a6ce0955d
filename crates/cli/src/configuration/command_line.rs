//! Command lines, as settings and flags write them.

/// A command line, split into words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandLine {
    /// The text as it was written.
    pub text: String,
    /// The program.
    pub program: String,
    /// The arguments of the program.
    pub arguments: Vec<String>,
}

/// The words of a command, split at white space and unquoted as a shell does it. No shell is run,
/// so that `$NAME`, `*` and `|` have no special meaning.
/// Fails if a quote does not end, or the command is empty.
pub(crate) fn command_words(command: &str) -> Result<Vec<String>, String> {
    let words = shlex::split(command).ok_or_else(|| "a quote in the command does not end".to_owned())?;
    if words.is_empty() { Err("the command is empty".to_owned()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::command_words;

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        for (command, words) in [
            ("npx -y server", Some(vec!["npx", "-y", "server"])),
            ("a 'b c' \"d e\" f\\ g", Some(vec!["a", "b c", "d e", "f g"])),
            ("a '' $HOME *", Some(vec!["a", "", "$HOME", "*"])),
            ("a --x='1 2'", Some(vec!["a", "--x=1 2"])),
            ("a 'b", None),
            ("  ", None),
        ] {
            let words = words.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(command_words(command).ok(), words, "{command}");
        }
    }
}
