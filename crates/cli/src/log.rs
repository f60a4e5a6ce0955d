//! `toolfold log`: what happened in the conversations of a log.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads logs")]

mod tally;
mod text;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::ExitCode;

use clap::Args;

use self::tally::{LogReport, Reader};
use super::output::{Failure, Outcome, emit, emit_json, say_all, warn};
use super::records::{Entry, Records};
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::name::nearest;

/// How many bad lines are described; the rest are counted.
const MAX_DESCRIBED: usize = 20;

const AFTER_HELP: &str = "\
Examples:
  toolfold log events.jsonl                 every conversation, and totals by arm and variant
  toolfold log events.jsonl --id c-42       one conversation
  cat logs/*.jsonl | toolfold log - --json  all of it as JSON (schema: toolfold.log/1)

Logs are what `toolfold session --log FILE` writes. A line that cannot be read is named and counted.
Exit codes: 0 read, 1 nothing of it can be read, or it does not hold the conversation, 2 usage.";

/// Reads a session log: calls, expansions, repairs, refusals, loops and approvals, per conversation, arm and variant.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct LogArgs {
    /// The log; `-` is standard input
    #[arg(value_name = "FILE|-")]
    file: String,

    /// Only this conversation
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// As JSON (schema: toolfold.log/1)
    #[arg(long)]
    json: bool,
}

pub(super) fn run_log(args: &LogArgs) -> Outcome {
    let report = match args.file.as_str() {
        "-" => read_log(std::io::stdin().lock(), args)?,
        file => {
            let unreadable = |why: &str, help: &str| {
                Failure::bad(vec![Diagnostic::error("unreadable", Place::file(file), why).help(help)])
            };
            let opened =
                File::open(file).map_err(|why| unreadable(&format!("cannot be read: {why}"), "check the path"))?;
            if opened.metadata().is_ok_and(|meta| meta.is_dir()) {
                return Err(unreadable("is a folder, not a file", "name a file in it"));
            }
            read_log(BufReader::new(opened), args)?
        }
    };
    if args.json {
        emit_json(&report)?;
    } else {
        emit(&text::log_text(&report))?;
    }
    // A log of which nothing can be read tells nothing.
    Ok(if report.records == 0 && report.bad_lines > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn read_log(source: impl BufRead, args: &LogArgs) -> Result<LogReport, Failure> {
    let place = |line| Place::file(&args.file).line_column(line, 1);
    let (mut records, mut reader) = (Records::new(source), Reader::default());
    let mut bad_lines = 0_usize;
    loop {
        let next =
            records.next().map_err(|why| Failure::unmeasured(format!("{}: cannot be read on: {why}", args.file)))?;
        let Some(Entry { line, torn, read, .. }) = next else { break };
        let noticed = match read {
            Ok(record) => reader.take_record(&record).map(|why| Diagnostic::warning("log-gap", place(line), why)),
            Err(bad) if torn && bad.begins => {
                bad_lines += 1;
                let why = "the last record is cut off: the process ended while it was written";
                Some(Diagnostic::warning("torn-log", place(line), why))
            }
            Err(bad) => {
                bad_lines += 1;
                Some(Diagnostic::error("bad-record", place(line), bad.message))
            }
        };
        if bad_lines <= MAX_DESCRIBED {
            say_all(&noticed.into_iter().collect::<Vec<_>>());
        }
    }
    if bad_lines > MAX_DESCRIBED {
        warn(&format!("{} more lines cannot be read", bad_lines - MAX_DESCRIBED));
    }
    let report = reader.report(bad_lines);
    match &args.id {
        None => Ok(report),
        Some(id) => report.only(id).map_err(|known| {
            let near = nearest(id, known.iter().map(String::as_str), 1).first().map(|near| (*near).to_owned());
            let failure = Failure::wrong(format!("{}: holds no conversation `{id}`", args.file));
            match near {
                Some(near) => failure.help(format!("did you mean `{near}`?")),
                None => failure.help(format!("toolfold log {} lists what it holds", args.file)),
            }
        }),
    }
}
