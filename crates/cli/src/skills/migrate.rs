//! `skills migrate`: converts older skills and other agents' commands to the standard format.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that writes skill files, never over one")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;

use super::super::new_file::write_new;
use super::super::output::{Failure, Outcome, emit, say_all};
use super::verdict_code;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::skill::{
    DiskFs, Document, MAX_FILE, SkillFs, read_cloud, read_command, read_folder, resource, strict, to_standard,
};

/// The folder in which other agents store commands, and the maximum depth of the search below it.
const COMMANDS: &str = "commands";
const MAX_DEPTH: usize = 4;

#[derive(Debug, Args)]
pub(in super::super) struct MigrateArgs {
    /// A skill folder, a folder of skill folders or of old JSON skills, a folder named `commands`,
    /// or one command file
    #[arg(value_name = "DIR|FILE")]
    folder: PathBuf,

    /// Write the skills below this folder [default: beside the originals; of commands, the folder
    /// `skills` beside theirs]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,

    /// Print what would be written, without writing it
    #[arg(long)]
    dry_run: bool,
}

struct Source {
    path: PathBuf,
    kind: Kind,
    below: PathBuf,
}

enum Kind {
    /// A folder with a `SKILL.md` that is not valid in the standard.
    Folder,
    /// An old skill: one JSON document.
    Json,
    Command(String),
}

impl Source {
    /// Its text; `None` if it is not a skill, or needs no migration.
    fn read_document(&self) -> Option<Document> {
        let file = self.path.to_string_lossy();
        let document = match &self.kind {
            Kind::Folder => {
                let folder = read_folder(&DiskFs, &self.path);
                return Some(folder.document).filter(|d| folder.file.is_some() && !d.strict.is_empty());
            }
            Kind::Json => DiskFs.read(&self.path, MAX_FILE).map(|(bytes, _)| read_cloud(&bytes, &file)),
            Kind::Command(name) => {
                DiskFs.read(&self.path, MAX_FILE).map(|(bytes, _)| read_command(&bytes, &file, name))
            }
        };
        Some(document.unwrap_or_else(|why| {
            let note = Diagnostic::error("unreadable", Place::file(&file), format!("cannot be read: {why}"));
            let mut document = read_cloud(&[], &file);
            document.diagnostics = vec![note];
            document
        }))
    }
}

pub(super) fn migrate(args: &MigrateArgs) -> Outcome {
    let mut written: BTreeSet<PathBuf> = BTreeSet::new();
    let (mut problems, mut notes): (Vec<Diagnostic>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    let mut commands = 0;
    for source in sources(&args.folder, &mut notes)? {
        let Some(document) = source.read_document() else { continue };
        let Some(content) = &document.content else {
            problems.extend(document.diagnostics);
            continue;
        };
        let (name, text) = to_standard(content);
        let mut target = args.to.as_ref().unwrap_or(&source.below).join(&name);
        if target == source.path {
            // The folder's name is valid and its file is not: the new text goes next to the old
            // one.
            target.push("SKILL.standard.md");
        } else {
            target.push("SKILL.md");
        }
        let file = source.path.to_string_lossy();
        let errors = strict::validate(&text, &name);
        if !errors.is_empty() {
            let note = Diagnostic::error("migrate", Place::file(&file), errors.join("; "));
            problems.push(note.help("convert it manually"));
            continue;
        }
        if let Some(why) = refusal(&target, &text, &written, args.dry_run) {
            let message = format!("`{}` is not written: {why}", target.display());
            let note = Diagnostic::error("migrate", Place::file(&file), message);
            problems.push(note.help("move or rename one of the two: existing files are not overwritten"));
            continue;
        }
        if matches!(source.kind, Kind::Folder) && !target.starts_with(&source.path) && !args.dry_run {
            problems.extend(copy_files(&source.path, target.parent().unwrap_or(Path::new("."))));
        }
        if matches!(source.kind, Kind::Command(_)) {
            commands += 1;
            notes.extend(document.diagnostics);
        }
        let verb = if args.dry_run { "would write" } else { "wrote" };
        emit(&format!("{verb} {} from {}\n", target.display(), source.path.display()))?;
        written.insert(target);
    }
    say_all(&notes);
    say_all(&problems);
    if commands > 0 {
        emit(
            "The model can activate this skill. To allow only users to activate it, add to its `metadata`:\n  \
             disable-model-invocation: \"true\"\n",
        )?;
    }
    if written.is_empty() && problems.is_empty() {
        emit("Nothing to migrate: no commands, and no old or invalid skills found.\n")?;
    }
    Ok(verdict_code(problems.is_empty()))
}

/// Writes a skill, or returns why it was not written. A dry run finds the same reasons.
fn refusal(target: &Path, text: &str, written: &BTreeSet<PathBuf>, dry_run: bool) -> Option<String> {
    if written.contains(target) {
        return Some("another source of this run has the same name".to_owned());
    }
    if target.symlink_metadata().is_ok() {
        return Some("it already exists".to_owned());
    }
    if dry_run { None } else { write_new(target, text).err().map(|why| why.to_string()) }
}

/// Copies the other files of a skill without overwriting any; reports failures.
fn copy_files(from: &Path, to: &Path) -> Option<Diagnostic> {
    let (files, mut left) = resource::list(&DiskFs, from);
    for file in files {
        let target = to.join(&file);
        let folder = target.parent().map_or(Ok(()), std::fs::create_dir_all);
        if folder.is_err() || target.exists() || std::fs::copy(from.join(&file), &target).is_err() {
            left += 1;
        }
    }
    if left == 0 {
        return None;
    }
    let message = format!("{left} of its files were not copied");
    let note = Diagnostic::warning("migrate", Place::file(&from.to_string_lossy()), message);
    Some(note.help(format!("copy them to `{}`", to.display())))
}

/// The sources to migrate, sorted: commands if the folder has any, else skills and JSON files.
fn sources(path: &Path, notes: &mut Vec<Diagnostic>) -> Result<Vec<Source>, Failure> {
    let is_skill = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
    if path.is_file() && !is_skill {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return match kind_of(path, stem) {
            Some(kind) => Ok(vec![Source { path: path.to_owned(), kind, below: beside_commands(path) }]),
            None => Err(Failure::wrong(format!("`{}` is neither a Markdown nor a JSON file", path.display()))),
        };
    }
    let folder = read_folder(&DiskFs, path);
    if folder.file.is_some() {
        let below = folder.path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok(vec![Source { below: below.to_owned(), path: folder.path, kind: Kind::Folder }]);
    }
    // `.` has no name.
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let is_commands = whole.file_name().is_some_and(|name| name == COMMANDS);
    let commands = if is_commands { path.to_owned() } else { path.join(COMMANDS) };
    if is_commands || commands.is_dir() {
        let mut found = Vec::new();
        add_commands(&commands, "", 0, &beside(&commands), &mut found, notes)?;
        return Ok(found);
    }
    let mut found = Vec::new();
    for entry in sorted_paths(path)? {
        let kind = if entry.is_dir() { Some(Kind::Folder) } else { kind_of(&entry, String::new()) };
        if let Some(kind @ (Kind::Folder | Kind::Json)) = kind {
            found.push(Source { path: entry, kind, below: path.to_owned() });
        }
    }
    Ok(found)
}

fn kind_of(file: &Path, name: String) -> Option<Kind> {
    match file.extension().and_then(|end| end.to_str()) {
        Some("md") if file.is_file() => Some(Kind::Command(name)),
        Some("json") if file.is_file() => Some(Kind::Json),
        _ => None,
    }
}

/// Where the skill of a single file goes: for a command in `commands`, next to that folder.
fn beside_commands(file: &Path) -> PathBuf {
    let commands = file.ancestors().find(|above| above.file_name().is_some_and(|name| name == COMMANDS));
    commands.map_or_else(|| file.parent().unwrap_or(Path::new("")).to_owned(), beside)
}

fn beside(commands: &Path) -> PathBuf {
    if commands.file_name().is_none() { commands.join("../skills") } else { commands.with_file_name("skills") }
}

/// Adds the commands of a folder: `frontend/review.md` is `frontend:review`.
fn add_commands(
    folder: &Path,
    prefix: &str,
    depth: usize,
    below: &Path,
    found: &mut Vec<Source>,
    notes: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    for path in sorted_paths(folder)? {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let left_out = |why: &str| Diagnostic::note("left-out", Place::file(&path.to_string_lossy()), why);
        if path.is_dir() && !path.is_symlink() {
            if depth == MAX_DEPTH {
                notes
                    .push(left_out("the folder is nested too deeply and was not read").help("pass it as the argument"));
                continue;
            }
            add_commands(&path, &format!("{prefix}{stem}:"), depth + 1, below, found, notes)?;
        } else if stem.eq_ignore_ascii_case("readme") {
            notes.push(left_out("this is not a command; pass it as the argument if it is one"));
        } else if let Some(kind @ Kind::Command(_)) = kind_of(&path, format!("{prefix}{stem}")) {
            found.push(Source { path, kind, below: below.to_owned() });
        }
    }
    Ok(())
}

fn sorted_paths(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|why| Failure::wrong(format!("{}: {why}", folder.display())))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort_unstable();
    Ok(paths)
}
