//! How a run ended, and why it did not happen.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::super::super::output::Failure;
use super::plan::Plan;
use toolfold_runner::{Cause, Ended, Files, ProducedFile, Stopped, clean};

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// Exit code 0.
    Success,
    /// Another exit code, a signal, or a limit.
    Error,
    /// The timeout expired.
    Timeout,
}

/// What `skills run --json` prints.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used: each is written as it is")]
pub(crate) enum RunAnswer {
    Ended(RunResult),
    Waits(Waiting),
    Planned(PlannedRun),
    Failed(Failed),
}

/// A file that the script wrote.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used, for `ProducedFile`")]
struct WrittenFile {
    /// The path in the work folder.
    name: String,
    /// Where it is now.
    path: String,
    /// The size in bytes.
    bytes: u64,
    /// The SHA-256 in hexadecimal digits.
    sha256: String,
}

/// The result of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunResult {
    pub(super) status: Status,
    /// Standard output, without invisible characters.
    pub(super) output: String,
    /// The size of standard output in bytes, if a part was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_bytes: Option<u64>,
    duration_ms: u64,
    /// Standard error, and why the script was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// The files that it wrote, sorted by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<WrittenFile>")]
    pub(super) files: Vec<ProducedFile>,
    /// The number of entries of the work folder that were not stored.
    #[serde(skip_serializing_if = "is_zero")]
    files_left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl RunResult {
    pub(super) fn new(plan: &Plan, ended: &Ended, files: Files) -> Self {
        let status = match (ended.stopped, ended.exit) {
            (Some(Stopped::Timeout), _) => Status::Timeout,
            (None, Some(0)) => Status::Success,
            _ => Status::Error,
        };
        let mut error = clean(&ended.stderr);
        let limits = &plan.job.limits;
        let reason = match ended.stopped {
            Some(Stopped::Timeout) => format!("the script was killed after {} ms", limits.timeout_ms),
            Some(Stopped::Processes) => format!("the script was killed: more than {} processes", limits.processes),
            Some(Stopped::Memory) => {
                format!("the script was killed: more than {} MiB of memory", limits.resident_bytes >> 20)
            }
            Some(_) => "the run was cancelled".to_owned(),
            None => String::new(),
        };
        for line in [reason, survivors(ended)].into_iter().filter(|line| !line.is_empty()) {
            if !error.is_empty() && !error.ends_with('\n') {
                error.push('\n');
            }
            error.push_str(&line);
        }
        Self {
            status,
            output: clean(&ended.stdout),
            output_bytes: Some(ended.stdout_bytes).filter(|bytes| *bytes > limits.output_bytes),
            duration_ms: ended.duration_ms,
            error: Some(error).filter(|error| !error.is_empty()),
            exit: ended.exit,
            signal: ended.signal,
            files: files.files,
            files_left_out: files.left_out,
        }
    }

    pub(in super::super) fn succeeded(&self) -> bool {
        self.status == Status::Success
    }

    /// The outcome as the audit trail stores it.
    pub(super) fn outcome(&self) -> &'static str {
        match self.status {
            Status::Success => "ok",
            Status::Error => "failed",
            Status::Timeout => "timeout",
        }
    }

    pub(super) fn duration_ms(&self) -> u64 {
        self.duration_ms
    }

    /// The ending in one line.
    pub(super) fn ending(&self) -> String {
        match (self.status, self.exit, self.signal) {
            (Status::Timeout, ..) => "the script timed out".to_owned(),
            (_, Some(code), _) => format!("the script failed with exit code {code}"),
            (_, None, Some(signal)) => format!("the script was ended by signal {signal}"),
            (_, None, None) => "the script failed".to_owned(),
        }
    }
}

fn survivors(ended: &Ended) -> String {
    if ended.survived { "processes of the script could not be killed".to_owned() } else { String::new() }
}

/// A run that waits for approval.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Waiting {
    /// `waiting`
    pub(super) status: &'static str,
    /// The id of the approval.
    pub(super) approval: String,
    /// When it expires, in UTC.
    pub(super) until: String,
}

/// Why a skill was not run.
#[derive(Debug)]
pub(in super::super) struct SkillError {
    skill: String,
    cause: Cause,
    message: String,
    only_text: bool,
}

impl SkillError {
    pub(in super::super) fn new(skill: &str, cause: Cause, message: String) -> Self {
        Self { skill: skill.to_owned(), cause, message, only_text: false }
    }

    /// Whether the skill is only a text: it has no script, or says that it is read.
    pub(in super::super) fn is_of_text(&self) -> bool {
        self.only_text
    }

    pub(in super::super) fn message(&self) -> &str {
        &self.message
    }

    /// The same error of a skill that is only a text.
    pub(super) fn of_text(mut self) -> Self {
        self.only_text = true;
        self
    }

    pub(super) fn into_failure(self) -> Failure {
        Failure::wrong(format!("skill `{}`: {}", toolfold::diagnostic::visible(&self.skill), self.message))
    }
}

/// An error, in the form that hosts of skills expect.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Failed {
    /// `SkillError`
    name: &'static str,
    message: String,
    details: Details,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Details {
    skill_name: String,
    /// `sandbox`
    mode: &'static str,
    /// `NotFound`, `Parse`, `Execution` or `Timeout`.
    #[schemars(with = "String")]
    cause: Cause,
}

impl From<&SkillError> for Failed {
    fn from(error: &SkillError) -> Self {
        let details = Details { skill_name: error.skill.clone(), mode: "sandbox", cause: error.cause };
        Self { name: "SkillError", message: error.message.clone(), details }
    }
}

/// What `--dry-run` prints: what would run, and what the policy decides.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlannedRun {
    /// The arguments of the call that the policy decides: the skill, its script with digest, input,
    /// limits and isolation.
    pub(super) call: Value,
    /// `sandbox`
    pub(super) mode: &'static str,
    /// Why the skill runs in this mode.
    pub(super) because: &'static str,
    /// `allow`, `allow_audited`, `confirm` or `deny`.
    pub(super) decision: &'static str,
    /// The reasons for the decision.
    pub(super) reasons: Vec<String>,
}
