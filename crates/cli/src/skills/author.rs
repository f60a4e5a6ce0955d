//! `skills lint`, `skills migrate` and `skills new`: for people who write skills.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that writes skill files, never over one")]

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::super::input::load_tools;
use super::super::output::{Failure, GOOD, Outcome, describe, emit, emit_json, say_all};
use super::{RootArgs, verdict};
use toolfold::catalog::Catalog;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::skill::{
    DiskFs, Vocabulary, lint as lint_skill, read_cloud, read_folder, resource, slug, strict, to_standard,
};

/// What to lint, and against which tools.
#[derive(Debug, Args)]
pub(in super::super) struct LintArgs {
    #[command(flatten)]
    roots: RootArgs,

    /// The tools that skills may name [default: the built-in Excel tools for --root skillpacks/excel, else none]
    #[arg(long, value_name = "FILE|-")]
    tools: Option<String>,

    /// Diagnostics as a JSON array
    #[arg(long)]
    json: bool,
}

/// What to migrate.
#[derive(Debug, Args)]
pub(in super::super) struct MigrateArgs {
    /// A skill folder, a folder of skill folders, or a folder of old JSON skills
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Say what would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

/// What to start.
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
    let loaded = args.roots.discover(true)?;
    let mut notes: Vec<Diagnostic> = loaded.diagnostics;
    for finding in loaded.value.findings() {
        let (Some(content), Some(skill)) = (&finding.document.content, &finding.skill) else { continue };
        let (files, more) = resource::list(&DiskFs, skill);
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
    Ok(verdict(notes.is_empty()))
}

/// Tools, and every word that their schemas use.
fn vocabulary(catalog: &Catalog) -> Vocabulary {
    let mut words = BTreeSet::new();
    for tool in catalog.iter() {
        collect(tool.parameters(), &mut words);
    }
    let tools = catalog.names().map(|n| n.as_str().to_owned()).collect();
    Vocabulary { tools, words, unreachable: BTreeSet::new() }
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

pub(super) fn migrate(args: &MigrateArgs) -> Outcome {
    let mut done = 0;
    let mut problems: Vec<Diagnostic> = Vec::new();
    for source in sources(&args.folder)? {
        let (document, beside) = if source.is_dir() {
            let folder = read_folder(&DiskFs, &source);
            if folder.file.is_none() || folder.document.strict.is_empty() {
                continue;
            }
            (folder.document, source.parent().unwrap_or(Path::new(".")).to_owned())
        } else {
            let bytes = std::fs::read(&source).map_err(|why| Failure::wrong(format!("{}: {why}", source.display())))?;
            let document = read_cloud(&bytes, &source.to_string_lossy());
            (document, source.parent().unwrap_or(Path::new(".")).to_owned())
        };
        let Some(content) = &document.content else {
            problems.extend(document.diagnostics);
            continue;
        };
        let (name, text) = to_standard(content);
        let beside = if source.is_dir() && beside.as_os_str().is_empty() { PathBuf::from(".") } else { beside };
        let mut target = beside.join(&name);
        if target == source {
            // The folder's name is right and its file is not: the new text goes beside the old one.
            target.push("SKILL.standard.md");
        } else {
            target.push("SKILL.md");
        }
        let errors = strict::validate(&text, &name);
        if !errors.is_empty() {
            let note = Diagnostic::error("migrate", Place::file(&source.to_string_lossy()), errors.join("; "));
            problems.push(note.help("write this one by hand"));
            continue;
        }
        if !args.dry_run
            && let Err(why) = write_new(&target, &text)
        {
            let note =
                Diagnostic::error("migrate", Place::file(&target.to_string_lossy()), format!("not written: {why}"));
            problems.push(note.help("move away what is there: nothing is written over"));
            continue;
        }
        done += 1;
        if source.is_dir() && !target.starts_with(&source) && !args.dry_run {
            problems.extend(copy_files(&source, target.parent().unwrap_or(Path::new("."))));
        }
        let verb = if args.dry_run { "would write" } else { "wrote" };
        emit(&format!("{verb} {} from {}\n", target.display(), source.display()))?;
    }
    say_all(&problems);
    if done == 0 && problems.is_empty() {
        emit("Nothing to migrate: no old or invalid skill there.\n")?;
    }
    Ok(verdict(problems.is_empty()))
}

/// Copies the other files of a skill, over none; says what could not be copied.
fn copy_files(from: &Path, to: &Path) -> Option<Diagnostic> {
    let (files, more) = resource::list_folder(&DiskFs, from);
    let copy = |file: &String| {
        let target = to.join(file);
        let folder = target.parent().map_or(Ok(()), std::fs::create_dir_all);
        folder.is_ok() && !target.exists() && std::fs::copy(from.join(file), &target).is_ok()
    };
    let left = files.iter().filter(|f| !copy(f)).count() + more;
    let note = || {
        Diagnostic::warning(
            "migrate",
            Place::file(&from.to_string_lossy()),
            format!("{left} of its files were not copied"),
        )
        .help(format!("copy them to `{}`", to.display()))
    };
    (left > 0).then(note)
}

/// The skill folders and JSON files of a folder, sorted; the folder itself if it is a skill.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    if read_folder(&DiskFs, folder).file.is_some() {
        return Ok(vec![folder.to_owned()]);
    }
    let entries = std::fs::read_dir(folder).map_err(|why| Failure::wrong(format!("{}: {why}", folder.display())))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.is_dir() || (p.is_file() && p.extension().is_some_and(|e| e == "json")))
        .collect();
    paths.sort();
    Ok(paths)
}

/// Writes a file that is not there yet, with its folders.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

pub(super) fn new(args: &NewArgs) -> Outcome {
    let errors = strict::validate(&format!("---\nname: {}\ndescription: x\n---\n", args.name), &args.name);
    if !errors.is_empty() || args.name.contains(['/', '\\', '\n']) {
        let better = slug(&args.name);
        return Err(Failure::wrong(format!(
            "`{}` is no name for a skill: use lower-case letters, digits and single hyphens, such as `{better}`",
            args.name
        )));
    }
    let description = args.description.as_deref().unwrap_or("What this skill does. Use when the user asks for it.");
    let body = "# Steps\n\n1. What to look at first, and with which tool.\n2. What to do, in order.\n3. How to check \
        that it worked.\n\n# Traps\n\n- What goes wrong most often, and how to notice it.";
    let content = toolfold::skill::Content {
        name: args.name.clone(),
        description: description.to_owned(),
        fields: toolfold::skill::Fields::default(),
        body: body.to_owned(),
    };
    let (name, text) = to_standard(&content);
    let path = args.dir.join(name).join("SKILL.md");
    write_new(&path, &text).map_err(|why| Failure::wrong(format!("{}: not written: {why}", path.display())))?;
    emit(&format!("wrote {}\n", path.display()))?;
    Ok(verdict(true))
}
