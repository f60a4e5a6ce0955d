//! `toolfold log`: summarizes the conversations of a log.

mod tally;
mod text;

use std::io::{BufRead, BufReader};
use std::process::ExitCode;

use clap::Args;

pub(super) use self::tally::LogReport;
use self::tally::Reader;
use super::output::{Failure, Outcome, emit, emit_json, say_all, warn};
use super::records::{Entry, Records};
use crate::input::open_file;
use crate::similar::did_you_mean;
use toolfold::diagnostic::{Diagnostic, Place};

/// Maximum number of invalid lines that are described; the rest are counted.
const MAX_DESCRIBED: usize = 20;

const AFTER_HELP: &str = "\
Examples:
  toolfold log events.jsonl                 every conversation, and totals by arm and variant
  toolfold log events.jsonl --id c-42       one conversation
  cat logs/*.jsonl | toolfold log - --json  all of it as JSON (schema: toolfold.log/1)

`toolfold session --log FILE` writes logs. A line that cannot be read is reported and counted.
Exit codes: 0 read, 1 no record can be read, or the conversation is not in the log, 2 usage.";

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
        file => read_log(BufReader::new(open_file(file)?), args)?,
    };
    if args.json {
        emit_json(&report)?;
    } else {
        emit(&text::log_text(&report))?;
    }
    // A log without a single readable record is an error.
    Ok(if report.records == 0 && report.bad_lines > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn read_log(source: impl BufRead, args: &LogArgs) -> Result<LogReport, Failure> {
    let place = |line| Place::file(&args.file).line_column(line, 1);
    let (mut records, mut reader) = (Records::new(source), Reader::default());
    let mut bad_lines = 0_usize;
    loop {
        let next = records
            .next()
            .map_err(|why| Failure::unmeasured(format!("{}: cannot be read further: {why}", args.file)))?;
        let Some(Entry { line, torn, read, .. }) = next else { break };
        let noticed = match read {
            Ok(record) => reader.take_record(&record).map(|why| Diagnostic::warning("log-gap", place(line), why)),
            Err(bad) if torn && bad.begins => {
                bad_lines += 1;
                let why = "the last record is cut off, because the process ended while writing it";
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
            let help = did_you_mean(id, known.iter().map(String::as_str))
                .unwrap_or_else(|| format!("toolfold log {} lists the conversations", args.file));
            Failure::wrong(format!("{}: has no conversation `{id}`", args.file)).help(help)
        }),
    }
}
