//! `skills run`: runs the script of a skill in a sandbox.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the environment and creates folders")]

mod approval;
mod plan;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;

use self::approval::{Permit, Permits, Taken};
use self::plan::Plan;
use self::report::{RunResult, SkillError, Waiting};
use super::super::ledger::ListArgs;
use super::super::output::{Failure, Outcome, emit, emit_json, warn};
use super::{RootArgs, settings, verdict_code};
use crate::configuration::Config;
use toolfold_runner::{Cause, Ended, Files, Isolation, Supervisor, collect, start};

#[derive(Debug, Args)]
pub(in super::super) struct RunArgs {
    /// A skill's name, or `name@scope`
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    roots: RootArgs,

    /// Input of the script: a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "input_file")]
    input: Option<String>,

    /// Input of the script from a file, or `-` for standard input
    #[arg(long, value_name = "FILE|-")]
    input_file: Option<String>,

    /// Print what would run and what the policy decides; nothing runs or is requested
    #[arg(long)]
    dry_run: bool,

    /// Move the files that the script writes to this folder, which must be new or empty
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// `required`, or `none` to run the script with all your rights
    #[arg(long, value_name = "LEVEL", default_value = "required", value_parser = parse_isolation)]
    isolation: Isolation,

    #[command(flatten)]
    rest: ListArgs,
}

fn parse_isolation(text: &str) -> Result<Isolation, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|_| "write required or none".to_owned())
}

/// What happened to a run.
enum Happened {
    Ended(RunResult),
    Waits(Waiting),
    Planned(Box<(Plan, Permit)>),
}

pub(super) fn run(args: &RunArgs) -> Outcome {
    match attempt(args) {
        Ok(Happened::Ended(result)) if args.rest.json => emit_json(&result).map(|()| verdict_code(result.succeeded())),
        Ok(Happened::Ended(result)) => print(&result),
        Ok(Happened::Planned(planned)) => {
            let (plan, permit) = *planned;
            if args.rest.json {
                emit_json(&plan.to_json(&permit))?;
            } else {
                emit(&plan.to_text(&permit))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Ok(Happened::Waits(waiting)) => {
            if args.rest.json {
                emit_json(&waiting)?;
            } else {
                let flag = args.rest.store.flag();
                warn(&format!("the run requires approval: {}", waiting.approval));
                warn(&format!("  what would run:  toolfold approvals why {}{flag}", waiting.approval));
                warn(&format!("  to approve it:   toolfold approvals approve {}{flag}", waiting.approval));
                warn("  then repeat this command");
            }
            Ok(verdict_code(false))
        }
        Err(Stop::Skill(error)) if args.rest.json => emit_json(&error).map(|()| verdict_code(false)),
        Err(Stop::Skill(error)) => Err(error.into_failure()),
        Err(Stop::Command(failure)) => Err(failure),
    }
}

/// Why a run did not happen: an error of the skill, or of the command.
enum Stop {
    Skill(SkillError),
    Command(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Command(failure)
    }
}

impl From<SkillError> for Stop {
    fn from(error: SkillError) -> Self {
        Self::Skill(error)
    }
}

fn attempt(args: &RunArgs) -> Result<Happened, Stop> {
    let config = settings()?;
    let plan = Plan::new(args, &config)?;
    if let Some(out) = &args.out {
        is_free(out)?;
    }
    let permits = Permits::open(args, &config, &plan)?;
    let permit = permits.permit(&plan)?;
    if args.dry_run {
        return Ok(Happened::Planned(Box::new((plan, permit))));
    }
    let call_id = match permits.take(&plan, &permit)? {
        Taken::Runs(call_id) => call_id,
        Taken::Waits(waiting) => return Ok(Happened::Waits(waiting)),
    };
    let ended = execute(&plan, permits.folder());
    let outcome = ended.and_then(|ended| finish(args, &config, &plan, permits.folder(), &ended));
    permits.note_outcome(&plan, &call_id, outcome.as_ref());
    Ok(Happened::Ended(outcome?))
}

/// Runs the part of a run that this process was started for, by a process of the same program.
/// Another program cannot start it, so that a rule that allows `toolfold` does not allow any
/// script.
pub(in super::super) fn part_of_run() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    {
        let part = std::env::args_os().nth(1).filter(|part| part.to_string_lossy().starts_with("__"))?;
        let program = |process: &str| std::fs::read_link(format!("/proc/{process}/exe")).ok();
        let parent = program(&std::os::unix::process::parent_id().to_string())?;
        if program("self")? == parent { toolfold_runner::hidden(Some(&part)) } else { None }
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Runs the script. `base`: the folder of the store.
fn execute(plan: &Plan, base: &Path) -> Result<Ended, SkillError> {
    // This program, even if its file was replaced.
    let supervisor = Supervisor::new("/proc/self/exe".into(), Vec::new());
    let running = start(&supervisor, &plan.job, &base.join("skill-runs"));
    running.and_then(toolfold_runner::Running::wait).map_err(|why| plan.error(why.cause(), why.to_string()))
}

/// Moves the files of a run and describes how it ended.
fn finish(args: &RunArgs, config: &Config, plan: &Plan, base: &Path, ended: &Ended) -> Result<RunResult, SkillError> {
    let results = base.join("skill-results");
    let files = match &args.out {
        Some(out) => collect(&ended.folder.work(), |name, _| {
            let path = out.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(out))?;
            Ok(path)
        }),
        None => {
            remove_old(&results, config.settings.undo.keep);
            collect(&ended.folder.work(), |_, sha256| {
                std::fs::create_dir_all(&results)?;
                Ok(results.join(sha256))
            })
        }
    };
    let failed = |why| plan.error(Cause::Execution, format!("the files of the script cannot be stored: {why}"));
    let files: Files = files.map_err(failed)?;
    Ok(RunResult::new(plan, ended, files))
}

/// Removes the results of runs that are older than copies for undo.
fn remove_old(results: &Path, keep: Duration) {
    let oldest = SystemTime::now().checked_sub(keep);
    for entry in std::fs::read_dir(results).into_iter().flatten().filter_map(Result::ok) {
        let modified = entry.metadata().and_then(|found| found.modified()).ok();
        if modified.zip(oldest).is_some_and(|(modified, oldest)| modified < oldest) {
            // The next run tries again.
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

/// Succeeds if a folder is new or empty.
fn is_free(folder: &Path) -> Result<(), Failure> {
    match std::fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Ok(false) => Err(Failure::usage(format!("--out {}: the folder is not empty", folder.display()))),
        Err(why) => Err(Failure::usage(format!("--out {}: cannot be read: {why}", folder.display()))),
    }
}

fn print(result: &RunResult) -> Outcome {
    emit(&result.output)?;
    if let Some(error) = &result.error {
        warn(error.trim_end_matches('\n'));
    }
    for file in &result.files {
        warn(&format!("{}  {} bytes  {}", toolfold::diagnostic::visible(&file.name), file.bytes, file.path.display()));
    }
    if !result.succeeded() {
        warn(&result.ending());
    }
    Ok(verdict_code(result.succeeded()))
}
