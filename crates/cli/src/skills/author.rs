//! `skills lint` and `skills new`: for people who write skills.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the skills that it lints")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::super::input::load_tools;
use super::super::new_file::create;
use super::super::output::{Failure, GOOD, Outcome, describe, emit, emit_json};
use super::{RootArgs, settings, verdict_code};
use toolfold::catalog::Catalog;
use toolfold::diagnostic::Diagnostic;
use toolfold::skill::{DiskFs, Vocabulary, lint as lint_skill, resource, slug, strict, to_standard};

#[derive(Debug, Args)]
pub(in super::super) struct LintArgs {
    #[command(flatten)]
    roots: RootArgs,

    /// The tools that skills may name [default: the built-in Excel tools for --root
    /// skillpacks/excel, else none]
    #[arg(long, value_name = "FILE|-")]
    tools: Option<String>,

    /// Diagnostics as a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in super::super) struct NewArgs {
    /// The skill's name: lower-case letters, digits and single hyphens
    #[arg(value_name = "NAME")]
    name: String,

    /// The folder to put it in
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// What it does and when to use it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

pub(super) fn lint(args: &LintArgs) -> Outcome {
    let vocabulary = match &args.tools {
        Some(file) => Some(vocabulary(&load_tools(Some(file), None)?.0)),
        None if args.roots.root.iter().any(|r| r.ends_with("skillpacks/excel")) => {
            Some(vocabulary(&load_tools(None, None)?.0))
        }
        None => None,
    };
    let loaded = args.roots.found(&settings()?)?;
    let mut notes: Vec<Diagnostic> = loaded.diagnostics;
    for finding in loaded.value.findings() {
        let (Some(content), Some(skill)) = (&finding.document.content, &finding.skill) else { continue };
        let (files, more) = resource::list(&DiskFs, &skill.origin.folder);
        let files = (more == 0).then_some(files.as_slice());
        let file = finding.file.to_string_lossy();
        let text = std::fs::read_to_string(&finding.file).unwrap_or_default();
        let before = text.find(content.body.lines().next().unwrap_or_default()).unwrap_or_default();
        let body_line = text.get(..before).map_or(0, |t| t.matches('\n').count());
        notes.extend(lint_skill(content, &file, files, vocabulary.as_ref(), body_line));
    }
    if args.json {
        emit_json(&notes)?;
    } else {
        let text: String = notes.iter().map(|d| describe(d) + "\n").collect();
        let count = loaded.value.findings().len();
        emit(&if notes.is_empty() { format!("{GOOD}ok{GOOD:#} {count} skills\n") } else { text })?;
    }
    Ok(verdict_code(notes.is_empty()))
}

/// The tools, and every word in their schemas.
fn vocabulary(catalog: &Catalog) -> Vocabulary {
    let mut words = BTreeSet::new();
    for tool in catalog.iter() {
        collect(tool.parameters(), &mut words);
    }
    let mut vocabulary = Vocabulary::default();
    vocabulary.tools = catalog.names().map(|n| n.as_str().to_owned()).collect();
    vocabulary.words = words;
    vocabulary
}

fn collect(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            words.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|v| collect(v, words)),
        Value::Object(map) => {
            for (key, value) in map {
                words.insert(key.clone());
                collect(value, words);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub(super) fn new(args: &NewArgs) -> Outcome {
    let errors = strict::validate(&format!("---\nname: {}\ndescription: x\n---\n", args.name), &args.name);
    if !errors.is_empty() || args.name.contains(['/', '\\', '\n']) {
        let better = slug(&args.name);
        return Err(Failure::wrong(format!(
            "`{}` is not a valid name for a skill: use lower-case letters, digits and single hyphens, such as `{better}`",
            args.name
        )));
    }
    let description = args.description.as_deref().unwrap_or("What this skill does. Use when the user asks for it.");
    let body = "# Steps\n\n1. What to look at first, and with which tool.\n2. What to do, in order.\n3. How to check \
        that it worked.\n\n# Traps\n\n- What goes wrong most often, and how to notice it.";
    let content = toolfold::skill::Content::new(&args.name, description, body);
    let (name, text) = to_standard(&content);
    let path = args.dir.join(name).join("SKILL.md");
    create(&path, &text)?;
    emit(&format!("wrote {}\n", path.display()))?;
    Ok(verdict_code(true))
}
