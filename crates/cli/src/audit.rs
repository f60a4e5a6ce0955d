//! `toolfold audit`: read, verify and export the audit chain.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::checkpoint::{append, broken, checkpoint_text, known, take_checkpoint};
use super::clock::time;
use super::ledger::{ListArgs, StoreArgs, failure, next_page};
use super::output::{Failure, GOOD, Outcome, emit, emit_data, emit_json, grouped, json_line, progress, stream_data};
use super::table::{cut_for_list, table};
use toolfold::diagnostic::visible;
use toolfold::policy::audit::{Checkpoint, Sealed, Verified};

/// Number of records that take about a second to verify.
const SLOW: u64 = 100_000;

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Print the last records, oldest first.
    #[command(after_help = "\
Examples:
  toolfold audit tail
  toolfold audit tail -n 100 --json      as `audit export` writes them")]
    Tail(TailArgs),
    /// Verify the chain: whether a record was edited, deleted, moved or cut off.
    #[command(after_help = "\
Examples:
  toolfold audit verify
  toolfold audit verify --checkpoint checkpoints.txt    and against the checkpoints in that file
  toolfold audit verify --checkpoint 120:9f2c…          and against this one; give all 64 digits

Anyone who can write to the store could truncate it unnoticed; a checkpoint kept elsewhere
reveals that.
Exit codes: 0 intact, 1 not intact or a checkpoint does not match, 2 usage, 3 no usable store.")]
    Verify(VerifyArgs),
    /// Verify the chain and print the number and hash of its last record, to keep elsewhere.
    #[command(after_help = "\
Examples:
  toolfold audit checkpoint                                  prints NUMBER:HASH
  toolfold audit checkpoint --append checkpoints.txt         adds a line to a file
  toolfold session --policy excel --checkpoint checkpoints.txt      adds one when the session ends

Keep the file where the agent cannot write: on another machine, in a log, in a repository.
Exit codes: 0 ok, 1 the chain is not intact or the file cannot be written, 3 no store or no record.")]
    Checkpoint(CheckpointArgs),
    /// Print every record as one line of JSON.
    #[command(after_help = "\
Examples:
  toolfold audit export > audit.jsonl
  toolfold audit export --after 120      only the records after record 120

The records are exported as they are; `audit verify` shows whether they were changed.")]
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(super) struct TailArgs {
    /// How many records
    #[arg(short, default_value_t = 20)]
    n: usize,
    #[command(flatten)]
    rest: ListArgs,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// A checkpoint to verify against: NUMBER:HASH as `audit checkpoint` prints it, or a file with
    /// one checkpoint per line
    #[arg(long, value_name = "NUMBER:HASH|FILE")]
    checkpoint: Vec<String>,
    #[command(flatten)]
    rest: ListArgs,
}

#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    /// Append the checkpoint to this file instead of printing it
    #[arg(long, value_name = "FILE")]
    append: Option<String>,
    #[command(flatten)]
    rest: ListArgs,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Only records after this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) fn run_audit(command: &AuditCommand) -> Outcome {
    match command {
        AuditCommand::Tail(args) => tail(args)?,
        AuditCommand::Verify(args) => return verify(args),
        AuditCommand::Checkpoint(args) => checkpoint(args)?,
        AuditCommand::Export(args) => export(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn tail(args: &TailArgs) -> Result<(), Failure> {
    let store = args.rest.store.to_read()?;
    let count = store.count().map_err(failure)?;
    // If records are missing, the last number exceeds their count; reading on still finds them.
    let mut after = count.saturating_sub(u64::try_from(args.n).unwrap_or(u64::MAX));
    let mut last: Vec<Sealed> = Vec::new();
    while let Some(page) = next_page(&*store, &mut after)? {
        last.extend(page);
        last.drain(..last.len().saturating_sub(args.n));
    }
    if args.rest.json {
        return emit_data(&last.iter().map(json_line).collect::<Result<String, _>>()?);
    }
    if last.is_empty() {
        return emit(if count == 0 { "no records yet\n" } else { "" });
    }
    let rows: Vec<[String; 6]> = last.iter().map(record_row).collect();
    emit(&table(["record", "time", "kind", "tool", "about", "what"], &rows))
}

fn record_row(record: &Sealed) -> [String; 6] {
    let entry = &record.entry;
    let kind = entry.kind.to_string();
    let about = ["approval", "grant", "undone"].iter().find_map(|key| entry.detail.get(key)?.as_str());
    let about = about.unwrap_or(&entry.call_id);
    let what = [entry.decision.as_deref(), entry.outcome.as_deref(), entry.rule.as_deref()];
    let what: Vec<&str> = what.into_iter().flatten().collect();
    let [tool, about] = [entry.tool.as_str(), about].map(|text| visible(text).into_owned());
    [record.seq.to_string(), time(entry.time_ms), kind, tool, about, cut_for_list(&what.join(": "))]
}

/// What `toolfold audit verify --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifyAnswer<'v> {
    /// Whether the chain is intact and every checkpoint matches.
    ok: bool,
    #[serde(flatten)]
    verified: &'v Verified,
    /// The number of checkpoints that were verified.
    checkpoints: usize,
}

fn verify(args: &VerifyArgs) -> Outcome {
    let mut checkpoints: Vec<Checkpoint> = Vec::new();
    for given in &args.checkpoint {
        checkpoints.extend(known(given)?);
    }
    let store = args.rest.store.to_read()?;
    let count = store.count().map_err(failure)?;
    if count > SLOW {
        progress(&format!("checking {} records …", grouped(usize::try_from(count).unwrap_or(usize::MAX))));
    }
    let verified = store.verify(&checkpoints).map_err(failure)?;
    let ok = verified.faults.is_empty();
    if args.rest.json {
        emit_json(&VerifyAnswer { ok, verified: &verified, checkpoints: checkpoints.len() })?;
    } else if ok {
        let held = match checkpoints.len() {
            0 => String::new(),
            1 => ", the checkpoint matches".to_owned(),
            n => format!(", all {n} checkpoints match"),
        };
        let head =
            verified.head.as_ref().map(|head| format!(", checkpoint {}", checkpoint_text(head))).unwrap_or_default();
        emit(&format!("{GOOD}ok{GOOD:#} {} records, the chain is intact{held}{head}\n", verified.records))?;
    } else {
        return Err(broken(&verified.faults, verified.records));
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn checkpoint(args: &CheckpointArgs) -> Result<(), Failure> {
    let Some(head) = take_checkpoint(&*args.rest.store.to_read()?)? else {
        return Err(Failure::unmeasured("the audit trail has no records yet, so there is no checkpoint"));
    };
    if let Some(file) = &args.append {
        append(file, &head)?;
    }
    match (&args.append, args.rest.json) {
        (_, true) => emit_json(&head),
        (None, false) => emit(&format!("{}\n", checkpoint_text(&head))),
        (Some(file), false) => emit(&format!("checkpoint of record {} appended to {}\n", head.seq, visible(file))),
    }
}

fn export(args: &ExportArgs) -> Result<(), Failure> {
    let store = args.store.to_read()?;
    let mut after = args.after;
    while let Some(page) = next_page(&*store, &mut after)? {
        if !stream_data(&page.iter().map(json_line).collect::<Result<String, _>>()?)? {
            break;
        }
    }
    Ok(())
}
