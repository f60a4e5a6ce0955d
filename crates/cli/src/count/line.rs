//! The result for one request.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolfold::diagnostic::visible;
use toolfold::tokens::{Band, CountError, Counted, Reason};

use crate::output::{DIM, grouped};

/// The result for one request.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Line<'r> {
    /// The `source` of a recorded request, or `null`.
    pub(super) source: &'r Value,
    /// The file as the user named it.
    file: &'r str,
    /// The line on which the request begins, from 1.
    line: usize,
    /// Input tokens, or `null`: unknown is never 0.
    pub(super) tokens: Option<usize>,
    /// Of an estimate: the range that contains nine in ten recorded requests of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) band: Option<Band>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verified: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    unverified: Vec<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expected: Option<u64>,
    /// Counted minus expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<i64>,
    /// Why it could not be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'static str>,
}

impl<'r> Line<'r> {
    pub(super) fn new(file: &'r str, line: usize, row: &'r Value, counted: &Result<Counted, CountError>) -> Self {
        let source = row.get("source").unwrap_or(&Value::Null);
        let reported = ["expected_prompt_tokens", "expected_input_tokens"];
        let expected = reported.iter().find_map(|key| row.get(key)?.as_u64());
        let mut made = Self {
            source,
            file,
            line,
            tokens: None,
            band: None,
            meter: None,
            verified: None,
            unverified: Vec::new(),
            expected,
            error: None,
            problem: None,
            help: None,
        };
        match counted {
            Ok(counted) => {
                made.tokens = Some(counted.tokens);
                made.band = counted.band;
                made.meter = Some(counted.meter.to_string());
                made.verified = Some(counted.verified);
                made.unverified.clone_from(&counted.reasons);
                if let (Ok(tokens), Some(expected)) = (i64::try_from(counted.tokens), expected) {
                    made.error = tokens.checked_sub_unsigned(expected);
                }
            }
            Err(why) => {
                made.problem = Some(format!("line {line}: {why}"));
                made.help = help(why);
            }
        }
        made
    }

    pub(super) fn text(&self) -> String {
        let place = format!("{DIM}{}:{}{DIM:#}", visible(self.file), self.line);
        let (Some(tokens), Some(meter)) = (self.tokens, &self.meter) else {
            let problem = self.problem.as_deref().unwrap_or_default();
            let problem = problem.split_once(": ").map_or(problem, |(_, problem)| problem);
            let help = self.help.map(|help| format!("\n  {DIM}help:{DIM:#} {help}")).unwrap_or_default();
            return format!("{place}  not counted: {problem}{help}\n");
        };
        let mut notes = vec![visible(meter).into_owned()];
        match self.band {
            Some(band) => notes.push(self::band(band)),
            None if self.verified == Some(true) => notes.push("verified".to_owned()),
            None => notes.push("unverified".to_owned()),
        }
        if !self.unverified.is_empty() {
            notes.push(self.unverified.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        }
        if let (Some(expected), Some(error)) = (self.expected, self.error) {
            notes.push(format!("reported {expected}, off by {error:+}"));
        }
        let about = if self.band.is_some() { "about " } else { "" };
        format!("{place}  {about}{} tokens  {DIM}{}{DIM:#}\n", grouped(tokens), notes.join(" · "))
    }
}

pub(super) fn band(band: Band) -> String {
    match band.high {
        Some(high) => format!("{} to {}", grouped(band.low), grouped(high)),
        None => format!("at least {}", grouped(band.low)),
    }
}

/// How the user can fix a request that could not be counted.
fn help(why: &CountError) -> Option<&'static str> {
    match why {
        CountError::NoModel { .. } => Some("name it with --model"),
        CountError::NoMeter { .. } => Some(
            "models of OpenAI, Claude models and Gemini models can be counted; if it is one of them under another name, name it with --model",
        ),
        _ => None,
    }
}
