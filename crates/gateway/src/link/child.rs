//! A server's process: how it is started, and how it is ended with its descendants.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that starts processes")]

use std::collections::BTreeMap;
use std::process::Stdio;

use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::{GRACE, Inherit};

/// The limit on open files before the gateway raised it.
#[cfg(target_os = "linux")]
static EARLIER_FILES: std::sync::OnceLock<rustix::process::Rlimit> = std::sync::OnceLock::new();

/// Raises the limit on open files to the system's maximum for this process, and returns that limit.
/// `None`: unlimited.
#[cfg(target_os = "linux")]
pub(crate) fn raise_open_files() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let before = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, maximum: before.maximum });
    if raised.is_ok() && before.current != before.maximum {
        // The first call knows the limit that the process started with.
        EARLIER_FILES.get_or_init(|| before);
    }
    getrlimit(Resource::Nofile).current
}

/// Gives a process the limit on open files that the gateway had: programs that use `select` fail
/// with descriptors above 1,023.
#[cfg(target_os = "linux")]
fn restore_open_files(child: &Child) {
    use rustix::process::{Pid, Resource, prlimit};
    let process = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let (Some(process), Some(earlier)) = (process, EARLIER_FILES.get()) {
        // An error means that the process has already ended.
        let _ = prlimit(Some(process), Resource::Nofile, *earlier);
    }
}

/// Receives the process group of each server: its id, and whether it begins or has ended.
pub type Groups = Box<dyn Fn(u32, bool) + Send + Sync>;

static GROUPS: std::sync::OnceLock<Groups> = std::sync::OnceLock::new();

/// Reports the process groups of all servers of this process from now on, so that another process
/// can end them if this one is killed. Only the first call has an effect.
pub fn report_groups(to: Groups) {
    // The first one stays.
    let _ = GROUPS.set(to);
}

fn report_group(group: Option<u32>, begins: bool) {
    if let (Some(to), Some(group)) = (GROUPS.get(), group) {
        to(group, begins);
    }
}

/// Starts a program in its own process group, so that signals from the gateway's terminal do not
/// reach it, and ending the group reaches its descendants (`npx` starts `node`).
pub(super) fn spawn(
    command: &str,
    args: &[String],
    (inherit, env): (&Inherit, &BTreeMap<String, String>),
    cwd: Option<&str>,
) -> Result<Child, String> {
    let mut starts = Command::new(command);
    if let Some(inherited) = inherit.variables() {
        starts.env_clear().envs(inherited);
    }
    starts.args(args).envs(env).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    if let Some(cwd) = cwd {
        starts.current_dir(cwd);
    }
    #[cfg(unix)]
    starts.process_group(0);
    let child = starts.spawn().map_err(|why| match why.kind() {
        std::io::ErrorKind::NotFound => format!("`{command}` was not found; check the command and PATH"),
        _ => format!("`{command}` cannot be started: {why}"),
    })?;
    report_group(child.id(), true);
    #[cfg(target_os = "linux")]
    restore_open_files(&child);
    Ok(child)
}

/// Waits for the end of the process and returns how it ended. Once `ends` is cancelled, it has time
/// to exit, since its input is closed by then; then the group receives SIGTERM, then SIGKILL.
pub(super) async fn child_ended(mut child: Child, ends: &CancellationToken) -> String {
    let group = child.id();
    let status = tokio::select! {
        status = child.wait() => status,
        () = ends.cancelled() => match tokio::time::timeout(GRACE, child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                signal(group, Signal::Term);
                match tokio::time::timeout(GRACE, child.wait()).await {
                    Ok(status) => status,
                    Err(_) => {
                        signal(group, Signal::Kill);
                        drop(child.start_kill());
                        child.wait().await
                    }
                }
            }
        },
    };
    // Ends the descendants that the process has left running.
    signal(group, Signal::Term);
    report_group(group, false);
    match status {
        Ok(status) => status.to_string(),
        Err(why) => format!("unknown exit status: {why}"),
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Term,
    Kill,
}

#[cfg(unix)]
fn signal(group: Option<u32>, signal: Signal) {
    use rustix::process::{Pid, kill_process_group};
    let signal = match signal {
        Signal::Term => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    if let Some(group) = group.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
        // An error means that the group has already ended.
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(not(unix))]
fn signal(_group: Option<u32>, _signal: Signal) {}
