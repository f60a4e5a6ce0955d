//! The command line: the only code that prints.
//!
//! Exit codes: 0 ok, 1 invalid input or a failed check, 2 usage, 3 not measurable.

mod ab;
mod approvals;
mod approver_key;
mod audit;
mod builtin;
mod capture;
mod check;
mod checkpoint;
mod clock;
mod config;
mod config_files;
pub mod configuration;
mod count;
mod diff;
mod disk;
pub mod edge;
mod expand;
mod gateway;
mod grants;
mod help;
mod input;
mod layers;
mod ledger;
mod lines;
mod lint;
mod lock;
mod log;
mod new_file;
mod out_file;
mod output;
mod pins;
mod policy;
mod postgres;
mod presented;
mod probe;
mod profile;
mod published;
mod records;
mod reference;
mod report;
mod search;
mod session;
mod sim;
mod similar;
mod skills;
mod source;
mod suggest;
mod table;
mod tools;
mod tree;
mod undo;
mod why;

pub use published::{derived_schemas, published_commands};

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use self::output::Outcome;

const AFTER_HELP: &str = "\
Examples:
  toolfold                                          what the built-in Excel tools cost, arm by arm
  toolfold report --tools tools.json                the same for your own tools
  toolfold tools --tools tools.json --arm stable    the exact array to send
  toolfold expand format --arm stable               what a model gets for expanding a category
  toolfold session --help                           hosts in any language

From tokens to decisions:
  toolfold report --mcp 'npx -y some-server' --html out.html   which tools to fix, which arm to use
  toolfold lint --tools tools.json                  what is wrong with them, and what it costs
  toolfold lock; toolfold check                     fail a pull request that makes them grow
  toolfold suggest calls.jsonl --tools tools.json   a profile from their usage

Exit codes: 0 ok, 1 invalid input or a failed check, 2 usage, 3 not measurable.
Colour: --color, else NO_COLOR and CLICOLOR_FORCE, else on if the output is a terminal.";

/// Folds the tool schemas an agent sends to its model, and measures what that saves.
#[derive(Debug, Parser)]
#[command(name = "toolfold", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    /// Colour: auto, always or never [default: auto]
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true, display_order = 1000)]
    color: ColorWhen,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorWhen {
    Auto,
    Always,
    Never,
}

impl From<ColorWhen> for anstream::ColorChoice {
    fn from(when: ColorWhen) -> Self {
        match when {
            ColorWhen::Auto => Self::Auto,
            ColorWhen::Always => Self::Always,
            ColorWhen::Never => Self::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the first-turn tokens of a tool set in every arm, side by side.
    Report(report::ReportArgs),
    /// Print the exact tool array to send.
    Tools(tools::ToolsArgs),
    /// Print the reply that a model gets when it expands categories or tools.
    Expand(expand::ExpandArgs),
    /// Search the tools by words, as a model does with expand_tools.
    Search(search::SearchArgs),
    /// Run one conversation over a line protocol: JSON in, JSON out.
    Session(session::SessionArgs),
    /// Run between an MCP client and its servers: folded tools, skills, policy.
    Gateway(Box<gateway::GatewayArgs>),
    /// Check, derive or describe a profile file.
    #[command(subcommand)]
    Profile(profile::ProfileCommand),
    /// Find, check, read and write skills.
    #[command(subcommand)]
    Skills(skills::SkillsCommand),
    /// Print every setting with its value and origin.
    Config(config::ConfigArgs),
    /// Count the billed input tokens of recorded requests.
    Count(count::CountArgs),
    /// Check and explain policy files: tiers, rules, decisions.
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// List the calls that wait for approval, and approve or reject them.
    #[command(subcommand)]
    Approvals(approvals::ApprovalsCommand),
    /// List and revoke remembered approvals.
    #[command(subcommand)]
    Grants(grants::GrantsCommand),
    /// Review the tools that servers behind the gateway have changed, and accept them.
    #[command(subcommand)]
    Pins(pins::PinsCommand),
    /// Read, verify and export the audit trail.
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Restore the files that a call wrote, as they were before it.
    Undo(undo::UndoArgs),
    /// Read the log of a session: calls, repairs, refusals, loops, approvals.
    Log(log::LogArgs),
    /// Run recorded tasks through arms, and judge every argument.
    Ab(Box<ab::AbArgs>),
    /// Save the tools of a server with its identity and digest.
    Capture(Box<capture::CaptureArgs>),
    /// Compare what tools cost with budgets and toolfold.lock.
    Check(Box<check::CheckArgs>),
    /// Show what changed since toolfold.lock.
    Diff(Box<diff::DiffArgs>),
    /// Find what is wrong with a tool list, and what each finding costs.
    Lint(Box<lint::LintArgs>),
    /// Write toolfold.lock: what each tool costs, with its digest.
    Lock(Box<lock::LockArgs>),
    /// Test what a model supports: schemas in results, call_tool, native deferral.
    Probe(Box<probe::ProbeArgs>),
    /// Simulate what a session costs in each arm, including prompt caching.
    Sim(Box<sim::SimArgs>),
    /// Suggest a profile based on how tools were used.
    Suggest(Box<suggest::SuggestArgs>),
    /// Show where the tokens are: category, tool, part.
    Tree(Box<tree::TreeArgs>),
    /// Show what the parts of one tool cost, and what each detail drops.
    Why(Box<why::WhyArgs>),
    /// Print a completion script for a shell.
    Completions(reference::CompletionsArgs),
    /// Print or write the manual pages.
    Man(reference::ManArgs),
}

/// The whole command, with the flags that are added to every command of a kind, and its commands in
/// groups on its page of help.
#[must_use]
pub fn command() -> clap::Command {
    help::with_groups(published::with_schema_flags(Cli::command()))
}

/// Parses the arguments of this process, runs the command and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    #[cfg(unix)]
    disk::own_program::is_the_command();
    if let Some(code) = skills::part_of_run(std::env::args_os().nth(1).as_deref()) {
        return code;
    }
    run_with(std::env::args_os())
}

/// Runs a command with these arguments, the program's name first. It never exits the process.
#[must_use]
pub fn run_with(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    // Clap prints help and errors while it parses, so the colour is determined first.
    let wanted = color_in(args.iter().map(|arg| arg.to_string_lossy().into_owned()));
    anstream::ColorChoice::from(wanted).write_global();
    let mut command = command().color(match wanted {
        ColorWhen::Auto => clap::ColorChoice::Auto,
        ColorWhen::Always => clap::ColorChoice::Always,
        ColorWhen::Never => clap::ColorChoice::Never,
    });
    let parsed = command.try_get_matches_from_mut(&args).and_then(|matches| match published::asked_schema(&matches) {
        Some(published) => Ok(published::print_schema(published).map(|()| ExitCode::SUCCESS)),
        None => Cli::from_arg_matches(&matches).map(run_command),
    });
    match parsed {
        Ok(outcome) => output::finish_command(outcome),
        Err(why) => {
            let why = with_tip_for_tools(why, &command, &args).format(&mut command);
            // A closed standard error is ignored.
            drop(why.print());
            // Clap returns 2 for errors and 0 for help.
            ExitCode::from(u8::try_from(why.exit_code()).unwrap_or(2))
        }
    }
}

/// Adds a tip to the error about an extra argument of a command that reads a tool list.
fn with_tip_for_tools(mut why: clap::Error, command: &clap::Command, args: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(word)) = why.get(ContextKind::InvalidArg) else { return why };
    let own = args.iter().skip(1).find_map(|arg| command.find_subcommand(arg));
    let reads_tools = own.is_some_and(|own| own.get_arguments().any(|arg| arg.get_long() == Some("tools")));
    if why.kind() == ErrorKind::UnknownArgument && reads_tools && !word.starts_with('-') {
        let tip = format!("to read a tool list, use '--tools {word}'");
        why.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    why
}

/// The value of `--color`. The parser reports an invalid one.
fn color_in(args: impl Iterator<Item = String>) -> ColorWhen {
    let (mut when, mut next) = (ColorWhen::Auto, false);
    for arg in args.take_while(|arg| arg != "--") {
        let value = arg.strip_prefix("--color=").or_else(|| next.then_some(arg.as_str()));
        when = value.and_then(|value| ColorWhen::from_str(value, false).ok()).unwrap_or(when);
        next = arg == "--color";
    }
    when
}

fn run_command(cli: Cli) -> Outcome {
    match cli.command {
        None => report::run_example(),
        Some(Command::Report(args)) => report::run_report(&args),
        Some(Command::Tools(args)) => tools::run_tools(&args),
        Some(Command::Expand(args)) => expand::run_expand(&args),
        Some(Command::Search(args)) => search::run_search(&args),
        Some(Command::Gateway(args)) => gateway::run_gateway(&args),
        Some(Command::Profile(command)) => profile::run_profile(&command),
        Some(Command::Skills(command)) => skills::run_skills(&command),
        Some(Command::Session(args)) => session::run_session(&args),
        Some(Command::Config(args)) => config::run_config(&args),
        Some(Command::Count(args)) => count::run(&args),
        Some(Command::Policy(command)) => policy::run_policy(&command),
        Some(Command::Approvals(command)) => approvals::run_approvals(&command),
        Some(Command::Grants(command)) => grants::run_grants(&command),
        Some(Command::Pins(command)) => pins::run_pins(&command),
        Some(Command::Audit(command)) => audit::run_audit(&command),
        Some(Command::Undo(args)) => undo::run_undo(&args),
        Some(Command::Log(args)) => log::run_log(&args),
        Some(Command::Ab(args)) => ab::run_ab(&args),
        Some(Command::Capture(args)) => capture::run_capture(&args),
        Some(Command::Check(args)) => check::run_check(&args),
        Some(Command::Diff(args)) => diff::run_diff(&args),
        Some(Command::Lint(args)) => lint::run_lint(&args),
        Some(Command::Lock(args)) => lock::run_lock(&args),
        Some(Command::Probe(args)) => probe::run_probe(&args),
        Some(Command::Sim(args)) => sim::run_sim(&args),
        Some(Command::Suggest(args)) => suggest::run_suggest(&args),
        Some(Command::Tree(args)) => tree::run_tree(&args),
        Some(Command::Why(args)) => why::run_why(&args),
        Some(Command::Completions(args)) => reference::completions(&args),
        Some(Command::Man(args)) => reference::man(&args),
    }
}
