//! `toolfold policy`: check, explain, lint and describe policy files, and judge rows of calls.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::disk::{OwnDisk, absolute, home, working_folder};
use super::input::{load_tools, read};
use super::output::{BOLD, DIM, Failure, GOOD, Outcome, describe, emit, emit_json, say_all};
use crate::diagnostic::{Diagnostic, visible};
use crate::policy::eval::evaluate;
use crate::policy::{Call, Covered, Facts, MAX_BYTES, Origin, Policy, PolicyFile, Scope, policy_schema};

/// The largest file of rows that is read, in bytes.
const MAX_ROWS: usize = 64 << 20;

/// Work on policy files: tiers, rules, decisions.
#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Prove that a policy is sound: examples hold, every tool has a tier, every change names its paths.
    #[command(after_help = "\
Examples:
  toolfold policy check policy.toml                        the file alone
  toolfold policy check policy.toml --tools tools.json     against the tools it is for")]
    Check(CheckArgs),
    /// Say what a call would get, why, and what would have made it allowed.
    #[command(after_help = "\
Examples:
  toolfold policy explain policy.toml run_shell --command 'git log; rm -rf x'
  toolfold policy explain policy.toml write_cells --args '{\"file_path\": \"a.xlsx\"}'
  toolfold policy explain policy.toml mcp:github/create_issue --json")]
    Explain(ExplainArgs),
    /// Name what in a policy is probably not meant.
    Lint(LintArgs),
    /// The JSON Schema of policy files, for editors.
    Schema,
    /// Judge rows of rules and calls, one JSON object a line.
    #[command(after_help = "\
Example:
  echo '{\"id\":\"1\",\"rule\":[\"allow Bash(git log:*)\"],\"tool\":\"Bash\",\"args\":{\"command\":\"git log; id\"}}' \\
    | toolfold policy eval - --json")]
    Eval(EvalArgs),
}

/// What to check.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Policy file, or `-`
    #[arg(value_name = "FILE")]
    policy: String,

    /// The tool list it is for; without it only the file itself is checked
    #[arg(long, value_name = "FILE|-")]
    tools: Option<String>,

    /// Diagnostics as JSON
    #[arg(long)]
    json: bool,
}

/// What to explain.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Policy file, or `-`
    #[arg(value_name = "FILE")]
    policy: String,

    /// The tool: a name, or mcp:server/name
    #[arg(value_name = "TOOL")]
    tool: String,

    /// Its arguments, a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    args: Option<String>,

    /// Its arguments, if they are a shell command alone
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,

    /// The working folder of the call [default: this one]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<String>,

    /// Judge paths as they are written: do not look where this machine's links lead
    #[arg(long)]
    as_written: bool,

    /// Judge as if nobody could be asked
    #[arg(long)]
    non_interactive: bool,

    /// All of it as JSON
    #[arg(long)]
    json: bool,
}

/// What to look through.
#[derive(Debug, Args)]
pub(super) struct LintArgs {
    /// Policy file, or `-`
    #[arg(value_name = "FILE")]
    policy: String,

    /// Findings as JSON
    #[arg(long)]
    json: bool,
}

/// What to judge.
#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// Rows as JSON lines, or `-`
    #[arg(value_name = "FILE|-")]
    rows: String,

    /// One JSON object a row, with id, decision and reason
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &PolicyCommand) -> Outcome {
    match command {
        PolicyCommand::Check(args) => check(args),
        PolicyCommand::Explain(args) => explain(args),
        PolicyCommand::Lint(args) => lint(args),
        PolicyCommand::Schema => {
            emit(&format!("{:#}\n", policy_schema()))?;
            Ok(ExitCode::SUCCESS)
        }
        PolicyCommand::Eval(args) => eval(args),
    }
}

fn load(file: &str) -> Result<(PolicyFile, Vec<Diagnostic>), Failure> {
    let text = read(file, MAX_BYTES)?;
    let loaded = PolicyFile::load(&text, file, Scope::User);
    Ok((loaded.value, loaded.diagnostics))
}

fn check(args: &CheckArgs) -> Outcome {
    if args.policy == "-" && args.tools.as_deref() == Some("-") {
        return Err(Failure::usage("only one of the policy and the tools can come from standard input"));
    }
    let (policy, mut diagnostics) = load(&args.policy)?;
    let tools = match &args.tools {
        Some(file) => Some(covered(file)?),
        None => None,
    };
    diagnostics.extend(policy.check(tools.as_deref()));
    let ok = !diagnostics.iter().any(Diagnostic::is_error);
    if args.json {
        let value =
            json!({"ok": ok, "tools": policy.records.len(), "rules": policy.rules.len(), "diagnostics": diagnostics});
        emit_json(&value)?;
    } else {
        let mut out: String = diagnostics.iter().map(|diagnostic| describe(diagnostic) + "\n").collect();
        if ok {
            let against = match &tools {
                Some(tools) => format!("covers all {} tools", tools.len()),
                None => "sound by itself; give --tools to check it against the tools it is for".to_owned(),
            };
            let (records, rules) = (policy.records.len(), policy.rules.len());
            out.push_str(&format!("{GOOD}ok{GOOD:#} {records} tools, {rules} rules: {against}\n"));
        }
        emit(&out)?;
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The tools of a list, with their top-level arguments.
fn covered(file: &str) -> Result<Vec<Covered>, Failure> {
    let (catalog, _) = load_tools(Some(file), None)?;
    Ok(catalog
        .iter()
        .map(|tool| {
            let properties = tool.parameters().get("properties").and_then(Value::as_object);
            Covered {
                identity: tool.name().to_string(),
                arguments: properties.into_iter().flat_map(|p| p.keys().cloned()).collect(),
            }
        })
        .collect())
}

fn explain(args: &ExplainArgs) -> Outcome {
    let (policy, diagnostics) = load(&args.policy)?;
    say_all(&diagnostics);
    let (origin, tool) = match args.tool.strip_prefix("mcp:").and_then(|rest| rest.split_once('/')) {
        Some((server, tool)) => (Origin::Mcp(server.to_owned()), tool),
        None => (Origin::Native, args.tool.as_str()),
    };
    let arguments = match (&args.args, &args.command) {
        (Some(text), _) => {
            serde_json::from_str(text).map_err(|why| Failure::usage(format!("--args is not JSON: {why}")))?
        }
        (None, Some(command)) => json!({ "command": command }),
        (None, None) => json!({}),
    };
    let cwd = args.cwd.as_deref().map_or_else(working_folder, absolute);
    let mut facts = Facts { interactive: !args.non_interactive, cwd, home: home(), ..Facts::default() };
    let call = Call { tool, origin: &origin, arguments: &arguments };
    let policy = Policy::new(vec![policy]);
    if OwnDisk::CAN_LOOK && !args.as_written {
        facts.links = Some(policy.links(&call, &facts, &OwnDisk));
    }
    let explained = policy.explain(&call, &facts, &[]);
    if args.json {
        emit_json(&explained)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = format!("{BOLD}{}{BOLD:#}\n", explained.verdict.decision);
    for reason in &explained.verdict.reasons {
        let place = reason.place.as_ref().map(|place| format!("  {DIM}{place}{DIM:#}")).unwrap_or_default();
        out.push_str(&format!("  {}{place}\n", visible(&reason.to_string())));
    }
    for part in &explained.parts {
        out.push_str(&format!(
            "{:<8}{:<6}{}  {DIM}{}{DIM:#}\n",
            part.kind,
            part.got.to_string(),
            part.text,
            visible(&part.by)
        ));
    }
    for rule in &explained.would_allow {
        out.push_str(&format!("would allow it: {}\n", visible(rule)));
    }
    emit(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn lint(args: &LintArgs) -> Outcome {
    let (policy, mut diagnostics) = load(&args.policy)?;
    diagnostics.extend(policy.lint());
    if args.json {
        emit_json(&diagnostics)?;
    } else {
        emit(&diagnostics.iter().map(|diagnostic| describe(diagnostic) + "\n").collect::<String>())?;
    }
    Ok(if diagnostics.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn eval(args: &EvalArgs) -> Outcome {
    let text = read(&args.rows, MAX_ROWS)?;
    let mut out = String::new();
    let mut bad = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let judged = serde_json::from_str::<Value>(line).map_err(|why| why.to_string()).and_then(|row| evaluate(&row));
        match judged {
            Ok(row) if args.json => {
                let line = serde_json::to_string(&row).map_err(Failure::wrong)?;
                out.push_str(&line);
                out.push('\n');
            }
            Ok(row) => out.push_str(&format!("{}\t{}\t{}\n", visible(&row.id), row.decision, visible(&row.reason))),
            Err(why) => {
                let place = crate::diagnostic::Place::file(&args.rows).line_column(i + 1, 1);
                bad.push(Diagnostic::error("eval-row", place, why).help("a row has id, rule, tool and args"));
            }
        }
    }
    emit(&out)?;
    if bad.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Failure::bad(bad)) }
}
