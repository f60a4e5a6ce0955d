//! `toolfold skills`: find, check, read and write skills.
mod as_tools;
mod author;
mod doctor;
mod inspect;
mod migrate;
mod read;
mod run;
pub(super) mod source;
pub(super) mod uses;
mod validate;

pub use as_tools::SkillTools;
pub(super) use doctor::DoctorAnswer;
pub(super) use inspect::SkillRow;
pub(crate) use run::RunAnswer;
pub use run::Stop;
pub(super) use run::{supervise_with, supervisor};
pub(super) use validate::Verdicts;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::input::InputArgs;
use super::output::{Failure, Outcome, say_all};
use crate::configuration::Config;
use toolfold::diagnostic::{Diagnostic, Loaded, Place, Severity};
use toolfold::engine::SkillDiscovery;
use toolfold::policy::NOT_APPROVED;
use toolfold::skill::{Precedence, SkillLibrary, is_unread};

#[derive(Debug, Subcommand)]
pub(super) enum SkillsCommand {
    /// List the available skills, with the tokens of each.
    #[command(after_help = "\
Examples:
  toolfold skills list                              from here up to the git root, home, …
  toolfold skills list --root skillpacks/excel      one folder only
  toolfold skills list --json | jq .[].name")]
    List(inspect::ListArgs),
    /// Validate skills as the reference validator of the Agent Skills standard does.
    #[command(after_help = "\
Examples:
  toolfold skills validate my-skill                 output and exit codes of the reference tool
  toolfold skills validate --json skills/*          both verdicts, one object per line

Exit codes: 0 all valid, 1 at least one is not, 2 usage.")]
    Validate(validate::ValidateArgs),
    /// Print skills as the reference tool's `to-prompt` does.
    #[command(after_help = "\
Example:
  toolfold skills prompt skillpacks/excel/*      the block for a system prompt, in XML")]
    Prompt(validate::PromptArgs),
    /// Print a skill, or one of its files.
    #[command(after_help = "\
Examples:
  toolfold skills show format-basic
  toolfold skills show format-basic/references/advanced-format-guide.md")]
    Show(read::ShowArgs),
    /// Print the text that a model gets when it activates a skill.
    #[command(after_help = "\
Examples:
  toolfold skills activate commit --arguments 'fix the typo'
  toolfold skills activate report --input '{\"month\": \"May\"}'
  toolfold skills activate format-basic --json      with the data that the host stores")]
    Activate(read::ActivateArgs),
    /// Run the script of a skill in a sandbox.
    #[command(after_help = "\
Examples:
  toolfold skills run report --input '{\"month\": \"May\"}' --dry-run      what would run
  toolfold skills run report --input '{\"month\": \"May\"}'
  toolfold skills run report --input-file input.json --out results --json

Off unless your own toolfold.toml has `[skill_scripts] enabled = true`. A run requires approval:
approve it with `toolfold approvals approve ID` and repeat the command. A policy rule such as
`SkillRun(report)` decides instead. See docs/scripts.md.
Exit codes: 0 the script succeeded; 1 it failed, was denied or waits for approval; 2 usage; 3 no
usable store.")]
    Run(run::RunArgs),
    /// Diagnose every skill file: first problems and fixes, then the healthy skills.
    #[command(after_help = "\
Examples:
  toolfold skills doctor
  toolfold skills doctor --root skills --json

Exit codes: 0 no errors, 1 at least one error, 2 usage.")]
    Doctor(doctor::DoctorArgs),
    /// Suggest improvements to skills.
    #[command(after_help = "\
Examples:
  toolfold skills lint --root skills                          the skills alone
  toolfold skills lint --root skills --tools tools.json       and the tools that they name

Exit codes: 0 no findings, 1 findings, 2 usage.")]
    Lint(author::LintArgs),
    /// Convert older skills and the commands of other agents to the standard format, beside the
    /// originals.
    #[command(after_help = "\
Examples:
  toolfold skills migrate old-skills --dry-run      what would be written
  toolfold skills migrate old-skills
  toolfold skills migrate .claude/commands          each command, to .claude/skills/NAME/SKILL.md

A command's `$ARGUMENTS` is filled in when the skill is activated. `$1` becomes `$ARGUMENTS[0]`,
because skills count from 0; the other text is unchanged. What a skill cannot do (run !`cmd`,
include @file, choose a model) is reported with its line.
Nothing is overwritten. Exit codes: 0 all converted, 1 at least one was not, 2 usage.")]
    Migrate(migrate::MigrateArgs),
    /// List the instruction files (AGENTS.md, CLAUDE.md) that apply here, from general to specific.
    #[command(after_help = "\
Examples:
  toolfold skills instructions
  toolfold skills instructions --json      with their texts")]
    Instructions(inspect::InstructionsArgs),
    /// Create a new skill from a template.
    #[command(after_help = "\
Examples:
  toolfold skills new monthly-report
  toolfold skills new monthly-report --dir skills --description 'Builds the monthly report.'")]
    New(author::NewArgs),
}

#[derive(Debug, Default, Clone, Args)]
pub(super) struct RootArgs {
    /// Search this folder instead of the usual and configured ones; can be given several times
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,

    /// Which of two skills with the same name is used: scopes, first-wins, last-wins or user-first
    #[arg(long, value_name = "RULE", default_value = "scopes", value_parser = parse_precedence)]
    precedence: Precedence,
}

fn parse_precedence(text: &str) -> Result<Precedence, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|_| "write scopes, first-wins, last-wins or user-first".to_owned())
}

impl RootArgs {
    /// The skills within the configured limits. Unread files are reported on standard error.
    fn discover(&self) -> Result<Loaded<SkillLibrary>, Failure> {
        let loaded = self.found(&settings()?)?;
        say_found(&loaded.diagnostics, false);
        Ok(loaded)
    }

    /// The same without the report.
    fn found(&self, config: &Config) -> Result<Loaded<SkillLibrary>, Failure> {
        Ok(self.discovery(config)?.library())
    }

    fn discovery(&self, config: &Config) -> Result<SkillDiscovery, Failure> {
        let mut discovery =
            if self.root.is_empty() { source::discovery(config)? } else { source::of_folders(&self.root, true)? };
        let skills = &config.settings.skills;
        (discovery.limits, discovery.precedence) = (skills.limits, self.precedence);
        discovery.honour_allowed_tools = skills.honour_allowed_tools;
        Ok(discovery)
    }
}

/// Maximum number of diagnostics of individual skills in a command about something else.
const SAID: usize = 10;

/// Reports on standard error what was not read, and what a skill asks for that is refused although
/// its requests are honoured: the first of it, and the number of the rest. If the user `named`
/// folders, also the first of the other diagnostics; those of the usual places are in `skills
/// doctor`.
pub(super) fn say_found(diagnostics: &[Diagnostic], named: bool) {
    let worth = diagnostics.iter().filter(|d| d.severity >= Severity::Warning).cloned();
    let (mut said, other): (Vec<Diagnostic>, Vec<Diagnostic>) =
        worth.partition(|d| is_unread(d) || d.code == NOT_APPROVED);
    let other = if named { other } else { Vec::new() };
    let more = said.len().saturating_sub(SAID) + other.len().saturating_sub(SAID);
    said.truncate(SAID);
    said.extend(other.into_iter().take(SAID));
    if more > 0 {
        let s = if more == 1 { "" } else { "s" };
        let note = Diagnostic::warning("more", Place::default(), format!("{more} more warning{s} about skills"));
        said.push(note.help("toolfold skills doctor lists all of them"));
    }
    say_all(&said);
}

fn settings() -> Result<Config, Failure> {
    InputArgs::default().config(&[])
}

fn say_worth(diagnostics: &[Diagnostic]) {
    let worth: Vec<Diagnostic> = diagnostics.iter().filter(|d| d.severity >= Severity::Warning).cloned().collect();
    say_all(&worth);
}

pub(super) use run::part_of_run;

pub(super) fn run_skills(command: &SkillsCommand) -> Outcome {
    match command {
        SkillsCommand::List(args) => inspect::list_skills(args),
        SkillsCommand::Validate(args) => validate::validate(args),
        SkillsCommand::Prompt(args) => validate::prompt(args),
        SkillsCommand::Show(args) => read::show(args),
        SkillsCommand::Activate(args) => read::activate(args),
        SkillsCommand::Run(args) => run::run(args),
        SkillsCommand::Doctor(args) => doctor::doctor(args),
        SkillsCommand::Lint(args) => author::lint(args),
        SkillsCommand::Migrate(args) => migrate::migrate(args),
        SkillsCommand::Instructions(args) => inspect::instructions(args),
        SkillsCommand::New(args) => author::new(args),
    }
}

fn verdict_code(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
