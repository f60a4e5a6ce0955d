//! What the table of programs says that several modules need.

use crate::policy::argv::{Word, base_name};
use crate::policy::programs::{self, Does, Program};

use super::meaning::{Meant, meaning};

/// Whether a program runs the code that it receives, with or without a version: `python3.12`.
pub(crate) fn is_interpreter(base: &str) -> bool {
    programs::is(base, "interpreter")
}

/// Whether a program is a shell.
pub(crate) fn is_shell(base: &str) -> bool {
    programs::is(base, "shell")
}

/// The row of a command: that of its subcommand, where it has one.
#[cfg(feature = "shell")]
pub(crate) fn row_of(words: &[Word]) -> Option<&'static Program> {
    let mut name = base_name(words.first()?.get()?).to_owned();
    let mut row = programs::find(&name)?;
    for word in words.iter().skip(1).map_while(Word::get).take(3) {
        name = format!("{name} {word}");
        let Some(deeper) = programs::row(&name) else { break };
        row = deeper;
    }
    Some(row)
}

/// Whether the value of an option of a command is a command line that runs.
#[cfg(feature = "shell")]
pub(crate) fn runs_value(words: &[Word], option: &str) -> bool {
    let program = words.first().and_then(Word::get).and_then(|program| programs::find(base_name(program)));
    program.is_some_and(|program| program.does(option) == Some(Does::Run))
}

/// The position of the subcommand, for programs that have one and take options before it.
pub(crate) fn subcommand(words: &[Word]) -> Option<usize> {
    let base = base_name(words.first()?.get()?);
    let program = programs::row(base).filter(|program| program.subcommands || programs::is_begun(base))?;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.get().filter(|text| text.starts_with(['-', '+']) && text.len() > 1) else {
            return Some(at);
        };
        let alone = |does: Option<&Does>| does.is_none_or(|does| !does.takes_value());
        at += match meaning(program, text) {
            Meant::Unlisted if text.starts_with('+') => return Some(at),
            Meant::Option(does, None) if does.takes_value() => 2,
            Meant::Cluster(letters, None) if !alone(letters.last()) => 2,
            _ => 1,
        };
    }
    None
}

/// Whether an environment variable makes a program run or load something else.
#[cfg(feature = "shell")]
pub(crate) fn is_dangerous_variable(name: &str) -> bool {
    let variables = programs::row("env").into_iter().flat_map(|row| row.list("variables"));
    let mut fits = variables.map(|own| match (own.strip_prefix('*'), own.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == own,
    });
    // Without the table, any may.
    !programs::is_readable() || fits.any(|fits| fits)
}
