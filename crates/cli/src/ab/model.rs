//! A model that answers requests: a server, or a program.

mod program;
mod remote;

use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value};

use self::program::Program;
use self::remote::Remote;
use super::super::output::Failure;
use toolfold::wire::Wire;

/// How a model is reached.
#[derive(Debug, Default, Clone, Args)]
pub(in super::super) struct ModelArgs {
    /// Program that answers requests: one request body per line on its input, one response body per
    /// line on its output; no shell is used
    #[arg(long, value_name = "COMMAND", conflicts_with = "base_url", help_heading = "Model")]
    pub(super) model_cmd: Option<String>,

    /// Start the program for each request, and close its input afterwards
    #[arg(long, requires = "model_cmd", help_heading = "Model")]
    model_once: bool,

    /// The API's address, such as https://api.openai.com/v1, https://api.anthropic.com,
    /// http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub(in super::super) base_url: Option<String>,

    /// Environment variable with the key for --base-url [default: no key is sent]
    #[arg(long, value_name = "NAME", requires = "base_url", help_heading = "Model")]
    key_env: Option<String>,

    /// Maximum time for one answer, in seconds [default: 120]
    #[arg(long, value_name = "SECONDS", help_heading = "Model", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,

    /// Maximum time for the first answer to a task in an arm, before which a local model reads all
    /// tools, in seconds [default: that of --timeout]
    #[arg(long, value_name = "SECONDS", help_heading = "Model", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    first_timeout: Option<u64>,

    /// Maximum number of retries after 408, 429, 5xx or no answer [default: 5]
    #[arg(long, value_name = "N", help_heading = "Model", value_parser = clap::value_parser!(u32).range(0..=20))]
    retries: Option<u32>,

    /// Maximum number of requests, retries included; then the run stops, and --resume continues it
    #[arg(long, value_name = "N", help_heading = "Model", value_parser = clap::value_parser!(u64).range(1..))]
    max_requests: Option<u64>,

    /// Additional keys of every request body, as a JSON object: {"temperature":0}
    #[arg(long, value_name = "JSON", help_heading = "Model", value_parser = parse_body)]
    pub(super) body: Option<String>,
}

fn parse_body(text: &str) -> Result<String, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => Ok(text.to_owned()),
        Ok(_) => Err("is not a JSON object".to_owned()),
        Err(why) => Err(format!("is not JSON: {why}")),
    }
}

/// Maximum times for answers.
#[derive(Debug, Clone, Copy)]
struct Timeouts {
    /// For the first answer of a conversation.
    first: Duration,
    further: Duration,
}

impl Timeouts {
    fn of(self, first: bool) -> Duration {
        if first { self.first } else { self.further }
    }
}

#[derive(Debug)]
pub(in super::super) enum NoAnswer {
    /// This request failed; the next one may succeed.
    Request(String),
    /// Every further request would fail, too.
    Everything(String),
}

pub(in super::super) enum Model {
    Remote(Remote),
    Program(Program),
}

impl ModelArgs {
    pub(super) fn is_given(&self) -> bool {
        self.model_cmd.is_some() || self.base_url.is_some()
    }

    pub(in super::super) fn more(&self) -> Map<String, Value> {
        let read = self.body.as_deref().and_then(|text| serde_json::from_str(text).ok());
        read.unwrap_or_default()
    }

    /// The model that the flags name; `None` if they name none.
    pub(in super::super) fn model(&self, wire: Wire, name: &str) -> Result<Option<Model>, Failure> {
        let timeout = Duration::from_secs(self.timeout.unwrap_or(120));
        let timeouts = Timeouts { first: self.first_timeout.map_or(timeout, Duration::from_secs), further: timeout };
        if let Some(command) = &self.model_cmd {
            let most = self.max_requests.unwrap_or(u64::MAX);
            return Ok(Some(Model::Program(Program::new(command, self.model_once, timeouts, most)?)));
        }
        let Some(base) = &self.base_url else { return Ok(None) };
        if name.is_empty() {
            return Err(Failure::usage("--base-url needs a model").help("name it with --model"));
        }
        let limits = remote::Patience {
            timeouts,
            retries: self.retries.unwrap_or(5),
            most: self.max_requests.unwrap_or(u64::MAX),
        };
        Remote::new(base, wire, name, self.key_env.as_deref(), limits).map(|own| Some(Model::Remote(own)))
    }
}

impl Model {
    /// The answer to a request. `first`: it is the first one of its conversation.
    pub(in super::super) fn answer_request(&mut self, body: &Value, first: bool) -> Result<Value, NoAnswer> {
        match self {
            Self::Remote(own) => own.answer_request(body, first),
            Self::Program(own) => own.answer_request(body, first),
        }
    }
}

/// Foreign text for a message: one line of limited length.
fn foreign_line(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out: String = toolfold::diagnostic::visible(&line).chars().take(300).collect();
    if line.chars().nth(300).is_some() {
        out.push('…');
    }
    out
}
