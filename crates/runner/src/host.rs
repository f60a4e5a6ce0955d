//! Starting a run and waiting for its end.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it starts processes")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::RunError;
use super::interpreter::Interpreter;
use super::isolation::{Isolation, Level, SUPERVISE, level};
use super::linux::RUNS;
use super::run_folder::RunFolder;
use super::script::Script;
use super::spec::{Limits, MAX_MESSAGE, Report, Spec, Stopped};

/// From this size in bytes on, the input is in a file and not in the environment: Linux limits one
/// variable to 128 KiB (`MAX_ARG_STRLEN`).
const INPUT_IN_FILE: usize = 64 << 10;

/// The program that supervises scripts: it calls [`hidden`](super::hidden) first in `main`.
#[derive(Debug, Clone)]
pub struct Supervisor {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Supervisor {
    /// The program at a path, started with these arguments before the hidden one.
    #[must_use]
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments }
    }

    /// The command that starts a part of a run.
    pub(crate) fn part(&self, part: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(part);
        command
    }
}

/// A script with everything that a run needs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Job {
    /// The script.
    pub script: Script,
    /// Its interpreter.
    pub interpreter: Interpreter,
    /// The input: a JSON object as text.
    pub input: String,
    /// The limits.
    pub limits: Limits,
    /// Whether isolation is required.
    pub isolation: Isolation,
    /// Files and folders that the script may read besides those of its skill.
    pub readable: Vec<PathBuf>,
}

impl Job {
    /// A run with the default limits that requires isolation.
    #[must_use]
    pub fn new(script: Script, interpreter: Interpreter, input: String) -> Self {
        let (limits, isolation, readable) = (Limits::default(), Isolation::Required, Vec::new());
        Self { script, interpreter, input, limits, isolation, readable }
    }

    fn spec(&self, run: &RunFolder, supervisor: &Supervisor) -> Result<Spec, RunError> {
        let work = run.work();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let own = self.interpreter.program.parent().map(text).unwrap_or_default();
        let mut env = BTreeMap::from([
            ("HOME", text(&work)),
            ("TMPDIR", text(&work)),
            ("PATH", format!("{own}:/usr/local/bin:/usr/bin:/bin")),
            ("SKILL_NAME", self.script.skill.clone()),
            ("SKILL_PATH", text(&self.script.folder)),
            ("TIMEOUT", self.limits.timeout_ms.to_string()),
        ]);
        let mut readable = self.readable.clone();
        readable.extend([
            self.script.folder.clone(),
            self.interpreter.folder.clone(),
            self.interpreter.program.clone(),
        ]);
        let stdin = if self.input.len() < INPUT_IN_FILE {
            env.insert("INPUT_JSON", self.input.clone());
            None
        } else {
            let path = run.store_input(&self.input).map_err(RunError::io("the input cannot be stored"))?;
            env.insert("INPUT_FILE", text(&path));
            readable.push(path.clone());
            Some(path)
        };
        Ok(Spec {
            own_arguments: supervisor.arguments.clone(),
            program: self.interpreter.program.clone(),
            entry: self.script.entry.clone(),
            sha256: self.script.sha256.clone(),
            work,
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            stdin,
            readable,
            limits: self.limits.clone(),
            isolation: self.isolation,
            supervisor: 0,
        })
    }
}

/// Ends a run from another thread.
#[derive(Debug, Clone)]
pub struct Canceller(Arc<Mutex<Option<ChildStdin>>>);

impl Canceller {
    /// Ends the script. [`Running::wait`] returns within a second.
    pub fn cancel(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// A run. It is cancelled when this value is dropped.
#[derive(Debug)]
pub struct Running {
    supervisor: Child,
    /// The supervisor ends the script when it is closed.
    open: Canceller,
    folder: Option<RunFolder>,
}

/// How a script ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ended {
    /// The exit code; `None` if a signal ended the script.
    pub exit: Option<i32>,
    /// The signal that ended the script.
    pub signal: Option<i32>,
    /// Why the script was killed.
    pub stopped: Option<Stopped>,
    /// The stored part of standard output. Invalid UTF-8 is replaced.
    pub stdout: String,
    /// The number of bytes of standard output.
    pub stdout_bytes: u64,
    /// The stored part of standard error.
    pub stderr: String,
    /// The number of bytes of standard error.
    pub stderr_bytes: u64,
    /// Milliseconds from the start to the end of the script's last process.
    pub duration_ms: u64,
    /// Whether processes of the script are left although they were killed.
    pub survived: bool,
    /// The folder of the run, which is removed when this value is dropped.
    pub folder: RunFolder,
}

/// Starts a script. `base`: the folder for the folders of runs.
///
/// # Errors
/// The machine cannot isolate the script although the job requires it, the script has changed, or
/// a file or process could not be created.
pub fn start(supervisor: &Supervisor, job: &Job, base: &Path) -> Result<Running, RunError> {
    if !RUNS {
        return Err(RunError::Setup(format!("scripts of skills do not run on {}", std::env::consts::OS)));
    }
    if let (Isolation::Required, Level::Missing(why)) = (job.isolation, level()) {
        return Err(RunError::NotIsolated(why));
    }
    job.script.check_unchanged()?;
    let run =
        RunFolder::create(base).map_err(RunError::io(format!("no folder for the run in `{}`", base.display())))?;
    let spec = job.spec(&run, supervisor)?;
    let mut message = serde_json::to_vec(&spec).map_err(|why| RunError::Setup(why.to_string()))?;
    message.push(b'\n');
    let mut command = supervisor.part(SUPERVISE);
    command.env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // An interrupt from the terminal ends the host; the supervisor then ends the script.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let failed = || RunError::io("the supervisor cannot be started");
    let mut supervisor = command.spawn().map_err(failed())?;
    let mut stdin = supervisor.stdin.take();
    let sent = stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(&message));
    let running = Running { supervisor, open: Canceller(Arc::new(Mutex::new(stdin))), folder: Some(run) };
    sent.map_err(failed())?;
    Ok(running)
}

impl Running {
    /// Ends the run from another thread.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.open.clone()
    }

    /// Waits until the script and all its processes have ended.
    ///
    /// # Errors
    /// The script was not started, or the supervisor failed.
    pub fn wait(mut self) -> Result<Ended, RunError> {
        let mut text = Vec::new();
        let out = self.supervisor.stdout.take().map(|out| out.take(MAX_MESSAGE));
        let read = out.map_or(Ok(0), |mut out| out.read_to_end(&mut text));
        read.map_err(RunError::io("the supervisor does not answer"))?;
        let report: Report = serde_json::from_slice(&text)
            .map_err(|_| RunError::Setup("the supervisor ended without a report".to_owned()))?;
        if let Some(refused) = report.refused {
            return Err(if refused.changed { RunError::Changed } else { RunError::Setup(refused.why) });
        }
        let folder = self.folder.take().ok_or_else(|| RunError::Setup("the run has no folder".to_owned()))?;
        Ok(Ended {
            exit: report.exit,
            signal: report.signal,
            stopped: report.stopped,
            stdout: report.stdout,
            stdout_bytes: report.stdout_bytes,
            stderr: report.stderr,
            stderr_bytes: report.stderr_bytes,
            duration_ms: report.duration_ms,
            survived: report.survived,
            folder,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.open.cancel();
        // A supervisor that cannot be waited for has ended.
        drop(self.supervisor.wait());
    }
}
