//! A client that writes lines, for messages that no SDK would send.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::serving::place::{Place, eventually, signal, within};

/// How long an answer may take: 270 MB take 7 s, and ten times as long beside the other lanes of
/// CI.
const LONGEST_WAIT: Duration = Duration::from_secs(180);

pub(crate) struct Lines {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Lines that arrived while it waited for another.
    pub(crate) seen: Vec<String>,
}

impl Lines {
    /// Starts a command; its standard error goes to the file `log` of the place.
    pub(crate) fn start(place: &Place, command: &[String]) -> Self {
        let log = std::fs::File::create(place.file("log")).unwrap();
        let mut starts = place.command(&command[0]);
        let mut child =
            starts.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let (to, lines) = channel();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut line = String::new();
            while output.read_line(&mut line).is_ok_and(|read| read > 0) {
                if to.send(line.trim_end().to_owned()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, seen: Vec::new() }
    }

    /// The same, initialized with a session-based version.
    pub(crate) fn session(place: &Place, command: &[String], capabilities: &Value) -> Self {
        let mut own = Self::start(place, command);
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "lines", "version": "1"}});
        own.say(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}).to_string());
        let hello = own.answer("\"hello\"");
        assert!(hello.contains("\"result\""), "{hello}");
        own.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        own
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn ask(&mut self, id: &str, method: &str, params: &Value) {
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
    }

    pub(crate) fn asked(&mut self, id: &str, method: &str, params: &Value) -> Value {
        self.ask(id, method, params);
        serde_json::from_str(&self.answer(id)).unwrap()
    }

    pub(crate) fn call(&mut self, id: &str, name: &str, arguments: &Value) -> Value {
        self.asked(id, "tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// The answer to a request, as written.
    pub(crate) fn answer(&mut self, id: &str) -> String {
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        let answers = |rest: &str| rest.starts_with("\"result\":") || rest.starts_with("\"error\":");
        self.until(&|line| line.strip_prefix(&start).is_some_and(answers))
    }

    pub(crate) fn until(&mut self, is_it: &dyn Fn(&str) -> bool) -> String {
        if let Some(at) = self.seen.iter().position(|line| is_it(line)) {
            return self.seen.remove(at);
        }
        loop {
            let Ok(line) = self.lines.recv_timeout(LONGEST_WAIT) else {
                panic!("it never came; there was {:#?}", self.seen)
            };
            if is_it(&line) {
                return line;
            }
            self.seen.push(line);
        }
    }

    /// Closes its standard input, and returns the exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        drop(self.input.take());
        self.ended()
    }

    pub(crate) fn ended(&mut self) -> Option<i32> {
        eventually("it has ended", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.input.take());
        if within(Duration::from_secs(5), || self.child.try_wait().is_ok_and(|ended| ended.is_some())) {
            return;
        }
        signal(self.child.id(), "KILL");
        drop(self.child.wait());
    }
}

/// The text of a result's first content.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}
