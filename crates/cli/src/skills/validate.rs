//! `skills validate` and `skills prompt`: the reference tool's output, and verdicts as JSON.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::super::output::{Failure, Outcome, emit, emit_json, warn};
use super::verdict_code;
use toolfold::skill::{DiskFs, Folder, prompt_entry, read_folder, strict};

#[derive(Debug, Args)]
pub(in super::super) struct ValidateArgs {
    /// Skill folders, or their SKILL.md
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// Print one JSON object per skill, with the strict and the lenient verdict
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in super::super) struct PromptArgs {
    /// Skill folders, or their SKILL.md
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
}

pub(super) fn validate(args: &ValidateArgs) -> Outcome {
    let mut good = true;
    for path in &args.folders {
        let folder = read_folder(&DiskFs, path);
        let errors = &folder.document.strict;
        good &= errors.is_empty();
        if args.json {
            emit_json(&verdicts(&folder))?;
        } else if errors.is_empty() {
            emit(&format!("Valid skill: {}\n", folder.path.display()))?;
        } else {
            warn(&format!("Validation failed for {}:", folder.path.display()));
            for error in errors {
                warn(&format!("  - {error}"));
            }
        }
    }
    Ok(verdict_code(good))
}

fn verdicts(folder: &Folder) -> serde_json::Value {
    let document = &folder.document;
    let content = document.content.as_ref();
    let diagnostics: Vec<serde_json::Value> = document
        .diagnostics
        .iter()
        .map(|d| {
            json!({
                "code": d.code,
                "severity": d.severity,
                "line": d.place.line,
                "column": d.place.column,
                "message": d.message,
                "help": d.help,
            })
        })
        .collect();
    json!({
        "path": folder.path.display().to_string(),
        "strict": {"valid": document.strict.is_empty(), "errors": document.strict},
        "load": {
            "loadable": content.is_some(),
            "rescued": document.rescued,
            "name": content.map(|c| &c.name),
            "description": content.map(|c| &c.description),
            "diagnostics": diagnostics,
        },
    })
}

pub(super) fn prompt(args: &PromptArgs) -> Outcome {
    let entries: Result<Vec<_>, _> = args.folders.iter().map(|path| prompt_entry(&DiskFs, path)).collect();
    match entries {
        Ok(entries) => emit(&format!("{}\n", strict::prompt(&entries)))?,
        Err(error) => {
            warn(&format!("Error: {error}"));
            return Ok(verdict_code(false));
        }
    }
    Ok::<_, Failure>(verdict_code(true))
}
