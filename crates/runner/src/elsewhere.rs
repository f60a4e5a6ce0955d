//! Systems on which scripts do not run.

use std::process::ExitCode;

use super::guard::Ending;
use super::isolation::Level;

/// Whether scripts run at all.
pub(crate) const RUNS: bool = false;

pub(crate) fn level() -> Level {
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    Level::Missing(format!("scripts of skills cannot be isolated on {system} ({machine})"))
}

pub(crate) fn supervise() -> ExitCode {
    ExitCode::FAILURE
}

pub(crate) fn end_group(_group: u32, _ending: Ending) -> bool {
    false
}

pub(crate) fn become_script() -> ExitCode {
    ExitCode::FAILURE
}
