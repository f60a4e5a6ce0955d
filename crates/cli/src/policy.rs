//! `toolfold policy`: check, explain, lint and describe policy files, and evaluate rows of calls.

mod compare;
mod derive;
mod eval;
mod explain;
mod guess;
mod history;
mod learn;
mod new;
mod toml_text;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::compare::CompareArgs;
use self::derive::DeriveArgs;
use self::eval::EvalArgs;
use self::explain::ExplainArgs;
use self::learn::LearnArgs;
use self::new::NewArgs;
use super::input::load_tools;
use super::layers::load_policy;
use super::output::{Failure, GOOD, Outcome, describe, emit, emit_json};
use toolfold::diagnostic::Diagnostic;
use toolfold::policy::{Covered, Effect, Policy, Rule, policy_schema};

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Check a policy: its examples pass, and every tool has a tier and declares the arguments it
    /// writes.
    #[command(after_help = "\
Examples:
  toolfold policy check policy.toml                        the file alone
  toolfold policy check policy.toml --tools tools.json     against the tools it is for
  toolfold policy check excel                              the built-in one
  toolfold policy check policy.toml --against main.toml    and nothing may be looser than before

Exit codes: 0 valid, 1 it has an error or cannot be read, 2 usage.")]
    Check(CheckArgs),
    /// Explain the decision on a call, and what would allow it.
    #[command(after_help = "\
Examples:
  toolfold policy explain excel run_shell 'git log; rm -rf x'
  toolfold policy explain --policy policy.toml Bash 'git log'
  toolfold policy explain excel write_cells --args '{\"file_path\": \"a.xlsx\"}'
  toolfold policy explain policy.toml mcp:github/create_issue --json
  toolfold policy explain policy.toml send_email --history records.jsonl

Exit codes: 0 whatever the decision, 1 the policy cannot be read, 2 usage.")]
    Explain(ExplainArgs),
    /// Write a policy to start from, with comments.
    #[command(after_help = "\
Examples:
  toolfold policy new --for coding --out policy.toml       shell, files, git, builds and tests
  toolfold policy new --for http                           to standard output

Exit codes: 0 written, 1 the file exists or cannot be written, 2 usage.")]
    New(NewArgs),
    /// Write a record for every tool of a list, guessed from its schema, for a person to review.
    #[command(after_help = "\
Examples:
  toolfold policy derive --tools tools.json --out policy.toml
  toolfold policy derive --tools tools.json --trusted      trust their server's annotations

Every call requires approval until a record allows it. Arguments that look like paths, hosts or
commands are declared, so that denies apply to them: delete wrong ones.
Exit codes: 0 written, 1 the tools cannot be read, or the file exists, 2 usage.")]
    Derive(DeriveArgs),
    /// Propose the narrowest rules with which recorded calls run that ask today.
    #[command(after_help = "\
Examples:
  toolfold policy learn commands.txt --policy policy.toml      one command per line
  toolfold policy learn calls.jsonl --policy policy.toml       one call per line, as JSON
  history | cut -c8- | toolfold policy learn - --policy policy.toml --tool run_shell

The output is TOML, for a person to review: each rule states how many calls need it, and what else
it allows. Nothing is proposed for what a deny or an ask covers, nor for what is known only when it
runs.
Exit codes: 0 learned, 1 a line or the policy cannot be read, 2 usage.")]
    Learn(LearnArgs),
    /// Compare two policies: the calls on which the newer one is looser or stricter.
    #[command(after_help = "\
Examples:
  git show main:policy.toml | toolfold policy diff - policy.toml      in CI
  toolfold policy diff old.toml new.toml --json

The calls are made from the rules and records of both files, and from pairs of rules. What is
printed is certain; that nothing is printed proves nothing about calls that no rule suggests.
Exit codes: 0 nothing is looser, 1 something is, or a policy cannot be read, 2 usage.")]
    Diff(CompareArgs),
    /// Find probable mistakes in a policy.
    #[command(after_help = "\
Example:
  toolfold policy lint policy.toml      interpreters, missing word boundaries, shadowed rules, …

Exit codes: 0 no findings, 1 findings or it cannot be read, 2 usage.")]
    Lint(LintArgs),
    /// Print the JSON Schema of policy files, for editors.
    #[command(after_help = "\
Example:
  toolfold policy schema > policy.schema.json

Then, as the first line of the policy: #:schema ./policy.schema.json")]
    Schema,
    /// Evaluate rows of calls, one JSON object per line, each with its own rules or all with one
    /// policy.
    #[command(after_help = "\
Examples:
  toolfold policy eval calls.jsonl --policy policy.toml
  toolfold policy eval rows-with-rules.jsonl --json > decisions.jsonl
  echo '{\"id\":\"1\",\"rule\":[\"allow Bash(ls:*)\"],\"tool\":\"Bash\",\"args\":{\"command\":\"ls; id\"}}' |
    toolfold policy eval - --json

A row has `tool`, `args`, `rule` (lines such as `allow Bash(git log:*)`, `default deny`) and `ctx`
(`cwd`, `home`, `server`, `interactive`, …). With --policy, a row with a `rule` is an error: it
would be ambiguous. Rows are answered in order, as they arrive. A row that cannot be evaluated
is reported on standard error, and the others are still evaluated.
Exit codes: 0 every row was evaluated, 1 one was not or the file cannot be read, 2 usage.")]
    Eval(EvalArgs),
}

#[derive(Debug, Args)]
struct PolicyArg {
    /// Policy: a file, `-`, or excel for the built-in one
    #[arg(id = "word", value_name = "FILE|NAME", required_unless_present = "flag")]
    word: Option<String>,

    /// The same as a flag, as in other commands
    #[arg(id = "flag", long = "policy", value_name = "FILE|NAME", conflicts_with = "word")]
    flag: Option<String>,
}

impl PolicyArg {
    fn given_name(&self) -> &str {
        self.word.as_deref().or(self.flag.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    policy: PolicyArg,

    /// The tool list that the policy is for; without it, only the file itself is checked
    #[arg(long, value_name = "FILE|-")]
    tools: Option<String>,

    /// An older policy: a call that is decided less strictly than by it is an error
    #[arg(long, value_name = "FILE")]
    against: Option<String>,

    /// Diagnostics as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct LintArgs {
    #[command(flatten)]
    policy: PolicyArg,

    /// Findings as JSON
    #[arg(long)]
    json: bool,
}

/// What `toolfold policy check --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckAnswer {
    /// Whether it has no errors.
    ok: bool,
    /// The number of tools with a record.
    tools: usize,
    /// The number of rules.
    rules: usize,
    /// Rules that also concern other spellings of their command.
    also: Vec<OtherSpellings>,
    /// Everything that was noticed.
    diagnostics: Vec<Diagnostic>,
}

/// Other spellings of the command of a rule.
#[derive(Debug, Serialize, JsonSchema)]
struct OtherSpellings {
    /// The rule as the policy writes it.
    rule: String,
    spellings: Vec<String>,
}

pub(super) fn run_policy(command: &PolicyCommand) -> Outcome {
    match command {
        PolicyCommand::Check(args) => check_policy(args),
        PolicyCommand::Explain(args) => explain::explain(args),
        PolicyCommand::New(args) => new::new(args),
        PolicyCommand::Derive(args) => derive::derive(args),
        PolicyCommand::Learn(args) => learn::learn(args),
        PolicyCommand::Lint(args) => lint(args),
        PolicyCommand::Schema => {
            emit(&format!("{:#}\n", policy_schema()))?;
            Ok(ExitCode::SUCCESS)
        }
        PolicyCommand::Diff(args) => compare::compare(args),
        PolicyCommand::Eval(args) => eval::eval(args),
    }
}

fn check_policy(args: &CheckArgs) -> Outcome {
    if args.policy.given_name() == "-" && args.tools.as_deref() == Some("-") {
        return Err(Failure::usage("only one of the policy and the tools can come from standard input"));
    }
    let loaded = load_policy(args.policy.given_name())?;
    let (policy, mut diagnostics) = (loaded.value, loaded.diagnostics);
    let tools = match &args.tools {
        Some(file) => Some(covered(file)?),
        None => None,
    };
    diagnostics.extend(policy.check(tools.as_deref()));
    diagnostics.extend(Policy::new(vec![policy.clone()]).unmatched());
    if let Some(older) = &args.against {
        diagnostics.extend(compare::looser_than(older, &policy)?);
    }
    let ok = !diagnostics.iter().any(Diagnostic::is_error);
    let mut also: Vec<(&Rule, Vec<String>)> = Vec::new();
    for rule in policy.rules.iter().filter(|rule| rule.effect != Effect::Allow) {
        let spellings = rule.other_spellings();
        if !spellings.is_empty() {
            also.push((rule, spellings));
        }
    }
    if args.json {
        let also = also.into_iter().map(|(rule, spellings)| OtherSpellings { rule: rule.text.clone(), spellings });
        let (also, tools, rules) = (also.collect(), policy.capabilities.len(), policy.rules.len());
        emit_json(&CheckAnswer { ok, tools, rules, also, diagnostics })?;
    } else {
        let mut out: String = diagnostics.iter().map(|diagnostic| describe(diagnostic) + "\n").collect();
        if ok {
            let against = match &tools {
                None if policy.capabilities.is_empty() && policy.rules.is_empty() => {
                    "it is empty, so every call requires approval".to_owned()
                }
                Some(tools) => format!("covers all {} tools", tools.len()),
                None => "valid; use --tools to check it against its tools".to_owned(),
            };
            let (capabilities, rules) = (policy.capabilities.len(), policy.rules.len());
            for (rule, spellings) in &also {
                out.push_str(&format!("`{}` also concerns: {}\n", rule.text, spellings.join(", ")));
            }
            out.push_str(&format!("{GOOD}ok{GOOD:#} {capabilities} tools, {rules} rules: {against}\n"));
        }
        emit(&out)?;
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn covered(file: &str) -> Result<Vec<Covered>, Failure> {
    let (catalog, _) = load_tools(Some(file), None)?;
    Ok(catalog
        .iter()
        .map(|tool| {
            let properties = tool.parameters().get("properties").and_then(Value::as_object);
            Covered::new(tool.name().to_string(), properties.into_iter().flat_map(|p| p.keys().cloned()).collect())
        })
        .collect())
}

fn lint(args: &LintArgs) -> Outcome {
    let loaded = load_policy(args.policy.given_name())?;
    let mut diagnostics = loaded.diagnostics;
    diagnostics.extend(loaded.value.lint());
    diagnostics.extend(Policy::new(vec![loaded.value]).unmatched());
    if args.json {
        emit_json(&diagnostics)?;
    } else if diagnostics.is_empty() {
        emit(&format!("{GOOD}ok{GOOD:#} no findings\n"))?;
    } else {
        emit(&diagnostics.iter().map(|diagnostic| describe(diagnostic) + "\n").collect::<String>())?;
    }
    Ok(if diagnostics.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
