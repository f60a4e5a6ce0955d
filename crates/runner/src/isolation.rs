//! The isolation that a run requires, and what this machine offers.

use std::ffi::OsStr;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::{guard, linux};

/// Whether a run requires isolation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Isolation {
    /// The script runs isolated or not at all.
    #[default]
    Required,
    /// The script runs with the rights of the user. The limits still apply.
    None,
}

/// The isolation that this machine offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// Landlock and seccomp.
    Landlock {
        /// The version of Landlock's interface that is used: 1 to 6.
        abi: u8,
    },
    /// No isolation, and what is missing.
    Missing(String),
}

impl Level {
    /// Whether scripts can run isolated.
    #[must_use]
    pub fn isolates(&self) -> bool {
        matches!(self, Self::Landlock { .. })
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Landlock { abi } => write!(f, "Landlock (ABI {abi}) and seccomp"),
            Self::Missing(why) => write!(f, "none: {why}"),
        }
    }
}

/// The isolation of this machine.
#[must_use]
pub fn level() -> Level {
    linux::level()
}

/// The subcommand that starts a supervisor.
pub(crate) const SUPERVISE: &str = "__run-script";
/// The subcommand of the process that becomes the script.
pub(crate) const BECOME: &str = "__become-script";

/// Runs the part of a supervisor, of its child or of a guard if the first argument after the
/// program's name selects it. A program that is used as a [`Supervisor`](super::Supervisor) calls
/// it first in `main`, before it starts a thread.
#[must_use]
pub fn hidden(argument: Option<&OsStr>) -> Option<ExitCode> {
    match argument?.to_str()? {
        SUPERVISE => Some(linux::supervise()),
        BECOME => Some(linux::become_script()),
        guard::GUARD => Some(guard::guard()),
        _ => None,
    }
}
