//! `toolfold policy diff`: compares two policies by the calls that they decide differently.

use std::process::ExitCode;

use clap::Args;

use super::super::layers::load_policy;
use super::super::output::{BOLD, Failure, GOOD, Outcome, emit, emit_json, progress, say_all};
use super::super::table::table;
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold::policy::{ChangedDecision, Policy, PolicyFile};

/// The number of rules of both policies above which a comparison takes seconds.
const MANY_RULES: usize = 1_000;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The older policy: a file, `-`, or excel for the built-in one
    #[arg(value_name = "OLDER")]
    older: String,

    /// The newer policy
    #[arg(value_name = "NEWER")]
    newer: String,

    /// The differences as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn compare(args: &CompareArgs) -> Outcome {
    if args.older == "-" && args.newer == "-" {
        return Err(Failure::usage("only one of the two policies can come from standard input"));
    }
    let [older, newer] = [read(&args.older)?, read(&args.newer)?];
    let rules: usize = [&older, &newer].iter().flat_map(|policy| policy.files()).map(|file| file.rules.len()).sum();
    if rules > MANY_RULES {
        progress(&format!("comparing {rules} rules: this takes up to a minute"));
    }
    let compared = older.compare(&newer);
    if args.json {
        emit_json(&compared)?;
    } else {
        let mut out = String::new();
        if compared.cut {
            out.push_str("not every call was tried: the policies have too many rules\n");
        }
        for (title, changes) in [("looser", &compared.looser), ("stricter", &compared.stricter)] {
            if changes.is_empty() {
                continue;
            }
            let mut rows = Vec::new();
            for ChangedDecision { tool, call, before, after, by, .. } in changes {
                let [tool, call, by] = [tool, call, by].map(|text| visible(text).into_owned());
                rows.push([before.to_string(), after.to_string(), tool, call, by]);
            }
            out.push_str(&format!(
                "{BOLD}{title}{BOLD:#}\n{}\n",
                table(["before", "after", "tool", "such as", "by"], &rows)
            ));
        }
        let tried = compared.tried;
        out.push_str(&match (compared.looser.len(), compared.stricter.len()) {
            (0, 0) => format!("{GOOD}ok{GOOD:#} both decide {tried} calls alike\n"),
            (0, stricter) => format!("{GOOD}ok{GOOD:#} nothing is looser in {tried} calls, {stricter} stricter\n"),
            (looser, stricter) => format!("{looser} looser and {stricter} stricter in {tried} calls\n"),
        });
        emit(&out)?;
    }
    Ok(if compared.looser.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read(name: &str) -> Result<Policy, Failure> {
    let loaded = load_policy(name)?;
    say_all(&loaded.diagnostics);
    Ok(Policy::new(vec![loaded.value]))
}

/// An error for each kind of call that a policy decides less strictly than an older one.
pub(super) fn looser_than(older: &str, newer: &PolicyFile) -> Result<Vec<Diagnostic>, Failure> {
    let compared = read(older)?.compare(&Policy::new(vec![newer.clone()]));
    let mut found = Vec::new();
    for ChangedDecision { tool, call, before, after, by, .. } in &compared.looser {
        let [tool, call, by] = [tool, call, by].map(|text| visible(text));
        let message = format!("`{tool}` is decided less strictly: {before} before, {after} now, such as for `{call}`");
        found
            .push(Diagnostic::error("policy-looser", Place::file(&newer.source.0), message).help(format!("now: {by}")));
    }
    Ok(found)
}
