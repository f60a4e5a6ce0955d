//! What the Python binding shares with the command line, so that policy has the same context and
//! skills come from the same places in both: the disk, the clock, the working directory, and the
//! built-in domain.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::skills::{self, source};
use super::{builtin, clock, layers};
use toolfold::diagnostic::Loaded;
use toolfold::engine::SkillLayer;
use toolfold::policy::Context;
use toolfold::skill::Budget;

pub use super::disk::OwnDisk;
pub use super::skills::{SkillTools, Stop};

/// The name of the built-in domain: its tools, profile and policy.
pub const EXCEL: &str = builtin::EXCEL_PROFILE;
/// The 49 built-in Excel tools, as JSON in the format of Chat Completions.
pub const EXCEL_TOOLS: &str = builtin::EXCEL_TOOLS;
/// The policy of the built-in tools, as TOML.
pub const EXCEL_POLICY: &str = builtin::EXCEL_POLICY;

/// Runs the part of a script's run that this process was started for, by a process of the same
/// program: `argument` is the first one after the program's own. `None` for other arguments.
#[must_use]
pub fn part_of_run(argument: Option<&OsStr>) -> Option<ExitCode> {
    skills::part_of_run(argument)
}

/// Sets the program that supervises scripts, with the arguments before the one of
/// [`part_of_run`]. Default: this program. Only the first call has an effect.
pub fn supervise_with(program: PathBuf, arguments: Vec<OsString>) {
    skills::supervise_with(program, arguments);
}

/// The text of a built-in profile, as TOML; `None` if the name is unknown.
#[must_use]
pub fn builtin_profile(name: &str) -> Option<&'static str> {
    builtin::PROFILES.iter().find(|own| own.name == name).map(|own| own.text)
}

/// Now, in milliseconds since 1970 UTC.
#[must_use]
pub fn now_ms() -> i64 {
    clock::now_ms()
}

/// The context of policy in this process: working directory, project, home. Approvals are possible.
/// `own` are files that no call may write, such as the policy and the store; the files that SQLite
/// creates next to them are included.
#[must_use]
pub fn policy_context(own: &[&Path]) -> Context {
    layers::context(own)
}

/// The skills of these folders, and with `usual` those of the usual places, as the command line
/// discovers them: with the same facts and the same counter.
///
/// # Errors
/// A folder does not exist, or there is no working directory.
pub fn skills(folders: &[PathBuf], usual: bool, honour_allowed_tools: bool) -> Result<Loaded<SkillLayer>, String> {
    let mut discovery = source::of_folders(folders, true).map_err(|why| why.to_string())?;
    (discovery.usual, discovery.honour_allowed_tools) = (usual, honour_allowed_tools);
    let Loaded { value, diagnostics } = discovery.layer();
    Ok(Loaded { value: source::equipped(value, Budget::default()), diagnostics })
}
