//! `skills list` and `skills instructions`.

use clap::Args;
use serde_json::json;

use super::super::output::{DIM, Outcome, emit, emit_json, grouped};
use super::super::table::table;
use super::source::surroundings;
use super::{RootArgs, say_worth, verdict_code};
use toolfold::diagnostic::{Severity, visible};
use toolfold::skill::{DiskFs, Finding, instructions as find_instructions};
use toolfold::tokens::{Encoding, Tiktoken, TokenCounter};

/// Where to search, and the output format.
#[derive(Debug, Args)]
pub(in super::super) struct ListArgs {
    #[command(flatten)]
    roots: RootArgs,

    /// A JSON array of objects
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in super::super) struct InstructionsArgs {
    /// A JSON array of objects, with the texts
    #[arg(long)]
    json: bool,
}

/// One word for both verdicts.
pub(super) fn verdict_word(finding: &Finding) -> &'static str {
    match (&finding.document.content, finding.document.rescued) {
        (None, _) => "not loaded",
        (Some(_), true) => "rescued",
        (Some(_), false) if finding.document.strict.is_empty() => "valid",
        (Some(_), false) => "loads",
    }
}

/// Tokens of a skill's line in the catalog, and of its body (o200k).
pub(super) fn costs(finding: &Finding, counter: Tiktoken) -> (usize, usize) {
    finding.document.content.as_ref().map_or((0, 0), |content| {
        let line = format!("- {}: {}\n", content.name, content.description);
        (counter.count(&line), counter.count(&content.body))
    })
}

pub(super) fn skill_name(finding: &Finding) -> String {
    let name = finding.document.content.as_ref().map(|c| c.name.clone());
    name.unwrap_or_else(|| {
        let folder = finding.file.parent().and_then(|p| p.file_name());
        folder.map_or_else(|| "?".to_owned(), |n| n.to_string_lossy().into_owned())
    })
}

pub(super) fn list_skills(args: &ListArgs) -> Outcome {
    let loaded = args.roots.discover()?;
    let counter = Tiktoken::new(Encoding::O200kBase);
    let rows: Vec<serde_json::Value> = loaded
        .value
        .findings()
        .iter()
        .map(|finding| {
            let (tokens, body) = costs(finding, counter);
            json!({
                "name": skill_name(finding),
                "description": finding.document.content.as_ref().map(|content| &content.description),
                "scope": finding.scope,
                "model": finding.document.content.as_ref().is_some_and(|c| !c.fields.disable_model_invocation),
                "verdict": verdict_word(finding),
                "tokens": tokens,
                "body_tokens": body,
                "path": finding.file.display().to_string(),
                "shadowed_by": finding.shadowed_by.as_ref().map(|p| p.display().to_string()),
                "pick_as": Some(&finding.qualified).filter(|name| !name.is_empty()),
            })
        })
        .collect();
    if args.json {
        emit_json(&rows)?;
        return Ok(verdict_code(true));
    }
    if rows.is_empty() {
        emit("No skills found. `toolfold skills new NAME` creates one.\n")?;
    } else {
        emit(&skills_page(&rows))?;
    }
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    if !errors.is_empty() {
        emit(&format!("\n{DIM}{} problems: `toolfold skills doctor` shows how to fix them{DIM:#}\n", errors.len()))?;
    }
    Ok(verdict_code(true))
}

fn skills_page(rows: &[serde_json::Value]) -> String {
    let cells = rows.iter().map(|row| {
        let text = |key: &str| visible(row.get(key).and_then(|v| v.as_str()).unwrap_or_default()).into_owned();
        let number = |key: &str| {
            let n = row.get(key).and_then(serde_json::Value::as_u64).unwrap_or_default();
            grouped(usize::try_from(n).unwrap_or(usize::MAX))
        };
        let hidden = text("shadowed_by");
        let (name, path) = match hidden.as_str() {
            "" => (text("name"), text("path")),
            hidden => (text("pick_as"), format!("{} (hidden by {hidden})", text("path"))),
        };
        [name, text("scope"), text("verdict"), number("tokens"), number("body_tokens"), path]
    });
    table(["name", "scope", "verdict", "tokens", "body", "path"], &cells.collect::<Vec<_>>())
}

pub(super) fn instructions(args: &InstructionsArgs) -> Outcome {
    let loaded = find_instructions(&DiskFs, &surroundings()?);
    say_worth(&loaded.diagnostics);
    if args.json {
        emit_json(&loaded.value)?;
        return Ok(verdict_code(true));
    }
    let counter = Tiktoken::new(Encoding::O200kBase);
    if loaded.value.is_empty() {
        emit("No instruction files apply here.\n")?;
    }
    for found in &loaded.value {
        let tokens = grouped(counter.count(&found.text));
        emit(&format!("{} {DIM}{}, {tokens} tokens{DIM:#}\n", found.file.display(), found.scope.as_str()))?;
    }
    Ok(verdict_code(true))
}
