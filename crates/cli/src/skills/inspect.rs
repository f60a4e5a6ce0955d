//! `skills list`, `skills doctor` and `skills instructions`.

use clap::Args;
use serde_json::json;

use super::super::output::{BOLD, DIM, GOOD, Outcome, describe, emit, emit_json, grouped};
use super::super::table::table;
use super::{RootArgs, say_worth, surroundings, verdict};
use toolfold::diagnostic::{Severity, visible};
use toolfold::skill::{
    Caller, DiskFs, Finding, Permissions, SkillView, activate_tool, instructions as find_instructions,
};
use toolfold::tokens::{Encoding, Tiktoken, TokenCounter};

/// Where to look, and how to print.
#[derive(Debug, Args)]
pub(in super::super) struct ListArgs {
    #[command(flatten)]
    roots: RootArgs,

    /// A JSON array of objects
    #[arg(long)]
    json: bool,
}

/// Where to look.
#[derive(Debug, Args)]
pub(in super::super) struct DoctorArgs {
    #[command(flatten)]
    roots: RootArgs,

    /// A JSON object
    #[arg(long)]
    json: bool,
}

/// How to print.
#[derive(Debug, Args)]
pub(in super::super) struct InstructionsArgs {
    /// A JSON array of objects, with the texts
    #[arg(long)]
    json: bool,
}

/// One word for both verdicts.
fn word(finding: &Finding) -> &'static str {
    match (&finding.document.content, finding.document.rescued) {
        (None, _) => "not loaded",
        (Some(_), true) => "rescued",
        (Some(_), false) if finding.document.strict.is_empty() => "valid",
        (Some(_), false) => "loads",
    }
}

/// Tokens of a skill's line in the catalogue, and of its body (o200k).
fn costs(finding: &Finding, counter: Tiktoken) -> (usize, usize) {
    finding.document.content.as_ref().map_or((0, 0), |content| {
        let line = format!("- {}: {}\n", content.name, content.description);
        (counter.count(&line), counter.count(&content.body))
    })
}

fn name(finding: &Finding) -> String {
    let name = finding.document.content.as_ref().map(|c| c.name.clone());
    name.unwrap_or_else(|| {
        let folder = finding.file.parent().and_then(|p| p.file_name());
        folder.map_or_else(|| "?".to_owned(), |n| n.to_string_lossy().into_owned())
    })
}

pub(super) fn list(args: &ListArgs) -> Outcome {
    let loaded = args.roots.discover(true)?;
    let counter = Tiktoken::new(Encoding::O200kBase);
    let rows: Vec<serde_json::Value> = loaded
        .value
        .findings()
        .iter()
        .map(|finding| {
            let (tokens, body) = costs(finding, counter);
            json!({
                "name": name(finding),
                "scope": finding.scope,
                "verdict": word(finding),
                "tokens": tokens,
                "body_tokens": body,
                "path": finding.file.display().to_string(),
                "shadowed_by": finding.shadowed_by.as_ref().map(|p| p.display().to_string()),
            })
        })
        .collect();
    if args.json {
        emit_json(&rows)?;
        return Ok(verdict(true));
    }
    if rows.is_empty() {
        emit("No skills found. `toolfold skills new NAME` starts one.\n")?;
    } else {
        emit(&page(&rows))?;
    }
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    if !errors.is_empty() {
        emit(&format!(
            "\n{DIM}{} problems: `toolfold skills doctor` says what to do about them{DIM:#}\n",
            errors.len()
        ))?;
    }
    Ok(verdict(true))
}

fn page(rows: &[serde_json::Value]) -> String {
    let cells = rows.iter().map(|row| {
        let text = |key: &str| visible(row.get(key).and_then(|v| v.as_str()).unwrap_or_default()).into_owned();
        let number = |key: &str| {
            let n = row.get(key).and_then(serde_json::Value::as_u64).unwrap_or_default();
            grouped(usize::try_from(n).unwrap_or(usize::MAX))
        };
        let hidden = text("shadowed_by");
        let path = if hidden.is_empty() { text("path") } else { format!("{} (hidden by {hidden})", text("path")) };
        [text("name"), text("scope"), text("verdict"), number("tokens"), number("body_tokens"), path]
    });
    table(["name", "scope", "verdict", "tokens", "body", "path"], &cells.collect::<Vec<_>>())
}

pub(super) fn doctor(args: &DoctorArgs) -> Outcome {
    let loaded = args.roots.discover(true)?;
    let library = &loaded.value;
    let counter = Tiktoken::new(Encoding::O200kBase);
    let bad = loaded.diagnostics.iter().any(|d| d.severity == Severity::Error);
    let view = SkillView::new(library, &Permissions::default(), Caller::Model);
    let tool = activate_tool(&view, toolfold::skill::Budget::default());
    let catalog_tokens = tool.map_or(0, |t| counter.count(&t.description));
    if args.json {
        let files: Vec<serde_json::Value> = library
            .findings()
            .iter()
            .map(|f| {
                json!({
                    "name": name(f), "path": f.file.display().to_string(), "scope": f.scope, "verdict": word(f),
                    "strict": f.document.strict, "shadowed_by": f.shadowed_by.as_ref().map(|p| p.display().to_string()),
                    "tokens": costs(f, counter).0, "body_tokens": costs(f, counter).1,
                })
            })
            .collect();
        emit_json(
            &json!({"ok": !bad, "catalog_tokens": catalog_tokens, "skills": files, "diagnostics": loaded.diagnostics}),
        )?;
        return Ok(verdict(!bad));
    }
    let mut out = format!("{BOLD}Looked in{BOLD:#}\n");
    for root in library.roots() {
        let mark = if root.path.exists() { "" } else { " (absent)" };
        let trust = if root.trusted { "" } else { ", not trusted" };
        out.push_str(&format!("  {} {DIM}{}{trust}{mark}{DIM:#}\n", root.path.display(), root.scope.as_str()));
    }
    let mut remaining: Vec<&toolfold::diagnostic::Diagnostic> = loaded.diagnostics.iter().collect();
    for finding in library.findings() {
        let (line, body) = costs(finding, counter);
        let file = finding.file.to_string_lossy().into_owned();
        let word = word(finding);
        let style = if word == "valid" { GOOD } else { BOLD };
        out.push_str(&format!("\n{BOLD}{}{BOLD:#} {style}{word}{style:#}", visible(&name(finding))));
        if finding.document.content.is_some() {
            out.push_str(&format!(" {DIM}{line} tokens listed, {} when active{DIM:#}", grouped(body)));
        }
        out.push_str(&format!("\n  {}\n", visible(&file)));
        let own = |d: &&toolfold::diagnostic::Diagnostic| d.place.file.as_deref() == Some(file.as_str());
        for diagnostic in remaining.iter().filter(|d| own(d)) {
            out.push_str(&format!("  {}\n", describe(diagnostic).replace('\n', "\n  ")));
        }
        remaining.retain(|d| !own(d));
        if finding.document.content.is_some() {
            for error in &finding.document.strict {
                let error = error.lines().next().unwrap_or_default();
                out.push_str(&format!("  {DIM}the standard's validator says: {}{DIM:#}\n", visible(error)));
            }
        }
    }
    if !remaining.is_empty() {
        out.push_str(&format!("\n{BOLD}Besides{BOLD:#}\n"));
        for diagnostic in remaining {
            out.push_str(&format!("  {}\n", describe(diagnostic).replace('\n', "\n  ")));
        }
    }
    let (all, active) = (library.findings().len(), library.skills().len());
    let lost = library.findings().iter().filter(|f| f.document.content.is_none()).count();
    let hidden = library.findings().iter().filter(|f| f.shadowed_by.is_some()).count();
    out.push_str(&format!(
        "\n{BOLD}{all} found{BOLD:#}: {active} usable, {hidden} hidden by another of the same name, {lost} not loaded.\n\
         Listing them costs {} tokens in `activate_skill`.\n",
        grouped(catalog_tokens)
    ));
    emit(&out)?;
    Ok(verdict(!bad))
}

pub(super) fn instructions(args: &InstructionsArgs) -> Outcome {
    let loaded = find_instructions(&DiskFs, &surroundings()?);
    say_worth(&loaded.diagnostics);
    if args.json {
        emit_json(&loaded.value)?;
        return Ok(verdict(true));
    }
    let counter = Tiktoken::new(Encoding::O200kBase);
    if loaded.value.is_empty() {
        emit("No instruction files hold here.\n")?;
    }
    for found in &loaded.value {
        let tokens = grouped(counter.count(&found.text));
        emit(&format!("{} {DIM}{}, {tokens} tokens{DIM:#}\n", found.file.display(), found.scope.as_str()))?;
    }
    Ok(verdict(true))
}
