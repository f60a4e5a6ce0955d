//! `skills list` and `skills instructions`.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::output::{DIM, Outcome, emit, emit_json, grouped};
use super::super::table::table;
use super::source::surroundings;
use super::{RootArgs, say_worth, verdict_code};
use toolfold::diagnostic::{Severity, visible};
use toolfold::skill::{DiskFs, Finding, Scope, instructions as find_instructions};
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

/// A skill in `toolfold skills list --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in super::super) struct SkillRow {
    /// Its name.
    name: String,
    /// Its description, as the model reads it; null if it does not load.
    description: Option<String>,
    /// The scope of its folder.
    scope: Scope,
    /// Whether the model may activate it.
    model: bool,
    /// `valid`, `loads` (with problems), `rescued` (from invalid YAML) or `not loaded`.
    verdict: &'static str,
    /// The tokens of its line in the list of skills (o200k).
    tokens: usize,
    /// The tokens of its body (o200k).
    body_tokens: usize,
    /// The file.
    path: String,
    /// The file of the skill with the same name that is used instead.
    shadowed_by: Option<String>,
    /// The name that selects it, if another skill has its name.
    pick_as: Option<String>,
}

impl SkillRow {
    pub(super) fn new(finding: &Finding, counter: Tiktoken) -> Self {
        let (tokens, body_tokens) = costs(finding, counter);
        Self {
            name: skill_name(finding),
            description: finding.document.content.as_ref().map(|content| content.description.clone()),
            scope: finding.scope,
            model: finding.document.content.as_ref().is_some_and(|own| !own.fields.disable_model_invocation),
            verdict: verdict_word(finding),
            tokens,
            body_tokens,
            path: finding.file.display().to_string(),
            shadowed_by: finding.shadowed_by.as_ref().map(|path| path.display().to_string()),
            pick_as: Some(&finding.qualified).filter(|name| !name.is_empty()).cloned(),
        }
    }

    fn cells(&self) -> [String; 6] {
        let [name, path] = [&self.name, &self.path].map(|text| visible(text).into_owned());
        let (name, path) = match &self.shadowed_by {
            None => (name, path),
            Some(hidden) => {
                let pick = self.pick_as.as_deref().unwrap_or_default();
                (visible(pick).into_owned(), format!("{path} (hidden by {})", visible(hidden)))
            }
        };
        let (tokens, body) = (grouped(self.tokens), grouped(self.body_tokens));
        [name, self.scope.as_str().to_owned(), self.verdict.to_owned(), tokens, body, path]
    }
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
    finding.skill.as_ref().map_or((0, 0), |skill| {
        let line = format!("- {}: {}\n", skill.name(), skill.description());
        (counter.count(&line), counter.count(skill.body()))
    })
}

pub(super) fn skill_name(finding: &Finding) -> String {
    let name = finding.skill.as_ref().map(|skill| skill.name().to_owned());
    name.unwrap_or_else(|| {
        let folder = finding.file.parent().and_then(|p| p.file_name());
        folder.map_or_else(|| "?".to_owned(), |n| n.to_string_lossy().into_owned())
    })
}

pub(super) fn list_skills(args: &ListArgs) -> Outcome {
    let loaded = args.roots.discover()?;
    let counter = Tiktoken::new(Encoding::O200kBase);
    let rows: Vec<SkillRow> = loaded.value.findings().iter().map(|own| SkillRow::new(own, counter)).collect();
    if args.json {
        emit_json(&rows)?;
        return Ok(verdict_code(true));
    }
    if rows.is_empty() {
        emit("No skills found. `toolfold skills new NAME` creates one.\n")?;
    } else {
        let cells: Vec<[String; 6]> = rows.iter().map(SkillRow::cells).collect();
        emit(&table(["name", "scope", "verdict", "tokens", "body", "path"], &cells))?;
    }
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    if !errors.is_empty() {
        emit(&format!("\n{DIM}{} problems: `toolfold skills doctor` shows how to fix them{DIM:#}\n", errors.len()))?;
    }
    Ok(verdict_code(true))
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
