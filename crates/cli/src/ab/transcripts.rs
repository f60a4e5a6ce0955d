//! `--transcripts` of `ab`, and `toolfold ab show`: the messages of a task in an arm.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes transcripts")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolfold::catalog::MAX_BYTES;
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold_measure::ab::Row;

use super::super::input::read_text;
use super::super::output::{BOLD, DIM, Failure, Outcome, emit, emit_json, json_line, say_all};
use crate::out_file;

const CONTRACT: &str = "toolfold.ab-transcript/1";
/// The maximum length of the readable part of a file name, in bytes.
const MAX_NAME: usize = 100;

const AFTER_HELP: &str = "\
Examples:
  toolfold ab --tasks tasks.jsonl --tools tools.json --transcripts seen
  toolfold ab show t1 lean --transcripts seen
  toolfold ab show t1 lean --transcripts seen --json      the messages as the wire has them

Exit codes: 0 shown, 1 there is no such transcript, or it cannot be read, 2 usage.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in super::super) struct ShowArgs {
    /// The task's id
    #[arg(value_name = "TASK")]
    task: String,

    /// The arm
    #[arg(value_name = "ARM")]
    arm: String,

    /// The folder that `ab --transcripts` wrote
    #[arg(long, value_name = "DIR")]
    transcripts: PathBuf,

    /// As JSON, one transcript per line (schema: toolfold.ab-transcript/1)
    #[arg(long)]
    json: bool,
}

/// The messages of one task in one arm.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "toolfold.ab-transcript/1")]
pub(in super::super) struct Transcript {
    /// Always `toolfold.ab-transcript/1`.
    schema: String,
    /// The task.
    task: String,
    /// The requested arm.
    arm: String,
    /// The arm that was played.
    taken: String,
    /// The oracle, or `model`.
    driver: String,
    /// The repeat, from 0.
    repeat: usize,
    /// Whether the task is right.
    right: bool,
    /// Why it was not completed.
    error: Option<String>,
    /// The true calls that are not right, one phrase each.
    wrong: Vec<String>,
    /// The messages in the wire's format, without the system text.
    messages: Vec<Value>,
}

impl Transcript {
    pub(super) fn new(row: &Row, messages: &[Value]) -> Self {
        let wrong = row.wrong.iter().map(|own| match own.arguments.as_slice() {
            [] => format!("turn {}: `{}` did not run", own.turn + 1, own.tool),
            names => format!("turn {}: `{}` ran with other {}", own.turn + 1, own.tool, names.join(", ")),
        });
        Self {
            schema: CONTRACT.to_owned(),
            task: row.task.clone(),
            arm: row.arm.clone(),
            taken: row.taken.clone(),
            driver: row.driver.clone(),
            repeat: row.repeat,
            right: row.is_right(),
            error: row.error.clone(),
            wrong: wrong.collect(),
            messages: messages.to_vec(),
        }
    }

    /// Writes it to a file of the folder; a transcript of the same round is replaced.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let unwritable =
            |why: std::io::Error| Failure::wrong(format!("{}: cannot be written: {why}", folder.display()));
        std::fs::create_dir_all(folder).map_err(unwritable)?;
        out_file::replace(&folder.join(self.file_name()), &json_line(self)?)
    }

    /// A readable name, and a digest that makes it unique: a task's id may contain any character.
    fn file_name(&self) -> String {
        let whole = format!("{}.{}.{}.{}", self.task, self.arm, self.driver, self.repeat);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name: String = whole.chars().take(MAX_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect();
        let digest = super::plan::plan_digest(&[&self.task, &self.arm, &self.driver, &self.repeat.to_string()]);
        format!("{name}.{}.json", digest.get(..8).unwrap_or_default())
    }

    fn text(&self) -> String {
        let Self { task, arm, taken, driver, repeat, .. } = self;
        let own = format!("{task} in arm {arm} (played: {taken}), {driver}, repeat {repeat}");
        let verdict = if self.right { "right" } else { "not right" };
        let mut out = format!("{BOLD}{}{BOLD:#}: {verdict}\n", visible(&own));
        for line in self.error.iter().chain(&self.wrong) {
            out.push_str(&format!("  {}\n", visible(line)));
        }
        for message in self.messages.iter().flat_map(each_item) {
            out.push_str(&message_text(message));
        }
        out
    }
}

/// The items of a message of the Responses API; another message is one.
fn each_item(message: &Value) -> Vec<&Value> {
    message.as_array().map_or_else(|| vec![message], |items| items.iter().collect())
}

/// A message as a line with its role, its text, and a line per call; other forms as JSON.
fn message_text(message: &Value) -> String {
    let role = ["role", "type"].iter().find_map(|key| message.get(key)?.as_str()).unwrap_or("message");
    let mut out = format!("\n{BOLD}{}{BOLD:#}\n", visible(role));
    let calls = message.get("tool_calls").and_then(Value::as_array);
    match message.get("content") {
        Some(Value::String(text)) => out.push_str(&indented(text)),
        Some(Value::Null) | None if calls.is_some() => {}
        _ => out.push_str(&indented(&message.to_string())),
    }
    for call in calls.into_iter().flatten() {
        let part = |key: &str| call.get("function").and_then(|own| own.get(key)?.as_str()).unwrap_or_default();
        out.push_str(&indented(&format!("{DIM}calls{DIM:#} {}({})", part("name"), part("arguments"))));
    }
    out
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {}\n", visible(line))).collect()
}

pub(super) fn run_show(args: &ShowArgs) -> Outcome {
    let folder = &args.transcripts;
    let unread = |why: std::io::Error| Failure::wrong(format!("{}: cannot be read: {why}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        files.push(entry.map_err(unread)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|own| own == "json"));
    files.sort_unstable();
    let mut found = 0;
    for file in files {
        let name = file.to_string_lossy();
        let read = serde_json::from_str::<Transcript>(&read_text(&name, MAX_BYTES)?);
        let transcript = match read {
            Ok(own) if own.schema == CONTRACT => own,
            Ok(_) | Err(_) => {
                let why = format!("is not a transcript of the form {CONTRACT}");
                say_all(&[Diagnostic::warning("bad-transcript", Place::file(&name), why)]);
                continue;
            }
        };
        if transcript.task != args.task || transcript.arm != args.arm {
            continue;
        }
        found += 1;
        if args.json {
            emit_json(&transcript)?;
        } else {
            emit(&transcript.text())?;
        }
    }
    if found > 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let (task, arm) = (visible(&args.task), visible(&args.arm));
    let why = format!("{} has no transcript of task `{task}` in arm `{arm}`", folder.display());
    Err(Failure::wrong(why).help("toolfold ab --transcripts DIR writes one for each task, arm and repeat"))
}
