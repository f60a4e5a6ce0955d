//! Launchers: programs that start another program named in their arguments, and where its name may be. For guesses:
//! what may be denied is searched for after all of them.
//!
//! Sources: each program's manual page. The end of a launcher's own options is not known here. The few launchers whose
//! grammar matters for an allow are in the table of wrappers.

use crate::policy::argv::{Word, base_name};

mod table;

use table::{ANYWHERE, BEHIND};

/// Launchers that take a whole command line as one argument, in any position.
const TAKES_TEXT: &[&str] = &[
    "su",
    "runuser",
    "script",
    "watch",
    "parallel",
    "ssh",
    "autossh",
    "sg",
    "at",
    "batch",
    "hyperfine",
    "tmux",
    "screen",
    "entr",
    "cmd",
    "wsl",
    "concurrently",
    "eval",
    "trap",
    "sem",
    "reflex",
    "vagrant",
    "genie",
    "gcloud",
];

/// Launchers that read commands from their input.
#[cfg(feature = "shell")]
const READS_COMMANDS: &[&str] =
    &["at", "batch", "ssh", "autossh", "su", "sg", "chroot", "nsenter", "unshare", "parallel"];

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

/// Launchers whose command runs elsewhere: its files are not the files of this machine.
#[cfg(feature = "shell")]
const ELSEWHERE: &[&str] = &[
    "ssh",
    "autossh",
    "sshpass",
    "mosh",
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "kubectl",
    "oc",
    "lxc",
    "vagrant",
    "heroku",
    "fly",
    "machinectl",
];

/// Launchers whose arguments are usually not a command of this machine.
#[cfg(feature = "shell")]
const OFTEN_OTHER: &[&str] =
    &["tmux", "screen", "perf", "gdb", "lldb", "op", "doppler", "direnv", "guix", "arch", "nodemon", "concurrently"];

/// Whether a launcher only starts its arguments as a command: an allow for it does not cover that command.
#[cfg(feature = "shell")]
pub(crate) fn only_starts(base: &str) -> bool {
    ANYWHERE.contains(&base) && runs_here(base) && !OFTEN_OTHER.contains(&base)
}

/// Whether what a launcher starts sees the files of this machine.
#[cfg(feature = "shell")]
pub(crate) fn runs_here(base: &str) -> bool {
    !ELSEWHERE.contains(&base)
}

/// Where the command that a launcher may run begins. `None` for other programs.
pub(crate) fn behind(words: &[Word]) -> Option<usize> {
    let base = base_name(words.first()?.get()?);
    if let Some((_, marks)) = BEHIND.iter().find(|(name, _)| *name == base) {
        let mark = words.iter().skip(1).take(8).position(|w| w.get().is_some_and(|v| marks.contains(&v)))?;
        return Some(mark + 2);
    }
    (ANYWHERE.contains(&base) || super::tables::is_shell(base)).then_some(1)
}

/// Whether a program runs what follows this word: `conda run`.
pub(crate) fn hands_on(base: &str, word: &str) -> bool {
    BEHIND.iter().any(|(name, marks)| *name == base && marks.contains(&word))
}

/// Whether a program may start another program at all.
pub(crate) fn is_launcher(base: &str) -> bool {
    ANYWHERE.contains(&base) || super::tables::LAUNCHERS.contains(&base)
}

/// Whether a launcher reads commands from its input.
#[cfg(feature = "shell")]
pub(crate) fn reads_commands(base: &str) -> bool {
    READS_COMMANDS.contains(&base)
}

/// Whether each argument of a launcher may be a separate command line.
pub(crate) fn takes_text(base: &str) -> bool {
    TAKES_TEXT.contains(&base)
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
