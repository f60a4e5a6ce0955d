//! `toolfold audit`: read, check and export the chain of records.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::ledger::{StoreArgs, failure, time};
use super::output::{BOLD, DIM, GOOD, Outcome, emit, emit_json, warn};
use crate::diagnostic::visible;
use crate::policy::audit::{Checkpoint, Sealed};

/// Read, check and export the audit.
#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// The last records.
    Tail(TailArgs),
    /// Check the chain: exit code 1 if anything was edited, deleted, moved or cut off.
    #[command(after_help = "\
Examples:
  toolfold audit verify
  toolfold audit verify --checkpoint 120:9f2c…     also that record 120 is the one you noted then")]
    Verify(VerifyArgs),
    /// Every record as a line of JSON.
    Export(ExportArgs),
}

/// How much to show.
#[derive(Debug, Args)]
pub(super) struct TailArgs {
    /// How many records
    #[arg(short, default_value_t = 20)]
    n: usize,
    #[command(flatten)]
    store: StoreArgs,
    /// As JSON lines
    #[arg(long)]
    json: bool,
}

/// What to check.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// A record that must still be there: NUMBER:HASH, as an earlier verify printed it
    #[arg(long, value_name = "NUMBER:HASH", value_parser = checkpoint)]
    checkpoint: Vec<Checkpoint>,
    #[command(flatten)]
    store: StoreArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// What to export.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Only records after this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) fn run(command: &AuditCommand) -> Outcome {
    match command {
        AuditCommand::Tail(args) => {
            let store = args.store.to_read()?;
            let last = store.verify(&[]).map_err(failure)?.head.map_or(0, |head| head.seq);
            let from = last.saturating_sub(u64::try_from(args.n).unwrap_or(u64::MAX));
            for record in store.records(from, args.n).map_err(failure)? {
                if args.json { emit_json(&record)? } else { emit(&(line(&record) + "\n"))? }
            }
            Ok(ExitCode::SUCCESS)
        }
        AuditCommand::Verify(args) => verify(args),
        AuditCommand::Export(args) => {
            let store = args.store.to_read()?;
            let mut after = args.after;
            loop {
                let records = store.records(after, 1_000).map_err(failure)?;
                let Some(last) = records.last() else { return Ok(ExitCode::SUCCESS) };
                after = last.seq;
                for record in &records {
                    emit_json(record)?;
                }
            }
        }
    }
}

fn verify(args: &VerifyArgs) -> Outcome {
    let verified = args.store.to_read()?.verify(&args.checkpoint).map_err(failure)?;
    let ok = verified.faults.is_empty();
    if args.json {
        emit_json(&verified)?;
    } else {
        for fault in &verified.faults {
            warn(&fault.to_string());
        }
        let head =
            verified.head.as_ref().map(|head| format!(", checkpoint {}:{}", head.seq, head.hash)).unwrap_or_default();
        if ok {
            emit(&format!("{GOOD}ok{GOOD:#} {} records, the chain is whole{head}\n", verified.records))?;
        }
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(record: &Sealed) -> String {
    let entry = &record.entry;
    let kind =
        serde_json::to_value(entry.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
    let said = entry.decision.as_deref().or(entry.outcome.as_deref()).unwrap_or_default();
    let rule = entry.rule.as_deref().unwrap_or_default();
    format!(
        "{BOLD}{}{BOLD:#}  {}  {kind}  {}  {}  {DIM}{}{DIM:#}",
        record.seq,
        time(entry.time_ms),
        visible(&entry.tool),
        visible(said),
        visible(rule)
    )
}

fn checkpoint(text: &str) -> Result<Checkpoint, String> {
    let (seq, hash) = text.split_once(':').ok_or("write NUMBER:HASH")?;
    let seq = seq.parse().map_err(|_| "the number before the colon is none".to_owned())?;
    Ok(Checkpoint { seq, hash: hash.to_owned() })
}
