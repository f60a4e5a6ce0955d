//! The process that becomes the script: it restricts itself and executes the interpreter.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the script")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal, setsid};
use rustix::thread::set_no_new_privs;

use super::{filter, limits, rules};
use crate::isolation::Isolation;
use crate::script::digest;
use crate::spec::{MAX_MESSAGE, Refused, Spec};

/// Reads a [`Spec`] from standard input, a socket of the supervisor, and becomes the script. Writes
/// the reason to the socket if that fails; the socket is closed when the script is executed.
pub(crate) fn become_script() -> ExitCode {
    let Ok(socket) = rustix::io::fcntl_dupfd_cloexec(std::io::stdin().as_fd(), 3) else { return ExitCode::FAILURE };
    let mut socket = UnixStream::from(socket);
    let refused = match prepare(&mut socket) {
        Ok(mut command) => {
            Refused { changed: false, why: format!("the interpreter cannot be executed: {}", command.exec()) }
        }
        Err(refused) => refused,
    };
    let message = serde_json::to_vec(&refused).unwrap_or_default();
    // Without its supervisor the reason is lost, and the script was not started.
    drop(socket.write_all(&message));
    ExitCode::FAILURE
}

fn failed(why: impl Into<String>) -> Refused {
    Refused { changed: false, why: why.into() }
}

fn prepare(socket: &mut UnixStream) -> Result<Command, Refused> {
    let mut text = Vec::new();
    socket.take(MAX_MESSAGE).read_to_end(&mut text).map_err(|why| failed(format!("no message: {why}")))?;
    let spec: Spec = serde_json::from_slice(&text).map_err(|why| failed(format!("invalid message: {why}")))?;
    restrict(&spec)?;
    let mut command = Command::new(&spec.program);
    command.arg(&spec.entry).env_clear().envs(&spec.env);
    Ok(command)
}

/// Everything that cannot be undone, in an order in which each step is still permitted.
fn restrict(spec: &Spec) -> Result<(), Refused> {
    // The script ends with its supervisor, which may already have ended.
    let dies = set_parent_process_death_signal(Some(Signal::KILL));
    dies.map_err(|why| failed(format!("the supervisor cannot be followed: {why}")))?;
    if getppid().map(Pid::as_raw_nonzero).map(|pid| pid.get().unsigned_abs()) != Some(spec.supervisor) {
        return Err(failed("the supervisor has ended"));
    }
    setsid().map_err(|why| failed(format!("no session: {why}")))?;
    close_fds::set_fds_cloexec(3, &[]);
    let stdin = File::open(spec.stdin.as_deref().unwrap_or(std::path::Path::new("/dev/null")));
    let stdin = stdin.map_err(|why| failed(format!("the input cannot be opened: {why}")))?;
    rustix::stdio::dup2_stdin(&stdin).map_err(|why| failed(format!("no standard input: {why}")))?;
    let entry = File::open(&spec.entry).and_then(|mut entry| digest(&mut entry));
    if entry.map_err(|why| failed(format!("the script cannot be read: {why}")))? != spec.sha256 {
        return Err(Refused { changed: true, why: "the script has changed".to_owned() });
    }
    limits::lower(&spec.limits).map_err(failed)?;
    set_no_new_privs(true).map_err(|why| failed(format!("privileges cannot be given up: {why}")))?;
    if spec.isolation == Isolation::Required {
        let abi = rules::restrict(&spec.work, &spec.readable).map_err(failed)?;
        limits::drop_capabilities().map_err(failed)?;
        filter::apply(abi).map_err(failed)?;
    }
    Ok(())
}
