//! `skills validate` and `skills prompt`: the reference tool's output, and verdicts as JSON.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::output::{Failure, Outcome, emit, emit_json, warn};
use super::verdict_code;
use toolfold::diagnostic::{Diagnostic, Severity};
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
            emit_json(&Verdicts::new(folder))?;
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

/// A line of `toolfold skills validate --json`: both verdicts on a skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(in super::super) struct Verdicts {
    /// The skill's folder.
    path: String,
    strict: StrictVerdict,
    load: LoadVerdict,
}

/// The verdict of the standard's validator.
#[derive(Debug, Serialize, JsonSchema)]
struct StrictVerdict {
    valid: bool,
    errors: Vec<String>,
}

/// Whether the skill can be used.
#[derive(Debug, Serialize, JsonSchema)]
struct LoadVerdict {
    loadable: bool,
    /// Whether its YAML is invalid and was read nevertheless.
    rescued: bool,
    name: Option<String>,
    description: Option<String>,
    diagnostics: Vec<FileDiagnostic>,
}

/// A problem of the skill's file.
#[derive(Debug, Serialize, JsonSchema)]
struct FileDiagnostic {
    code: &'static str,
    severity: Severity,
    line: Option<usize>,
    column: Option<usize>,
    message: String,
    help: Option<String>,
}

impl Verdicts {
    fn new(folder: Folder) -> Self {
        let document = folder.document;
        let diagnostic = |own: Diagnostic| FileDiagnostic {
            code: own.code,
            severity: own.severity,
            line: own.place.line,
            column: own.place.column,
            message: own.message,
            help: own.help,
        };
        let content = document.content;
        let (name, description) = content.as_ref().map(|own| (own.name.clone(), own.description.clone())).unzip();
        Self {
            path: folder.path.display().to_string(),
            strict: StrictVerdict { valid: document.strict.is_empty(), errors: document.strict },
            load: LoadVerdict {
                loadable: content.is_some(),
                rescued: document.rescued,
                name,
                description,
                diagnostics: document.diagnostics.into_iter().map(diagnostic).collect(),
            },
        }
    }
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
