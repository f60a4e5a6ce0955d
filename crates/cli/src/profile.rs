//! `toolfold profile`: checks, derives and describes profile files.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::builtin;
use super::input::{InputArgs, configured_tools, load_tools, profile_text};
use super::output::{BOLD, Failure, GOOD, Outcome, describe, emit, emit_json};
use super::published::print_profile_schema;
use super::source::SourceArgs;
use toolfold::catalog::Catalog;
use toolfold::diagnostic::Diagnostic;
use toolfold::profile::{Tier, ToolProfile};

#[derive(Debug, Subcommand)]
pub(super) enum ProfileCommand {
    /// Check a profile, and report each mistake with file, line and column.
    #[command(after_help = "\
Examples:
  toolfold profile check profile.toml                        the file alone
  toolfold profile check profile.toml --tools tools.json     against the tools it is for
  toolfold profile check excel                               the built-in one against its tools")]
    Check(CheckArgs),
    /// Write a profile file for a tool list, as a starting point.
    #[command(after_help = "\
Examples:
  toolfold profile derive --tools tools.json > profile.toml
  toolfold profile derive --mcp 'npx -y some-server' > profile.toml")]
    Derive(DeriveArgs),
    /// Print the JSON Schema of profile files, for editors.
    #[command(after_help = "\
Example:
  toolfold profile schema > profile.schema.json

Then, as the first line of the profile: #:schema ./profile.schema.json")]
    Schema,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Profile: a TOML file, `-`, or a built-in name
    #[arg(value_name = "FILE|NAME")]
    profile: String,

    /// The tool list that the profile is for; without it only the file itself is checked
    #[arg(long, value_name = "FILE|-")]
    tools: Option<String>,

    /// Diagnostics as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct DeriveArgs {
    #[command(flatten)]
    source: SourceArgs,
}

/// What `toolfold profile check --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckAnswer {
    /// The profile's name.
    profile: String,
    /// Whether it has no errors.
    ok: bool,
    /// The number of tools by tier; `None` without tools.
    tiers: Option<TierCounts>,
    /// Everything that was noticed.
    diagnostics: Vec<Diagnostic>,
}

/// The number of tools in each tier.
#[derive(Debug, Serialize, JsonSchema)]
struct TierCounts {
    core: usize,
    extended: usize,
    hidden: usize,
}

pub(super) fn run_profile(command: &ProfileCommand) -> Outcome {
    match command {
        ProfileCommand::Check(args) => check_profile(args),
        ProfileCommand::Derive(args) => derive(args),
        ProfileCommand::Schema => {
            print_profile_schema()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check_profile(args: &CheckArgs) -> Outcome {
    if args.profile == "-" && args.tools.as_deref() == Some("-") {
        return Err(Failure::usage("only one of the profile and the tools can come from standard input"));
    }
    let (text, file) = profile_text(&args.profile)?;
    let is_builtin = builtin::PROFILES.iter().any(|profile| profile.name == args.profile);
    let catalog = match (&args.tools, is_builtin) {
        (Some(tools), _) => Some(load_tools(Some(tools), None)?.0),
        (None, true) => Some(load_tools(None, None)?.0),
        (None, false) => None,
    };
    let loaded = ToolProfile::parse(&text, &file);
    let mut diagnostics = loaded.diagnostics;
    let profile = loaded.value;
    let counts = catalog.as_ref().map(|catalog| assign(&profile, catalog, &mut diagnostics));
    let ok = !diagnostics.iter().any(Diagnostic::is_error);
    if args.json {
        emit_json(&CheckAnswer { profile: profile.name.clone(), ok, tiers: counts, diagnostics })?;
    } else {
        let mut out: String = diagnostics.iter().map(|diagnostic| describe(diagnostic) + "\n").collect();
        let name = profile.name;
        if ok {
            out.push_str(&format!("{GOOD}ok{GOOD:#} {BOLD}{name}{BOLD:#}: "));
            match &counts {
                Some(TierCounts { core, extended, hidden }) => {
                    out.push_str(&format!("{core} core, {extended} extended, {hidden} hidden tools\n"));
                }
                None => out.push_str("valid; use --tools to check it against its tools\n"),
            }
        }
        emit(&out)?;
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The number of tools in each tier, and the mismatches between profile and tools.
fn assign(profile: &ToolProfile, catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) -> TierCounts {
    let assigned = profile.assign(catalog);
    diagnostics.extend(assigned.diagnostics);
    let [core, extended, hidden] = [Tier::Core, Tier::Extended, Tier::Hidden]
        .map(|tier| assigned.value.tools.iter().filter(|tool| tool.tier == tier).count());
    TierCounts { core, extended, hidden }
}

fn derive(args: &DeriveArgs) -> Outcome {
    let config = InputArgs::of_tools(args.source.clone()).config(&[])?;
    let (catalog, _) = configured_tools(&config)?;
    emit(&ToolProfile::derive(&catalog).to_toml(&catalog))?;
    Ok(ExitCode::SUCCESS)
}
