//! `toolfold count`: input tokens of whole requests.

mod line;
mod totals;

use std::process::ExitCode;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::input::read_text;
use super::output::{Failure, Outcome, emit, emit_data, json_line, warn};
use line::Line;
use toolfold::tokens::{RequestContext, Tiktoken, count_request_with};
use totals::Totals;

/// Maximum size of a file in bytes.
const MAX_BYTES: usize = 256 * 1024 * 1024;
/// Output is buffered up to this size, in bytes.
const BATCH_BYTES: usize = 64 * 1024;

const AFTER_HELP: &str = "\
Examples:
  toolfold count body.json                       one request, as it is sent
  toolfold count *.jsonl --json                  many, one per line, and their totals
  toolfold count body.json --model gemini-2.5-flash --host vertex
  echo '{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}' | toolfold count -

A request is the body of a call to OpenAI Chat, OpenAI Responses, Anthropic Messages or Gemini's
generateContent, or a line of a batch file. Its format and model determine the meter: OpenAI's
figures are exact, the others are estimates with a band. If a line contains what the provider
reported (expected_prompt_tokens or expected_input_tokens), the two are compared.

Exit codes: 0 all counted, 1 a file is not JSON or cannot be read, 2 usage, 3 something could not be
counted.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct CountArgs {
    /// Requests: one or more JSON bodies, one after the other; `-` is standard input
    #[arg(value_name = "FILE|-", required_unless_present = "requests")]
    files: Vec<String>,

    /// Another file; prints JSON lines, as with --json, without totals
    #[arg(long, value_name = "FILE|-")]
    requests: Option<String>,

    /// Count for this model, whatever the body names; bodies for Gemini and Bedrock contain none
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Who hosts the model, if that changes the bill: `vertex`, or the host of the address
    /// [default: Google AI Studio for Gemini models]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Print one JSON object per request, then one with the totals
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CountArgs) -> Outcome {
    let mut context = RequestContext::default();
    (context.model, context.host) = (args.model.clone(), args.host.clone());
    let json = args.json || args.requests.is_some();
    let mut totals = Totals::default();
    let mut out = Output { json, text: String::new() };
    let mut files = args.files.iter().chain(&args.requests);
    let read = files.try_for_each(|file| count_file(file, &context, &mut totals, &mut out));
    out.flush()?;
    read?;
    if args.json {
        out.text.push_str(&json_line(&CountLine::Totals { totals: &totals })?);
    } else if args.requests.is_some() {
        warn(&totals.summary());
    } else {
        out.text.push_str(&totals.text());
    }
    out.flush()?;
    Ok(if totals.uncounted > 0 { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// A line of `toolfold count --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum CountLine<'r> {
    /// The last line.
    Totals {
        /// The totals of all requests.
        totals: &'r Totals,
    },
    /// A request.
    Request(&'r Line<'r>),
}

struct Output {
    json: bool,
    text: String,
}

impl Output {
    fn line(&mut self, line: &Line<'_>) -> Result<(), Failure> {
        self.text.push_str(&if self.json { json_line(&CountLine::Request(line))? } else { line.text() });
        if self.text.len() > BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let text = std::mem::take(&mut self.text);
        if self.json { emit_data(&text) } else { emit(&text) }
    }
}

fn count_file(file: &str, context: &RequestContext, totals: &mut Totals, out: &mut Output) -> Result<(), Failure> {
    let text = read_text(file, MAX_BYTES)?;
    let name = if file == "-" { "standard input" } else { file };
    let mut stream = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let mut number = Lines { text: &text, at: 0, line: 1 };
    let mut some = false;
    loop {
        let start = number.of(stream.byte_offset());
        let Some(row) = stream.next() else { break };
        let row = row.map_err(|why| {
            let (line, column) = (why.line(), why.column());
            let why = why.to_string();
            let why = why.split(" at line ").next().unwrap_or(&why);
            Failure::wrong(format!("{file}:{line}:{column}: not JSON: {why}"))
                .help("a request is one JSON object; a file may contain several, one after the other")
        })?;
        some = true;
        let counted = count_request_with(&row, context, Tiktoken::new);
        let line = Line::new(name, start, &row, &counted);
        totals.add(&line);
        out.line(&line)?;
    }
    if some { Ok(()) } else { Err(Failure::wrong(format!("{file}: it contains no request"))) }
}

/// Line numbers of increasing offsets.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line of the first non-blank character from an offset on.
    fn of(&mut self, offset: usize) -> usize {
        let rest = self.text.get(offset..).unwrap_or_default();
        let offset = offset + (rest.len() - rest.trim_start().len());
        let passed = self.text.as_bytes().get(self.at..offset).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = offset;
        self.line
    }
}
