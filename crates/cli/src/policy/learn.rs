//! `toolfold policy learn`: proposes the rules that recorded calls need.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::super::disk::{home, working_folder};
use super::super::layers::load_policy;
use super::super::lines::Lines;
use super::super::output::{Failure, Outcome, emit, emit_json, progress, say_all};
use super::toml_text::{toml_key, toml_string, toml_value};
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold::policy::eval::Row;
use toolfold::policy::{Family, Learned, LearnedRule, Policy};

/// The maximum number of calls that are read.
const MAX_CALLS: usize = 100_000;

/// How many reasons for calls that still ask are printed.
const MAX_REASONS: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct LearnArgs {
    /// The recorded calls, or `-`: one command per line, or one JSON object per line with `tool`
    /// and `args`
    #[arg(value_name = "FILE|-")]
    calls: String,

    /// The policy that they are judged by: a file, or excel for the built-in one
    #[arg(long, value_name = "FILE|NAME")]
    policy: String,

    /// The tool that runs the lines that are commands [default: the policy's only shell, or Bash]
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,

    /// What was learned as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn learn(args: &LearnArgs) -> Outcome {
    if args.calls == "-" && args.policy == "-" {
        return Err(Failure::usage("only one of the calls and the policy can come from standard input"));
    }
    if args.calls == "-" && std::io::stdin().is_terminal() {
        progress("reading calls from standard input, one per line; see toolfold policy learn --help");
    }
    let loaded = load_policy(&args.policy)?;
    say_all(&loaded.diagnostics);
    let is_broken = loaded.value.broken;
    let policy = Policy::new(vec![loaded.value]);
    if is_broken {
        let help = format!("toolfold policy check {} names the errors", args.policy);
        return Err(Failure::wrong("every call asks until the policy file is fixed, so no rule helps").help(help));
    }
    let (tool, argument) = shell_of(&policy, args.tool.as_deref())?;
    let mut rows = Vec::new();
    let mut code = ExitCode::SUCCESS;
    let mut lines = Lines::open_lines(&args.calls)?;
    while let Some(line) = lines.next()? {
        if rows.len() == MAX_CALLS {
            let place = Place::file(&args.calls).line_column(line.number, 1);
            say_all(&[Diagnostic::warning("learn-limit", place, format!("only the first {MAX_CALLS} calls are read"))
                .help("split the file, and learn from each part")]);
            break;
        }
        let read = line.text.and_then(|text| read_call(&text, &tool, &argument));
        match read {
            Ok(row) => rows.push(row),
            Err(why) => {
                let place = Place::file(&args.calls).line_column(line.number, 1);
                say_all(&[Diagnostic::error("learn-row", place, why)
                    .help("a line is a command, or a JSON object with `tool` and `args`")]);
                code = ExitCode::FAILURE;
            }
        }
    }
    let learned = policy.learn(&rows);
    if args.json {
        emit_json(&learned)?;
    } else {
        emit(&page(&learned))?;
    }
    Ok(code)
}

/// The tool that runs commands, and the argument which contains the command.
fn shell_of(policy: &Policy, named: Option<&str>) -> Result<(String, String), Failure> {
    let records = policy.capabilities();
    if let Some(name) = named {
        let own = records.get(name).and_then(|record| record.command.clone());
        let builtin = matches!(Family::of_name(name), Some(Family::Shell)).then(|| "command".to_owned());
        let argument = own.or(builtin).ok_or_else(|| {
            Failure::usage(format!("`{}` runs no commands in this policy", visible(name)))
                .help("its record names the argument with the command: command = \"…\", like = \"Bash\"")
        })?;
        return Ok((name.to_owned(), argument));
    }
    let shells = records.iter().filter_map(|(name, record)| Some((*name, record.command.clone()?)));
    let shells = Vec::from_iter(shells.filter(|(name, _)| !name.starts_with("mcp:")));
    match shells.as_slice() {
        [] => Ok(("Bash".to_owned(), "command".to_owned())),
        [(name, argument)] => Ok(((*name).to_owned(), argument.clone())),
        several => {
            let names = Vec::from_iter(several.iter().map(|(name, _)| visible(name).into_owned()));
            Err(Failure::usage(format!("several tools run commands: {}", names.join(", ")))
                .help("name one with --tool"))
        }
    }
}

fn read_call(text: &str, tool: &str, argument: &str) -> Result<Row, String> {
    if text.trim_start().starts_with('[') && serde_json::from_str::<Vec<Value>>(text).is_ok() {
        return Err("a JSON list: write one object per line (jq -c '.[]')".to_owned());
    }
    let mut row: Value = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|why| format!("not JSON: {why}"))?,
        false => json!({ "tool": tool, "args": { argument: text } }),
    };
    if row.get("rule").is_some() {
        return Err("the row has its own rules: they would be learned again".to_owned());
    }
    if let Some(own) = row.as_object_mut()
        && let Some(arguments) = own.remove("arguments")
    {
        own.entry("args").or_insert(arguments);
    }
    let states_folder = row.pointer("/ctx/cwd").is_some();
    let mut row = Row::read(&row).map_err(|why| why.to_string())?;
    if !states_folder {
        (row.context.cwd, row.context.home) = (working_folder(), home());
    }
    Ok(row)
}

/// The rules as a policy file has them, then what they were learned from.
fn page(learned: &Learned) -> String {
    let mut out = String::new();
    let (compact, tables): (Vec<&LearnedRule>, Vec<&LearnedRule>) = learned.rules.iter().partition(|rule| rule.compact);
    if !compact.is_empty() {
        out.push_str("allow = [\n");
        for rule in compact {
            out.push_str(&format!("    {:40} # {}\n", toml_string(&rule.rule) + ",", note(rule)));
        }
        out.push_str("]\n");
    }
    for rule in tables {
        out.push_str(&format!("\n# {}\n[[rule]]\n{}", note(rule), members(&rule.rule)));
    }
    let Learned { calls, run, denied, would_run, .. } = *learned;
    out.push_str(&format!(
        "\n# {calls} calls: {run} run today, {would_run} with these rules; {denied} are denied, {} ask.\n",
        calls - would_run - denied
    ));
    for reason in learned.remaining.iter().take(MAX_REASONS) {
        out.push_str(&format!("#   {} x {}: {}\n", reason.calls, visible(&reason.why), reason.example));
    }
    if let Some(more) = learned.remaining.len().checked_sub(MAX_REASONS).filter(|more| *more > 0) {
        out.push_str(&format!("#   and {more} more reasons: --json lists them\n"));
    }
    out
}

/// The fields of a rule on one line, as the lines of its table.
fn members(fields: &str) -> String {
    let table: toml::Table = toml::from_str(&format!("rule = {{ {fields} }}")).unwrap_or_default();
    let members = table.get("rule").and_then(toml::Value::as_table).into_iter().flatten();
    members.map(|(key, value)| format!("{} = {}\n", toml_key(key), toml_value(value))).collect()
}

/// What a person should know before taking a rule over.
fn note(rule: &LearnedRule) -> String {
    let times = if rule.calls == 1 { "1 call".to_owned() } else { format!("{} calls", rule.calls) };
    if rule.also_allows.is_empty() { times } else { format!("{times}; also {}", rule.also_allows) }
}
