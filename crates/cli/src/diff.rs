//! `toolfold diff`: show what changed since toolfold.lock.

use std::process::ExitCode;

use clap::Args;

use super::check::locked::{Locked, lock_file};
use super::check::measured::MeasuredArgs;
use super::check::text;
use super::input::{Input, load_tools};
use super::output::{Failure, Outcome, emit, emit_json};
use crate::configuration::keys;
use toolfold_measure::check::{Diff, DiffAnswer, Lock, diff_markdown};

const AFTER_HELP: &str = "\
Examples:
  toolfold diff --tools tools.json                        since toolfold.lock
  toolfold diff --tools new.json --against old.json       since another list, key by key
  toolfold diff --tools tools.json --markdown             for a comment of a pull request
  toolfold diff --tools tools.json --exit-code            exit code 1 if anything differs

Exit codes: 0 compared, 1 with --exit-code something differs, 2 usage or no lock, 3 what the lock
was created with cannot be compared.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct DiffArgs {
    #[command(flatten)]
    measured: MeasuredArgs,

    /// The lock to compare with [default: check.lock, else toolfold.lock]
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    lock: Option<String>,

    /// Another tool list to compare with, instead of a lock
    #[arg(long, value_name = "FILE")]
    against: Option<String>,

    /// End with exit code 1 if anything differs
    #[arg(long)]
    exit_code: bool,

    /// The changes as JSON (toolfold.diff/1)
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// The changes as Markdown
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run_diff(args: &DiffArgs) -> Outcome {
    let config = args.measured.config(vec![(&keys::check::LOCK, args.lock.clone())])?;
    let (now, diff) = match &args.against {
        Some(file) => {
            let wanted = args.measured.wanted(&config, None)?;
            let (old, _) = load_tools(Some(file), None)?;
            let old = Input::of_catalog(config.clone(), old)?;
            let input = Input::load(config)?;
            input.say_warnings();
            let (before, now) = (wanted.measure(&old)?, wanted.measure(&input)?);
            let mut diff = Diff::between(&before, &now);
            diff.with_pointers(|name| old.catalog.get(name), |name| input.catalog.get(name));
            (now, diff)
        }
        None => {
            let file = lock_file(&config);
            let Some(locked) = Locked::read_lock(&file)? else {
                return Err(Failure::usage(format!("there is no {file} to compare with"))
                    .help("write it with toolfold lock, or name another list with --against"));
            };
            let wanted = args.measured.wanted(&config, Some((&locked.lock, &file)))?;
            let input = Input::load(config)?;
            input.say_warnings();
            let now = wanted.measure(&input)?;
            let diff = locked.compare(&now)?;
            (now, diff)
        }
    };
    print(args, &now, &diff)?;
    Ok(ExitCode::from(u8::from(args.exit_code && !diff.is_empty())))
}

fn print(args: &DiffArgs, now: &Lock, diff: &Diff) -> Result<(), Failure> {
    if args.json {
        emit_json(&DiffAnswer::new(now, diff))
    } else if args.markdown {
        emit(&diff_markdown(now, diff))
    } else {
        emit(&text::diff(now, diff))
    }
}
