//! `toolfold session`: the line protocol, its schema, its log.

mod approver;
mod cases;
mod faults;
mod hostile;
mod logs;
mod many;
mod messages;
mod page;
mod project;
mod protocol;
mod racing;
mod schema;
mod skills;
mod types;
mod undo;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::commands::{Ran, run_with};

/// A test's own folder, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolfold-session-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.canonicalize().unwrap())
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.file(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn start(args: &[&str]) -> Self {
        Self::start_in(&crate::root(), args)
    }

    fn start_in(folder: &Path, args: &[&str]) -> Self {
        Self::start_with(folder, args, &[])
    }

    fn start_with(folder: &Path, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")))
            .arg("session")
            .args(args)
            .current_dir(folder)
            .env("NO_COLOR", "1")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn say_text(&mut self, line: &str) -> String {
        self.send(line);
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        answer
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a line and returns the answer.
    #[allow(clippy::needless_pass_by_value, reason = "lines are made where they are sent")]
    fn say(&mut self, line: impl ToString) -> Value {
        let answer = self.say_text(&line.to_string());
        serde_json::from_str(&answer).unwrap_or_else(|why| panic!("{why}: {answer}"))
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the input: exit code and standard error.
    fn end(mut self) -> (i32, String) {
        drop(self.input.take());
        let output = self.child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

fn answers(args: &[&str], lines: &[impl ToString]) -> Vec<Value> {
    let (ran, answers) = ran(args, lines);
    assert_eq!(ran.code, 0, "{}", ran.err);
    answers
}

fn ran(args: &[&str], lines: &[impl ToString]) -> (Ran, Vec<Value>) {
    let input: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let args: Vec<&str> = ["session"].iter().chain(args).copied().collect();
    let ran = run_with(&args, input.as_bytes());
    let answers = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (ran, answers)
}

#[allow(clippy::needless_pass_by_value, reason = "arguments are made where they are sent")]
fn call(id: &str, name: &str, arguments: Value) -> Value {
    serde_json::json!({"call": {"id": id, "name": name, "arguments": arguments}})
}
