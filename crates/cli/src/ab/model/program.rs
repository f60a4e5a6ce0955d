//! A model that is a program: request bodies on its input, response bodies on its output.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it starts a program and waits for it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use serde_json::Value;

use super::super::super::output::Failure;
use super::{NoAnswer, Timeouts, foreign_line};
use crate::configuration::command_line::command_words;

/// Maximum size of a response in bytes.
const MAX_RESPONSE: u64 = 64 << 20;

pub(in super::super::super) struct Program {
    words: Vec<String>,
    once: bool,
    timeouts: Timeouts,
    most: u64,
    sent: u64,
    running: Option<Running>,
}

/// A running program and its output, read line by line or all at once.
struct Running {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Program {
    pub(super) fn new(command: &str, once: bool, timeouts: Timeouts, most: u64) -> Result<Self, Failure> {
        let words = command_words(command).map_err(|why| Failure::usage(format!("--model-cmd: {why}")))?;
        Ok(Self { words, once, timeouts, most, sent: 0, running: None })
    }

    pub(super) fn answer_request(&mut self, body: &Value, first: bool) -> Result<Value, NoAnswer> {
        if self.sent >= self.most {
            let why = format!("stopped after {} requests (--max-requests)", self.sent);
            return Err(NoAnswer::Everything(why));
        }
        self.sent += 1;
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start_program()?,
        };
        let line = format!("{body}\n");
        let written = running.input.as_mut().map_or(Ok(()), |input| input.write_all(line.as_bytes()));
        if self.once {
            drop(running.input.take());
        }
        // A program that exits without reading its input may still have answered.
        drop(written);
        let text = running.answers.recv_timeout(self.timeouts.of(first)).map_err(|why| match why {
            RecvTimeoutError::Timeout => NoAnswer::Request("the program gave no answer in time".to_owned()),
            RecvTimeoutError::Disconnected => NoAnswer::Request("the program ended without an answer".to_owned()),
        })?;
        if !self.once {
            self.running = Some(running);
        }
        let read = serde_json::from_str(&text);
        read.map_err(|why| {
            NoAnswer::Request(format!("the program's answer is not JSON: {why}: {}", foreign_line(&text)))
        })
    }

    /// Starts the program. It shares the standard error of this command.
    fn start_program(&self) -> Result<Running, NoAnswer> {
        let [program, args @ ..] = self.words.as_slice() else {
            return Err(NoAnswer::Everything("--model-cmd names no program".to_owned()));
        };
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|why| NoAnswer::Everything(format!("`{program}` cannot be started: {why}")))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (sender, answers) = channel();
        let once = self.once;
        std::thread::spawn(move || {
            let Some(output) = output else { return };
            let mut source = BufReader::new(output);
            loop {
                let mut bytes = Vec::new();
                let mut limited = source.by_ref().take(MAX_RESPONSE);
                let read = if once { limited.read_to_end(&mut bytes) } else { limited.read_until(b'\n', &mut bytes) };
                if !read.is_ok_and(|read| read > 0) {
                    return;
                }
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if !text.trim().is_empty() && sender.send(text).is_err() {
                    return;
                }
            }
        });
        Ok(Running { child, input, answers })
    }
}
