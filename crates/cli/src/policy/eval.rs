//! `toolfold policy eval`: evaluates rows of calls with the rules of each row or with one policy.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::super::layers::load_policy;
use super::super::lines::{Line, Lines};
use super::super::output::{Failure, Outcome, json_line, progress, say_all, stream_data};
use super::history::HistoryArgs;
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold::policy::eval::{Evaluated, evaluate, evaluate_under, unknown_members};
use toolfold::policy::{Context, Past, Policy};

/// Maximum number of unknown members that are reported.
const MAX_NAMED: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Rows as JSON lines, or `-`
    #[arg(value_name = "FILE|-")]
    rows: String,

    /// Evaluate all rows with this policy, a file or excel for the built-in one; a row with its own
    /// rules is an error
    #[arg(long, value_name = "FILE|NAME")]
    policy: Option<String>,

    #[command(flatten)]
    history: HistoryArgs,

    /// Print one JSON object per row, with id, decision and reason
    #[arg(long)]
    json: bool,
}

pub(super) fn eval(args: &EvalArgs) -> Outcome {
    if args.rows == "-" && std::io::stdin().is_terminal() {
        progress("reading rows from standard input, one JSON object per line; see toolfold policy eval --help");
    }
    let policy = match args.policy.as_deref() {
        Some("-") if args.rows == "-" => {
            return Err(Failure::usage("only one of the rows and the policy can come from standard input"));
        }
        Some(file) => {
            let loaded = load_policy(file)?;
            say_all(&loaded.diagnostics);
            Some(Policy::new(vec![loaded.value]))
        }
        None => None,
    };
    if args.history.history.is_some() && policy.is_none() {
        return Err(Failure::usage("--history requires --policy: each row with its own rules would count other calls"));
    }
    if args.history.history.as_deref() == Some("-") && (args.rows == "-" || args.policy.as_deref() == Some("-")) {
        return Err(Failure::usage("only one of the rows, the policy and the history can come from standard input"));
    }
    let mut after = Context::default();
    let past = match &policy {
        Some(policy) => args.history.read(policy, &mut after)?,
        None => None,
    };
    let under = Under { policy, past: past.map(|past| (past, after)) };
    let mut lines = Lines::open_lines(&args.rows)?;
    let mut code = ExitCode::SUCCESS;
    let mut named = BTreeSet::new();
    while let Some(line) = lines.next()? {
        let text = match judge_line(&line, &args.rows, &under, &mut named) {
            Ok(row) if args.json => json_line(&row)?,
            Ok(row) => format!("{}\t{}\t{}\n", visible(&row.id), row.decision, visible(&row.reason)),
            Err(why) => {
                say_all(&[why]);
                code = ExitCode::FAILURE;
                continue;
            }
        };
        if !stream_data(&text)? {
            break;
        }
    }
    Ok(code)
}

/// What the rows are evaluated with.
struct Under {
    policy: Option<Policy>,
    /// The earlier calls, with the conversation, the tenant and the time of the rows.
    past: Option<(Past, Context)>,
}

/// Reports unknown members of a row, each once.
fn say_unknown(row: &Value, place: &Place, named: &mut BTreeSet<String>) {
    let new =
        unknown_members(row).into_iter().filter(|(name, _)| named.len() < MAX_NAMED && named.insert(name.clone()));
    let said: Vec<Diagnostic> = new
        .map(|(name, near)| {
            let message = format!("unknown member `{}`", visible(&name));
            let help = match near {
                Some(near) => format!("did you mean `{near}`? Reported once for all rows"),
                None => "it has no effect; reported once for all rows".to_owned(),
            };
            Diagnostic::warning("eval-member", place.clone(), message).help(help)
        })
        .collect();
    say_all(&said);
}

fn judge_line(line: &Line, file: &str, under: &Under, named: &mut BTreeSet<String>) -> Result<Evaluated, Diagnostic> {
    let place = |column: usize| Place::file(file).line_column(line.number, column.max(1));
    let wrong = |column: usize, why: &str| {
        let help = match under.policy {
            Some(_) => "a row is an object with id, tool and args on one line; omit `rule` or --policy",
            None => "a row is an object with id, rule, tool and args on one line",
        };
        Diagnostic::error("eval-row", place(column), why).help(help)
    };
    let text = line.text.as_ref().map_err(|why| wrong(1, why))?;
    let row: Value = serde_json::from_str(text).map_err(|why| {
        let message = why.to_string();
        let (message, _) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
        Diagnostic::error("eval-row", place(why.column()), format!("not JSON: {message}"))
    })?;
    say_unknown(&row, &Place::file(file).line_column(line.number, 1), named);
    let judged = match (&under.policy, &under.past) {
        (Some(policy), after) => evaluate_under(policy, &row, after.as_ref().map(|(past, after)| (past, after))),
        (None, _) => evaluate(&row),
    };
    let mut judged = judged.map_err(|why| wrong(1, &why.to_string()))?;
    if judged.id.is_empty() {
        // Answers with the same id would be indistinguishable.
        judged.id = match row.get("id") {
            Some(id) if !id.is_string() => id.to_string(),
            _ => format!("line {}", line.number),
        };
    }
    Ok(judged)
}
