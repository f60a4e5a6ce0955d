//! `toolfold policy explain`: explains the decision on a call, part by part.

use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;

use super::super::builtin;
use super::super::disk::{OwnDisk, absolute, home, working_folder};
use super::super::layers::load_policy;
use super::super::output::{BOLD, DIM, Failure, Outcome, emit, emit_json, say_all};
use super::super::table::table;
use super::history::{HistoryArgs, earlier_lines};
use super::toml_text::toml_string;
use toolfold::diagnostic::visible;
use toolfold::policy::{Context, Disk, Explanation, Family, History, Policy, PolicyCall, PolicyFile, ToolOrigin};

/// What to explain.
#[derive(Debug, Args)]
#[command(override_usage = "\
toolfold policy explain [OPTIONS] <POLICY> <TOOL> [COMMAND]
       toolfold policy explain [OPTIONS] --policy <POLICY> <TOOL> [COMMAND]")]
pub(crate) struct ExplainArgs {
    /// The policy (a file, `-`, or excel for the built-in one), the tool (a name, or
    /// mcp:server/name) and, for a shell, the command
    #[arg(value_name = "POLICY TOOL COMMAND", num_args = 0..=3)]
    words: Vec<String>,

    /// The policy, if it is not the first argument
    #[arg(long, value_name = "FILE|NAME")]
    policy: Option<String>,

    /// The arguments of the call, a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    args: Option<String>,

    /// The shell command of the call
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,

    /// The working directory of the call [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<String>,

    /// Evaluate paths as written, without following this machine's symbolic links
    #[arg(long)]
    as_written: bool,

    /// Evaluate as if no one could approve
    #[arg(long)]
    non_interactive: bool,

    #[command(flatten)]
    history: HistoryArgs,

    /// The explanation as JSON
    #[arg(long)]
    json: bool,
}

struct Named<'a> {
    policy: &'a str,
    tool: &'a str,
    command: Option<&'a str>,
}

impl ExplainArgs {
    fn named_call(&self) -> Result<Named<'_>, Failure> {
        let wrong = |message: &str| Err(Failure::usage(message).help(HOW));
        let words: Vec<&str> = self.policy.iter().chain(&self.words).map(String::as_str).collect();
        let (policy, tool, word) = match *words.as_slice() {
            [policy, tool] => (policy, tool, None),
            [policy, tool, command] => (policy, tool, Some(command)),
            [] | [_] => return wrong("which tool, and under which policy?"),
            _ => return wrong("too many arguments: with --policy, only the tool and its command follow"),
        };
        if word.is_some() && (self.command.is_some() || self.args.is_some()) {
            return wrong("the command is given as an argument and with --command or --args");
        }
        Ok(Named { policy, tool, command: word.or(self.command.as_deref()) })
    }
}

pub(super) fn explain(args: &ExplainArgs) -> Outcome {
    let named = args.named_call()?;
    // A first argument that does not look like a file may be the tool.
    let is_file = named.policy.contains(['.', '/']);
    let loaded = load_policy(named.policy).map_err(|why| if is_file { why } else { why.help(HOW) })?;
    say_all(&loaded.diagnostics);
    let (origin, tool) = ToolOrigin::of_identity(named.tool);
    let arguments = call_arguments(args, &named, &loaded.value)?;
    let cwd = args.cwd.as_deref().map_or_else(working_folder, absolute);
    // No call may write the policy that judges it.
    let own = (named.policy != "-" && named.policy != builtin::EXCEL_PROFILE).then(|| absolute(named.policy)).flatten();
    let protected = Vec::from_iter(own);
    let interactive = !args.non_interactive;
    let mut context = Context::default().with_interactive(interactive).with_protected(protected);
    context.secrets = super::super::approver_key::places();
    (context.cwd, context.home) = (cwd, home());
    let call = PolicyCall::new(&origin, tool, &arguments);
    let broken = loaded.value.broken;
    let policy = Policy::new(vec![loaded.value]);
    let disk = (OwnDisk::CAN_LOOK && !args.as_written).then_some(&OwnDisk as &dyn Disk);
    let past = args.history.read(&policy, &mut context)?;
    let mut prepared = policy.prepare(call, &context, disk, History::default());
    let mut earlier = Vec::new();
    if let Some(past) = &past {
        prepared = past.before(prepared);
        earlier = past.conditions(&prepared);
    }
    let mut explained = prepared.explain(&[]);
    explained.earlier = earlier;
    if broken && !explained.verdict.decision.runs() {
        explained.would_allow = vec!["nothing, until the policy file is fixed".to_owned()];
    }
    if args.json {
        emit_json(&explained)?;
    } else {
        emit(&explanation_page(&explained))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn call_arguments(args: &ExplainArgs, named: &Named<'_>, policy: &PolicyFile) -> Result<Value, Failure> {
    if let Some(text) = &args.args {
        let value: Value = serde_json::from_str(text)
            .map_err(|why| Failure::usage(format!("--args is not JSON: {why}")).help(EXAMPLE))?;
        return if value.is_object() {
            Ok(value)
        } else {
            Err(Failure::usage("--args is not an object").help(EXAMPLE))
        };
    }
    let record = policy.capabilities.get(named.tool);
    let Some(command) = named.command else {
        let is_shell = match record {
            Some(record) => record.command.is_some(),
            None => matches!(Family::of_name(named.tool), Some(Family::Shell)),
        };
        if is_shell {
            return Err(Failure::usage(format!("which command of `{}`?", visible(named.tool))).help(HOW));
        }
        return Ok(json!({}));
    };
    match record.map(|record| record.command.as_deref()) {
        Some(Some(argument)) => Ok(json!({ argument: command })),
        Some(None) => {
            Err(Failure::usage(format!("`{}` has no shell command argument in this policy", visible(named.tool)))
                .help("pass its arguments with --args, or name the argument in the policy: command = \"…\""))
        }
        None => Ok(json!({ "command": command })),
    }
}

const HOW: &str = "toolfold policy explain policy.toml Bash 'git log', or --policy policy.toml Bash 'git log'";
const EXAMPLE: &str = "such as --args '{\"file_path\": \"a.xlsx\"}'";

fn explanation_page(explained: &Explanation) -> String {
    let mut out = format!("{BOLD}{}{BOLD:#}\n", explained.verdict.decision);
    for reason in &explained.verdict.reasons {
        let place = reason.place.as_ref().map(|place| format!("  {DIM}{place}{DIM:#}")).unwrap_or_default();
        out.push_str(&format!("  {}{place}\n", visible(&reason.to_string())));
    }
    out.push('\n');
    let mut rows = Vec::new();
    for part in &explained.parts {
        let [text, by] = [&part.text, &part.by].map(|text| visible(text).into_owned());
        rows.push([part.kind.to_owned(), part.got.to_string(), text, by]);
    }
    out.push_str(&table(["part", "gets", "what", "by"], &rows));
    if !explained.earlier.is_empty() {
        out.push_str("\nearlier calls:\n");
    }
    for line in earlier_lines(&explained.earlier) {
        out.push_str(&format!("  {}\n", visible(&line)));
    }
    if let Some(close) = &explained.did_you_mean {
        out.push_str(&format!("\nno record or rule names this tool: did you mean `{}`?\n", visible(close)));
    }
    out + &would_allow(&explained.would_allow)
}

/// The rules as a policy file writes them. All are needed: every part must be allowed.
fn would_allow(rules: &[String]) -> String {
    let (mut compact, mut lines) = (Vec::new(), String::new());
    for rule in rules {
        compact.extend(rule.strip_prefix("allow ").map(toml_string));
        lines.push_str(&format!("\nwould allow it: {}\n", visible(rule)));
    }
    if rules.is_empty() || compact.len() < rules.len() {
        return lines;
    }
    format!("\nwould allow it: allow = [{}]\n", compact.join(", "))
}
