//! A process that ends process groups if its host is killed.
//!
//! A host that ends on its own ends what it has started. A host that is killed with SIGKILL cannot:
//! programs that do not notice the end of their input, and their descendants, would run on. The
//! guard's input closes with the host, however the host ends. It then ends the groups that the host
//! has named and not removed.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it starts a process")]

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::process::{ChildStdin, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::error::RunError;
use super::host::Supervisor;
use super::linux::{RUNS, end_group};

/// The subcommand that starts a guard.
pub(crate) const GUARD: &str = "__guard";

/// The time that the groups have to end on their own, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// Interval between two checks whether a group has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// How a group is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It ends on its own, since its input is closed.
    Wait,
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
}

/// The host's handle on its guard.
#[derive(Debug)]
pub struct Guard(Mutex<Option<ChildStdin>>);

impl Guard {
    /// Starts a guard: `program` runs as one, as it supervises scripts. `None` where this system
    /// has none.
    ///
    /// # Errors
    /// [`RunError`] if the process cannot be started.
    pub fn start_guard(program: &Supervisor) -> Result<Option<Self>, RunError> {
        if !RUNS {
            return Ok(None);
        }
        let mut command = program.part(GUARD);
        command.env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // What ends the host's group must not end the guard.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(RunError::io("the guard of the servers cannot be started"))?;
        Ok(Some(Self(Mutex::new(child.stdin.take()))))
    }

    /// Names a process group (`true`), or removes one that has ended.
    pub fn name_group(&self, group: u32, began: bool) {
        let mut input = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sign = if began { '+' } else { '-' };
        // Without its guard, the host continues: the end of their input still ends most programs.
        // In one piece: a host that is killed in between must not name a part of a number.
        let line = format!("{sign}{group}\n");
        if input.as_mut().is_some_and(|input| input.write_all(line.as_bytes()).is_err()) {
            *input = None;
        }
    }
}

/// Waits until the host has ended, then ends its groups.
pub(crate) fn guard() -> ExitCode {
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match (line.strip_prefix('+').map(str::parse::<u32>), line.strip_prefix('-').map(str::parse::<u32>)) {
            (Some(Ok(group)), _) => drop(groups.insert(group)),
            (_, Some(Ok(group))) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    for ending in [Ending::Wait, Ending::Term, Ending::Kill] {
        groups.retain(|group| end_group(*group, ending));
        let mut waited = Duration::ZERO;
        while !groups.is_empty() && waited < GRACE {
            std::thread::sleep(PAUSE);
            waited += PAUSE;
            groups.retain(|group| end_group(*group, Ending::Wait));
        }
    }
    ExitCode::SUCCESS
}
