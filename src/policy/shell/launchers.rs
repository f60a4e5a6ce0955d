//! Launchers: programs that start another program named in their arguments, and where its name may be. For guesses:
//! what may be denied is searched for after all of them.
//!
//! Sources: each program's manual page. The end of a launcher's own options is not known here. The few launchers whose
//! grammar matters for an allow are in the table of wrappers.

use crate::policy::argv::{Word, base_name};
use crate::policy::programs;

/// Options whose value is a command line.
const TEXT_OPTIONS: &[&str] = &[
    "-c",
    "-qc",
    "-lc",
    "--command",
    "--run",
    "--exec",
    "-x",
    "-e",
    "--cmd",
    "--call",
    "-s",
    "--shell-command",
    "--execute",
    "--preview",
];

/// Whether a launcher only starts its arguments as a command: an allow for it does not cover that command.
#[cfg(feature = "shell")]
pub(crate) fn only_starts(base: &str) -> bool {
    programs::is(base, "launcher") && runs_here(base) && !programs::is(base, "often-other")
}

/// Whether what a launcher starts sees the files of this machine.
#[cfg(feature = "shell")]
pub(crate) fn runs_here(base: &str) -> bool {
    !programs::is(base, "elsewhere")
}

/// Where the command that a launcher may run begins. `None` for other programs.
pub(crate) fn behind(words: &[Word]) -> Option<usize> {
    let base = base_name(words.first()?.get()?);
    if programs::find(base).is_some_and(|program| program.text("behind").is_some()) {
        let mark = words.iter().skip(1).take(8).position(|w| w.get().is_some_and(|v| hands_on(base, v)))?;
        return Some(mark + 2);
    }
    (programs::is(base, "launcher") || super::tables::is_shell(base)).then_some(1)
}

/// Whether a program runs what follows this word: `conda run`.
pub(crate) fn hands_on(base: &str, word: &str) -> bool {
    programs::find(base).is_some_and(|program| program.list("behind").any(|mark| mark == word))
}

/// Whether a program may start another program at all.
pub(crate) fn is_launcher(base: &str) -> bool {
    programs::is(base, "launcher") || programs::is(base, "starter")
}

/// Whether a launcher reads commands from its input.
#[cfg(feature = "shell")]
pub(crate) fn reads_commands(base: &str) -> bool {
    programs::is(base, "reads-commands")
}

/// Whether each argument of a launcher may be a separate command line.
pub(crate) fn takes_text(base: &str) -> bool {
    programs::is(base, "takes-text")
}

/// The command lines that are the values of options: `-c 'rm x'`, `--run='rm x'`.
pub(crate) fn texts(words: &[Word]) -> impl Iterator<Item = &str> {
    words.windows(2).filter_map(|pair| {
        let (option, value) = (pair.first()?.get()?, pair.get(1)?);
        let glued = value.get().and_then(|v| v.split_once('=')).filter(|(o, _)| TEXT_OPTIONS.contains(o));
        match glued {
            Some((_, text)) => Some(text),
            None => value.get().filter(|_| TEXT_OPTIONS.contains(&option)),
        }
    })
}
