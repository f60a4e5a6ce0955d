//! Why a script could not be run.

use std::io;
use std::path::PathBuf;

/// The kind of a failure, named as the seed names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub enum Cause {
    /// The skill, its script or the interpreter is missing.
    NotFound,
    /// The skill, its settings or the input is invalid.
    Parse,
    /// The script could not be started, or failed.
    Execution,
    /// The timeout expired.
    Timeout,
}

/// Why a script was not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The skill has no script.
    #[error("the skill has no script `{0}`; `entry` in its front matter names another one")]
    NoScript(String),
    /// The script is outside the folder of its skill.
    #[error("the script `{}` is outside the skill's folder", .0.display())]
    Outside(PathBuf),
    /// The skill's folder has too many files or bytes to be compared with the approved one.
    #[error("the skill's folder has more than {files} files or {mib} MiB")]
    TooLarge {
        /// The maximum number of files.
        files: usize,
        /// The maximum size in MiB.
        mib: u64,
    },
    /// The ending of the script's name has no interpreter.
    #[error("no interpreter is configured for `{0}`; set `[skill_scripts] interpreters` in toolfold.toml")]
    UnknownKind(String),
    /// The interpreter is not installed.
    #[error("the interpreter `{0}` is not installed: not found on PATH")]
    NoInterpreter(String),
    /// The script or a file beside it is not the approved one.
    #[error("the script has changed since it was approved; run it again to approve the new one")]
    Changed,
    /// This machine cannot isolate a script.
    #[error("{0}; `--isolation none` runs the script without isolation")]
    NotIsolated(String),
    /// The sandbox could not be set up.
    #[error("the script was not started: {0}")]
    Setup(String),
    /// A file or process of the run failed.
    #[error("{what}: {why}")]
    Io {
        /// What failed.
        what: String,
        /// The reason.
        why: io::Error,
    },
}

impl RunError {
    /// The kind of failure.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::NoScript(_) | Self::NoInterpreter(_) => Cause::NotFound,
            Self::Outside(_) | Self::TooLarge { .. } | Self::UnknownKind(_) => Cause::Parse,
            Self::Changed | Self::NotIsolated(_) | Self::Setup(_) | Self::Io { .. } => Cause::Execution,
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |why| Self::Io { what, why }
    }
}
