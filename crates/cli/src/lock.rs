//! `toolfold lock`: write toolfold.lock: what each tool costs, with its digest.

use std::process::ExitCode;

use clap::Args;

use super::check::locked::lock_file;
use super::check::measured::MeasuredArgs;
use super::check::write::write_lock;
use super::input::Input;
use super::output::{Failure, Outcome, grouped, warn};
use crate::configuration::keys;

const AFTER_HELP: &str = "\
Examples:
  toolfold lock --tools tools.json                       write toolfold.lock, and commit it
  toolfold lock --tools tools.json --arms stable,lean    with the totals of two more arms
  toolfold lock --tools tools.json --model gpt-5.4       counted and folded for that model
  toolfold lock --tools tools.json --out -               to standard output

The lock has one line per tool: its tokens in full and as the arm shows it, its digest, and the
cost of its parts. The same tools with the same version give the same bytes.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct LockArgs {
    #[command(flatten)]
    measured: MeasuredArgs,

    /// Additional arms whose first turn is counted
    #[arg(long, value_name = "ARM,…", value_delimiter = ',')]
    arms: Vec<String>,

    /// File to write; a device or `-` is written to directly [default: check.lock, else
    /// toolfold.lock]
    #[arg(long, value_name = "FILE|-")]
    out: Option<String>,
}

pub(super) fn run_lock(args: &LockArgs) -> Outcome {
    let config = args.measured.config(vec![(&keys::check::LOCK, args.out.clone())])?;
    let file = lock_file(&config);
    let mut wanted = args.measured.wanted(&config, None)?;
    for name in &args.arms {
        let arm = config.named_arm(name.trim()).map_err(|why| Failure::usage(format!("--arms: {why}")))?;
        wanted.add_arms(&[arm]);
    }
    let input = Input::load(config)?;
    input.say_warnings();
    let lock = wanted.measure(&input)?;
    write_lock(&file, &lock.to_toml())?;
    let [full, own] = ["full", &lock.arm].map(|arm| lock.arms.get(arm).map_or(0, |total| total.tokens));
    warn(&format!(
        "{}: {} tools, {} tokens on the first turn of arm full, {} of arm {}",
        if file == "-" { "standard output" } else { &file },
        grouped(lock.tools.len()),
        grouped(full),
        grouped(own),
        lock.arm
    ));
    Ok(ExitCode::SUCCESS)
}
