//! `toolfold count`: billed input tokens of recorded requests.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::input::read;
use super::output::{Failure, Outcome, emit_data, warn};
use toolfold::tokens::{CountError, Reason, count_request};

/// The most that is read, in bytes.
const MAX_BYTES: usize = 256 * 1024 * 1024;

const AFTER_HELP: &str = "\
Examples:
  toolfold count --requests requests.jsonl
  echo '{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}' |
    toolfold count --requests -

A request is one JSON object a line: model, messages, and where it has them api (chat or
responses), tools or functions, tool_choice, source, expected_prompt_tokens.";

/// Counts what OpenAI bills for recorded requests: JSON lines in, JSON lines out.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct CountArgs {
    /// Requests, one JSON object a line; `-` is standard input
    #[arg(long, value_name = "FILE|-")]
    requests: String,
}

#[derive(Serialize)]
struct Line<'r> {
    source: &'r Value,
    tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unverified: Vec<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<u64>,
    /// Counted minus expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Default)]
struct Summary {
    counted: usize,
    uncounted: usize,
    expected: usize,
    exact: usize,
    within_one: usize,
    unverified: usize,
}

pub(super) fn run(args: &CountArgs) -> Outcome {
    let text = read(&args.requests, MAX_BYTES)?;
    let mut summary = Summary::default();
    let mut out = String::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let row: Value = match serde_json::from_str(line) {
            Ok(row) => row,
            Err(why) => {
                emit_data(&std::mem::take(&mut out))?;
                return Err(Failure::wrong(format!("{}:{}:{}: not JSON: {why}", args.requests, at + 1, why.column())));
            }
        };
        let line = count(&row, at + 1, &mut summary);
        out.push_str(&serde_json::to_string(&line).map_err(Failure::wrong)?);
        out.push('\n');
        if out.len() > 64 * 1024 {
            emit_data(&std::mem::take(&mut out))?;
        }
    }
    emit_data(&out)?;
    warn(&summary.line());
    Ok(if summary.uncounted > 0 { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

fn count<'r>(row: &'r Value, number: usize, summary: &mut Summary) -> Line<'r> {
    let source = row.get("source").unwrap_or(&Value::Null);
    let expected = row.get("expected_prompt_tokens").and_then(Value::as_u64);
    let counted = match count_request(row) {
        Ok(counted) => counted,
        Err(why) => {
            summary.uncounted += 1;
            let problem = Some(describe(&why, number));
            return Line {
                source,
                tokens: None,
                meter: None,
                verified: None,
                unverified: vec![],
                expected,
                error: None,
                problem,
            };
        }
    };
    summary.counted += 1;
    summary.unverified += usize::from(!counted.verified);
    let error = expected.and_then(|e| i64::try_from(counted.tokens).ok()?.checked_sub_unsigned(e));
    if let Some(error) = error {
        summary.expected += 1;
        summary.exact += usize::from(error == 0);
        summary.within_one += usize::from(error.abs() <= 1);
    }
    Line {
        source,
        tokens: Some(counted.tokens),
        meter: Some(counted.meter.to_string()),
        verified: Some(counted.verified),
        unverified: counted.reasons,
        expected,
        error,
        problem: None,
    }
}

fn describe(why: &CountError, number: usize) -> String {
    format!("line {number}: {why}")
}

impl Summary {
    fn line(&self) -> String {
        let mut parts = vec![format!("{} requests counted", self.counted)];
        if self.unverified > 0 {
            parts.push(format!("{} of them unverified", self.unverified));
        }
        if self.expected > 0 {
            parts.push(format!("{}/{} exact", self.exact, self.expected));
            parts.push(format!("{} within 1", self.within_one));
        }
        if self.uncounted > 0 {
            parts.push(format!("{} could not be counted", self.uncounted));
        }
        parts.join(", ")
    }
}
