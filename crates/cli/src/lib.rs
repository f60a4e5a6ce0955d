//! The command line: the only code that prints.
//!
//! Exit codes: 0 ok, 1 the thing asked about is bad, 2 usage, 3 it could not be measured.

mod approvals;
mod audit;
mod builtin;
mod checkpoint;
mod config;
pub mod configuration;
mod count;
mod disk;
mod expand;
mod grants;
mod input;
mod layers;
mod ledger;
mod lines;
mod output;
mod policy;
mod presented;
mod profile;
mod records;
mod report;
mod session;
mod skills;
mod table;
mod tools;

pub use report::report_schema;
pub use session::session_schema;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::output::Outcome;

const AFTER_HELP: &str = "\
Examples:
  toolfold                                            what the built-in Excel tools cost, arm by arm
  toolfold report --tools tools.json                  the same for your own tools
  toolfold tools --tools tools.json --arm stable      the exact array to send
  toolfold expand format --arm stable                 what a model gets for expanding a category
  npx some-mcp-server | toolfold report --tools -     a tools/list result from a pipe

Exit codes: 0 ok, 1 the thing asked about is bad, 2 usage, 3 it could not be measured.
Colour: on a terminal; NO_COLOR=1 turns it off.";

/// Folds the tool schemas an agent sends to its model, and measures what that saves.
#[derive(Debug, Parser)]
#[command(name = "toolfold", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// First-turn tokens of a tool set in every arm, side by side.
    Report(report::ReportArgs),
    /// The exact tool array to send.
    Tools(tools::ToolsArgs),
    /// The reply a model gets for expanding categories or tools.
    Expand(expand::ExpandArgs),
    /// One conversation over a line protocol: JSON in, JSON out.
    Session(session::SessionArgs),
    /// Check, derive or describe a profile file.
    #[command(subcommand)]
    Profile(profile::ProfileCommand),
    /// Find, check, read and write skills.
    #[command(subcommand)]
    Skills(skills::SkillsCommand),
    /// Every setting with its value and where it came from.
    Config(config::ConfigArgs),
    /// Billed input tokens of recorded requests.
    Count(count::CountArgs),
    /// Check, explain and try policy files: tiers, rules, decisions.
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// See and answer what waits for a person.
    #[command(subcommand)]
    Approvals(approvals::ApprovalsCommand),
    /// See and take back remembered yeses.
    #[command(subcommand)]
    Grants(grants::GrantsCommand),
    /// Read, check and export the audit.
    #[command(subcommand)]
    Audit(audit::AuditCommand),
}

/// Parses the arguments, runs the command and gives its exit code.
#[must_use]
pub fn main() -> ExitCode {
    output::finish(run(Cli::parse()))
}

fn run(cli: Cli) -> Outcome {
    match cli.command {
        None => report::run(&report::ReportArgs::default()),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Tools(args)) => tools::run(&args),
        Some(Command::Expand(args)) => expand::run(&args),
        Some(Command::Profile(command)) => profile::run(&command),
        Some(Command::Skills(command)) => skills::run(&command),
        Some(Command::Session(args)) => session::run(&args),
        Some(Command::Config(args)) => config::run(&args),
        Some(Command::Count(args)) => count::run(&args),
        Some(Command::Policy(command)) => policy::run(&command),
        Some(Command::Approvals(command)) => approvals::run(&command),
        Some(Command::Grants(command)) => grants::run(&command),
        Some(Command::Audit(command)) => audit::run(&command),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Cli;

    /// Where standard output is no terminal, help is wrapped at 100 columns: an example broken there cannot be copied.
    const COLUMNS: usize = 100;

    #[test]
    fn examples_in_help_are_not_wrapped() {
        fn wrapped(command: &Command) -> Vec<String> {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long = help.lines().filter(|line| line.chars().count() > COLUMNS);
            let own = long.map(|line| format!("{}: {line}", command.get_name()));
            own.chain(command.get_subcommands().flat_map(wrapped)).collect()
        }
        assert_eq!(wrapped(&Cli::command()), Vec::<String>::new());
    }
}
