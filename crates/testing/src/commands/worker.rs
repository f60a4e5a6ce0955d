//! Runs many commands of `toolfold` in one process.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, PoisonError};

/// A process of the example `toolfold-commands`, with the files that replace the streams of its
/// commands. It ends when the test executable ends and closes its pipe, and removes the files.
struct Worker {
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
}

/// The sources of the example.
const SOURCES: [&str; 7] =
    ["../src", "cli/src", "diagnostic/src", "gateway/src", "measure/src", "policy/src", "skill/src"];

static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Runs `toolfold` in `folder` with `input`, as a process would, in a process that has run other
/// commands before. `toolfold` is the executable that the test was built with. The environment is
/// constant: `PATH`, a home folder without a configuration, `LC_ALL=C.UTF-8`, `NO_COLOR=1` and
/// `TOOLFOLD_TEST_SECRET=hunter2-secret`. A test of the environment, of signals or of a running
/// command starts its own process.
///
/// # Panics
/// Panics if the process cannot be started, or ends: a command that panics ends it.
#[must_use]
pub fn command(toolfold: &str, folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    crate::timed();
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut worker =
        idle.unwrap_or_else(|| Worker::start_worker(&crate::fixture::example(toolfold, "toolfold-commands", &SOURCES)));
    let output = worker.run_command(folder, arguments, input);
    IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
    output
}

impl Worker {
    #[expect(clippy::zombie_processes, reason = "it ends with this process, which cannot wait for it then")]
    fn start_worker(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.env_clear().env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("TOOLFOLD_TEST_SECRET", "hunter2-secret");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let none = std::env::temp_dir().join("toolfold-no-home");
        command.env("HOME", &none).env("XDG_CONFIG_HOME", &none);
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started.unwrap_or_else(|why| panic!("{}: {why}", program.display()));
        let (requests, answers) = (process.stdin.take(), process.stdout.take());
        let (Some(requests), Some(answers)) = (requests, answers) else { panic!("a piped stream is there") };
        let folder = std::env::temp_dir().join(format!("toolfold-commands-{}", process.id()));
        fs::create_dir_all(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
        Self { requests, answers: BufReader::new(answers), folder }
    }

    fn run_command(&mut self, folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
        let file = |name: &str| self.folder.join(name);
        let words: Vec<String> = arguments.iter().map(|word| json_string(word)).collect();
        let path = |path: &Path| json_string(&path.to_string_lossy());
        let request = format!(
            "{{\"arguments\":[{}],\"folder\":{},\"input\":{},\"output\":{},\"errors\":{}}}\n",
            words.join(","),
            path(folder),
            path(&file("input")),
            path(&file("output")),
            path(&file("errors"))
        );
        let read = |name: &str| fs::read(file(name)).unwrap_or_default();
        let mut answer = String::new();
        let done = fs::write(file("input"), input)
            .and_then(|()| self.requests.write_all(request.as_bytes()))
            .and_then(|()| self.answers.read_line(&mut answer));
        let Some(code) = done.ok().and_then(|_| answer.trim().parse::<i32>().ok()) else {
            panic!("`toolfold {}` did not end: {}", arguments.join(" "), String::from_utf8_lossy(&read("errors")))
        };
        Output { status: ExitStatus::from_raw(code << 8), stdout: read("output"), stderr: read("errors") }
    }
}

fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}
