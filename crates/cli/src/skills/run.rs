//! `skills run`: runs the script of a skill in a sandbox.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the environment and creates folders")]

mod approval;
mod execute;
mod plan;
mod report;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value};

use self::approval::{Permit, Permits, Taken};
pub use self::execute::Stop;
pub(super) use self::execute::{Places, execute};
pub(crate) use self::execute::{supervise_with, supervisor};
pub(super) use self::plan::Plan;
pub(crate) use self::report::RunAnswer;
use self::report::Waiting;
pub(super) use self::report::{Failed, RunResult, SkillError};
use super::super::input::read_text;
use super::super::ledger::ListArgs;
use super::super::output::{Failure, Outcome, emit, emit_json, warn};
use super::read::unknown_skill;
use super::{RootArgs, settings, verdict_code};
use crate::configuration::Config;
use toolfold::skill::{Caller, Permissions, SkillView};
use toolfold_runner::{Cause, Isolation};

/// Maximum size of an input in bytes.
const MAX_INPUT: usize = 16 << 20;

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
                emit_json(&plan.described(&permit))?;
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
        Err(Stopped::Skill(error)) if args.rest.json => emit_json(&Failed::from(&error)).map(|()| verdict_code(false)),
        Err(Stopped::Skill(error)) => Err(error.into_failure()),
        Err(Stopped::Command(failure)) => Err(failure),
    }
}

/// Why a run did not happen: an error of the skill, or of the command.
enum Stopped {
    Skill(SkillError),
    Command(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Command(failure)
    }
}

impl From<SkillError> for Stopped {
    fn from(error: SkillError) -> Self {
        Self::Skill(error)
    }
}

/// What the arguments ask to run.
fn planned(args: &RunArgs, config: &Config) -> Result<Plan, Stopped> {
    let (name, settings) = (args.name.as_str(), &config.settings.skill_scripts);
    if !settings.enabled {
        let off = Failure::wrong("scripts of skills are off")
            .help("set `[skill_scripts] enabled = true` in your own toolfold.toml");
        return Err(off.into());
    }
    let library = args.roots.discover()?.value;
    let view = SkillView::new(&library, &Permissions::default(), Caller::User);
    let Some((skill, _)) = view.get(name) else {
        return Err(SkillError::new(name, Cause::NotFound, unknown_skill(&view, name).to_string()).into());
    };
    let input = input(args)?;
    Ok(Plan::of_skill(name, skill, settings, args.isolation)?.with_input(input)?)
}

/// The input of the script; `{}` if none is given.
fn input(args: &RunArgs) -> Result<Value, Failure> {
    let (flag, text) = match (&args.input, &args.input_file) {
        (Some(text), _) => ("--input", text.clone()),
        (None, Some(file)) => ("--input-file", read_text(file, MAX_INPUT)?),
        (None, None) => return Ok(Value::Object(Map::new())),
    };
    match serde_json::from_str(&text) {
        Ok(input @ Value::Object(_)) => Ok(input),
        Ok(_) => Err(Failure::usage(format!("{flag} must be a JSON object"))),
        Err(why) => Err(Failure::usage(format!("{flag} is not JSON: {why}"))),
    }
}

fn attempt(args: &RunArgs) -> Result<Happened, Stopped> {
    let config = settings()?;
    let plan = planned(args, &config)?;
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
    let places = Places { base: permits.folder(), out: args.out.as_deref(), keep: config.settings.undo.keep };
    let outcome = execute(&plan, &places, &Stop::default());
    permits.note_outcome(&plan, &call_id, outcome.as_ref());
    Ok(Happened::Ended(outcome?))
}

/// Runs the part of a run that this process was started for, by a process of the same program.
/// Another program cannot start it, so that a rule that allows `toolfold` does not allow any
/// script.
pub(in super::super) fn part_of_run(argument: Option<&OsStr>) -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    {
        let part = argument.filter(|part| part.to_string_lossy().starts_with("__"))?;
        let program = |process: &str| std::fs::read_link(format!("/proc/{process}/exe")).ok();
        let parent = program(&std::os::unix::process::parent_id().to_string())?;
        if program("self")? == parent { toolfold_runner::hidden(Some(part)) } else { None }
    }
    #[cfg(not(target_os = "linux"))]
    argument.and(None)
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
