//! `toolfold ab report`: compares rows of `ab`, or the event logs of an experiment.

use std::io::{BufRead, BufReader, Read};
use std::process::ExitCode;

use clap::Args;

use super::super::input::read_text;
use super::super::output::{Failure, Outcome, emit, emit_json, say_all};
use super::super::records::{Entry, Records};
use super::out::{MAX_ROWS, held};
use super::text;
use crate::input::open_file;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold_measure::ab::{LiveLog, Row, compare, experiment};

const AFTER_HELP: &str = "\
Examples:
  toolfold ab report rows.jsonl                     the output of ab, as ab prints it
  toolfold ab report logs/*.jsonl                   two variants of an [experiment], with error bars
  toolfold ab report events.jsonl --control full --json

Files are what `toolfold ab --out` or `toolfold session --log` writes. Conversations are the unit,
not calls.
Exit codes: 0 read, 1 a file is invalid, 2 usage, 3 there is nothing to compare.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ReportArgs {
    /// Rows of `ab`, or event logs of sessions
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// The variant that the other one is compared with [default: `control`, else the variant with
    /// arm full]
    #[arg(long, value_name = "VARIANT")]
    control: Option<String>,

    /// As JSON (schema: toolfold.ab-report/1, or toolfold.ab-live/1 for event logs)
    #[arg(long)]
    json: bool,
}

pub(super) fn run_ab_report(args: &ReportArgs) -> Outcome {
    let mut rows: Vec<Row> = Vec::new();
    let mut run = None;
    let (mut log, mut logs, mut bad_lines) = (LiveLog::default(), 0, 0);
    for file in &args.files {
        if is_rows(file)? {
            let held = held(&read_text(file, MAX_ROWS)?, file)?;
            let first = run.get_or_insert_with(|| held.identity.clone());
            if *first != held.identity {
                let message =
                    format!("{file} belongs to another run than the previous files: tasks, model or meter differ");
                return Err(Failure::wrong(message).help("report each run separately"));
            }
            rows.extend(held.rows);
        } else {
            logs += 1;
            bad_lines += read_log(file, &mut log)?;
        }
    }
    if !rows.is_empty() && logs > 0 {
        return Err(Failure::usage("rows of recorded tasks and logs of live conversations cannot be combined")
            .help("report them separately"));
    }
    if logs == 0 {
        let comparison = compare(&rows, &[], &[]);
        if args.json {
            emit_json(&comparison)?;
        } else {
            emit(&text::comparison_text(&comparison))?;
        }
        let compared = comparison.cells.iter().any(|cell| cell.rows > 0);
        return if compared { Ok(ExitCode::SUCCESS) } else { Err(Failure::unmeasured("there are no rows to compare")) };
    }
    let conversations = log.conversations();
    let found = experiment(&conversations, args.control.as_deref()).map_err(|known| {
        let control = args.control.as_deref().unwrap_or_default();
        Failure::usage(format!("there is no variant `{control}`: these are {}", known.join(", ")))
    })?;
    if args.json {
        emit_json(&found)?;
    } else {
        emit(&text::live(&found))?;
    }
    if conversations.is_empty() {
        let why = format!("no conversation can be read; {bad_lines} lines are not records");
        return Err(Failure::unmeasured(why));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the file contains rows of `ab`, judged by its first line.
fn is_rows(file: &str) -> Result<bool, Failure> {
    let mut line = Vec::new();
    let mut head = BufReader::new(open_file(file)?.take(64 * 1024));
    head.read_until(b'\n', &mut line).map_err(|why| Failure::wrong(format!("{file}: cannot be read: {why}")))?;
    Ok(String::from_utf8_lossy(&line).trim_start().starts_with("{\"schema\":\"toolfold.ab"))
}

/// Reads a log. Returns the number of invalid lines.
fn read_log(file: &str, log: &mut LiveLog) -> Result<usize, Failure> {
    let mut records = Records::new(BufReader::new(open_file(file)?));
    let mut bad = 0;
    loop {
        let next =
            records.next().map_err(|why| Failure::unmeasured(format!("{file}: cannot be read further: {why}")))?;
        let Some(Entry { line, torn, read, .. }) = next else { break };
        match read {
            Ok(record) => log.add_record(&record),
            Err(why) => {
                bad += 1;
                // Only the first is described: a file that is not a log has one per line.
                if bad == 1 {
                    let code = if torn && why.begins { "torn-log" } else { "bad-record" };
                    say_all(&[Diagnostic::warning(code, Place::file(file).line_column(line, 1), why.message)]);
                }
            }
        }
    }
    log.end_of_log();
    Ok(bad)
}
