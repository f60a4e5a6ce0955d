//! The fixture's driver, which is the official SDK's client, and its output.

use std::io::Write;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::gateway::serving::place::{Place, fixture};

pub(crate) const SESSIONS: &str = "2025-11-25";
pub(crate) const STATELESS: &str = "2026-07-28";

/// The lifecycles of the clients that a test tries: both, or in a quick run the given one. Some
/// tests give the one, some the other.
pub(crate) fn clients(quick: &'static str) -> Vec<&'static str> {
    let other = if quick == SESSIONS { STATELESS } else { SESSIONS };
    toolfold_testing::sample([quick, other], 1)
}

/// The lifecycles of the servers behind a client, each with the fixture's name of it: both, or in a
/// quick run the one that the gateway has to translate.
pub(crate) fn servers(client: &str) -> Vec<(&'static str, &'static str)> {
    let (initialize, discover) = (("initialize", SESSIONS), ("discover", STATELESS));
    toolfold_testing::sample(if client == SESSIONS { [discover, initialize] } else { [initialize, discover] }, 1)
}

pub(crate) struct Driven(Vec<String>);

#[derive(Deserialize)]
struct Bytes {
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

/// How the driver reaches its server.
pub(crate) enum At<'a> {
    Command(&'a [String]),
    Url(&'a str),
}

pub(crate) fn drive(place: &Place, options: &str, at: &At<'_>, script: &[Value]) -> Driven {
    let mut command = place.command("timeout");
    command.args(["180", &fixture(), "--client"]).args(options.split_whitespace());
    match at {
        At::Command(words) => command.arg("--").args(*words),
        At::Url(url) => command.args(["--url", url]),
    };
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines: String = script.iter().map(|step| format!("{step}\n")).collect();
    // The driver may have failed to connect; its output shows that.
    drop(child.stdin.take().unwrap().write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let mut lines: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    lines.push(serde_json::json!({"stderr": String::from_utf8_lossy(&output.stderr)}).to_string());
    Driven(lines)
}

impl Driven {
    fn line(&self, step: usize) -> &str {
        let start = format!("{{\"step\":{step},");
        let found = self.0.iter().find(|line| line.starts_with(&start));
        found.unwrap_or_else(|| panic!("no step {step} in {:#?}", self.0))
    }

    pub(crate) fn step(&self, step: usize) -> Value {
        serde_json::from_str(self.line(step)).unwrap()
    }

    pub(crate) fn bytes(&self, step: usize) -> String {
        let bytes: Bytes = serde_json::from_str(self.line(step)).unwrap();
        match (bytes.result, bytes.error) {
            (_, Some(error)) => format!("error {}", error.get()),
            (Some(result), None) => result.get().to_owned(),
            (None, None) => panic!("nothing at step {step}: {}", self.line(step)),
        }
    }

    /// The text of the first content of a step's result.
    pub(crate) fn text(&self, step: usize) -> String {
        let own = self.step(step);
        own["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {own}")).to_owned()
    }

    /// The lines of a kind, as written: `notification`, `request`, `garbage`.
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<Value> {
        let values = self.0.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        values.filter_map(|line| line.get(kind).cloned()).collect()
    }

    pub(crate) fn all(&self) -> String {
        self.0.join("\n")
    }
}
