//! The supervisor: starts the script, reads its output, enforces the limits and ends every
//! descendant.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the clock and starts processes")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, pidfd_open,
    set_child_subreaper, wait,
};

use super::capped::Capped;
use super::processes::{all_tasks, count, descendants};
use crate::isolation::BECOME;
use crate::spec::{Limits, MAX_MESSAGE, Refused, Report, Spec, Stopped};

/// Maximum of [`Limits::output_bytes`]: JSON escapes a byte with up to six, and a message holds two
/// outputs.
const MAX_OUTPUT: u64 = 256 << 10;
/// Time between two counts of processes and memory. A fork bomb of one process creates a few
/// hundred processes in it.
const COUNT_EVERY: Duration = Duration::from_millis(25);
/// A count takes at most this part of the time: one twentieth. Where the machine has more new
/// processes than the script may have, it is counted at once.
const COUNT_PART: u32 = 20;
/// Time until killed processes must have ended. The promise is one second after the timeout.
const KILLED_WITHIN: Duration = Duration::from_millis(900);
/// Time in which the child must become the script.
const STARTS_WITHIN: Duration = Duration::from_secs(10);

/// Reads a [`Spec`] from standard input, runs it, and writes a [`Report`] to standard output.
pub(crate) fn supervise() -> ExitCode {
    let report = match run() {
        Ok(report) => report,
        Err(refused) => Report { refused: Some(refused), ..Report::default() },
    };
    let message = serde_json::to_vec(&report).unwrap_or_default();
    let mut stdout = std::io::stdout();
    // Only a program of Rust flushes it at its end.
    match stdout.write_all(&message).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn failed(what: &str) -> impl Fn(std::io::Error) -> Refused {
    move |why| Refused { changed: false, why: format!("{what}: {why}") }
}

fn read_spec() -> Result<Spec, Refused> {
    let mut line = Vec::new();
    // One line; the host then leaves the pipe open until it cancels the run.
    let mut stdin = BufReader::new(std::io::stdin().lock().take(MAX_MESSAGE));
    stdin.read_until(b'\n', &mut line).map_err(failed("no message from the host"))?;
    serde_json::from_slice(&line).map_err(|why| Refused { changed: false, why: format!("invalid message: {why}") })
}

fn run() -> Result<Report, Refused> {
    let spec = Spec { supervisor: std::process::id(), ..read_spec()? };
    set_child_subreaper(Some(getpid())).map_err(|why| failed("no subreaper")(why.into()))?;
    let started = Instant::now();
    let mut child = start_child(&spec)?;
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Refused { changed: false, why: "the script has no output".to_owned() });
    };
    let most = usize::try_from(spec.limits.output_bytes.min(MAX_OUTPUT)).unwrap_or(usize::MAX);
    let mut streams = [Stream::new(out.into(), most), Stream::new(err.into(), most)];
    let pid = Pid::from_child(&child);
    let ended =
        pidfd_open(pid, PidfdFlags::empty()).map_err(|why| failed("the script cannot be watched")(why.into()))?;
    let stopped = watch(&spec.limits, started, (pid, &ended), &mut streams);
    let (status, survived) = end_all(pid);
    let duration = started.elapsed();
    streams.iter_mut().for_each(Stream::drain);
    let [out, err] = streams.map(|stream| stream.text);
    Ok(Report {
        refused: None,
        exit: status.and_then(WaitStatus::exit_status),
        signal: status.and_then(WaitStatus::terminating_signal),
        stopped,
        stdout_bytes: out.total(),
        stderr_bytes: err.total(),
        stdout: out.into_text(),
        stderr: err.into_text(),
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        survived,
    })
}

/// Starts the child and waits until it has become the script.
fn start_child(spec: &Spec) -> Result<Child, Refused> {
    let (mut own, other) = UnixStream::pair().map_err(failed("no socket"))?;
    // This program, even if its file was replaced.
    let mut command = Command::new("/proc/self/exe");
    command.args(&spec.own_arguments).arg(BECOME).env_clear().current_dir(&spec.work);
    command.stdin(OwnedFd::from(other)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed("the script cannot be started"))?;
    // The command holds the other end of the socket.
    drop(command);
    let exchange = || -> std::io::Result<Vec<u8>> {
        own.set_read_timeout(Some(STARTS_WITHIN))?;
        own.write_all(&serde_json::to_vec(spec)?)?;
        own.shutdown(Shutdown::Write)?;
        let mut answer = Vec::new();
        own.take(MAX_MESSAGE).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let refused = match exchange() {
        Ok(answer) if answer.is_empty() => return Ok(child),
        Ok(answer) => serde_json::from_slice(&answer).map_err(|why| failed("invalid answer of the child")(why.into())),
        Err(why) => Err(failed("the child does not answer")(why)),
    };
    drop(child.kill());
    drop(child.wait());
    Err(refused.unwrap_or_else(|why| why))
}

/// One output of the script.
struct Stream {
    /// `None` at its end.
    pipe: Option<std::fs::File>,
    text: Capped,
}

impl Stream {
    fn new(pipe: OwnedFd, most: usize) -> Self {
        Self { pipe: Some(pipe.into()), text: Capped::new(most) }
    }

    /// Reads once.
    fn read(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut buffer = [0; 64 << 10];
        match pipe.read(&mut buffer) {
            Ok(0) => self.pipe = None,
            Ok(read) => self.text.push(buffer.get(..read).unwrap_or_default()),
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.pipe = None,
        }
    }

    /// Reads what is in the pipe after its writers have ended.
    fn drain(&mut self) {
        while let Some(pipe) = &self.pipe {
            let ready = poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&Timespec::default()));
            match ready {
                Ok(0) | Err(_) => return,
                Ok(_) => self.read(),
            }
        }
    }
}

/// Waits until the script ends or must be killed, and returns the reason for killing it.
fn watch(
    limits: &Limits,
    started: Instant,
    (script, ended): (Pid, &OwnedFd),
    streams: &mut [Stream; 2],
) -> Option<Stopped> {
    let deadline = started + Duration::from_millis(limits.timeout_ms);
    let (mut next_look, mut next_count) = (started + COUNT_EVERY, started + COUNT_EVERY);
    let before = all_tasks();
    loop {
        let now = Instant::now();
        if now >= deadline {
            return Some(Stopped::Timeout);
        }
        if now >= next_look {
            next_look = now + COUNT_EVERY;
            if all_tasks() > before + limits.processes {
                next_count = now;
            }
        }
        if now >= next_count {
            if let Some(reason) = over_limits(script, limits) {
                return Some(reason);
            }
            let counted = Instant::now();
            next_count = counted + COUNT_EVERY.max((counted - now) * COUNT_PART);
        }
        let events = ready(ended, streams, deadline.min(next_count).min(next_look).saturating_duration_since(now));
        for (stream, has_output) in streams.iter_mut().zip(events.outputs) {
            if has_output {
                stream.read();
            }
        }
        if events.ended {
            return None;
        }
        if events.cancelled {
            return Some(Stopped::Cancelled);
        }
    }
}

/// What happened while the supervisor waited.
#[derive(Default)]
struct Events {
    /// The script ended.
    ended: bool,
    /// The host closed its end of the pipe.
    cancelled: bool,
    /// Which outputs can be read.
    outputs: [bool; 2],
}

/// Waits for an event, at most for a time.
fn ready(ended: &OwnedFd, streams: &[Stream; 2], most: Duration) -> Events {
    let (stdin, mut events) = (std::io::stdin(), Events::default());
    let mut fds = vec![PollFd::new(ended, PollFlags::IN), PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
    let mut targets = vec![&mut events.ended, &mut events.cancelled];
    for (stream, output) in streams.iter().zip(&mut events.outputs) {
        if let Some(pipe) = &stream.pipe {
            fds.push(PollFd::new(pipe, PollFlags::IN));
            targets.push(output);
        }
    }
    // A failed wait is repeated.
    if poll(&mut fds, Timespec::try_from(most).ok().as_ref()).is_ok() {
        for (fd, target) in fds.iter().zip(targets) {
            *target = !fd.revents().is_empty();
        }
    }
    events
}

fn over_limits(script: Pid, limits: &Limits) -> Option<Stopped> {
    let (processes, resident) = count(script, limits.processes);
    if processes > limits.processes {
        return Some(Stopped::Processes);
    }
    (resident > limits.resident_bytes).then_some(Stopped::Memory)
}

/// Kills every descendant and waits for their end. Returns how the script ended, and whether a
/// descendant is left.
fn end_all(script: Pid) -> (Option<WaitStatus>, bool) {
    let (until, mut status) = (Instant::now() + KILLED_WITHIN, None);
    // One signal reaches the whole group, and a process that is being killed cannot fork. The
    // script has not been waited for, so its id still belongs to it.
    let _ = kill_process_group(script, Signal::KILL);
    for attempt in 0_u32.. {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, found))) if pid == script => status = Some(found),
                Ok(Some(_)) => {}
                Ok(None) => break,
                // No child is left.
                Err(_) => return (status, false),
            }
        }
        if Instant::now() >= until {
            break;
        }
        // Without isolation a descendant can leave the group. Orphans become children of this
        // process.
        if attempt % 16 == 1 {
            for pid in descendants(getpid()) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    (status, true)
}
