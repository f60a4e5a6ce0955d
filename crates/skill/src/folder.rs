//! A skill folder given by the user: the input of `validate`, `prompt` and `migrate`.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::document::{Document, MAX_FILE};
use super::fs::{FsError, Kind, SkillFs};
use super::strict::{self, StrictProperties};
use super::walk::place;
use crate::diagnostic::{Diagnostic, InvalidValue};

/// A folder with both verdicts on its skill.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Folder {
    /// The folder as the reference prints it (`a//b/.` is `a/b`).
    pub path: PathBuf,
    /// The file of the skill, if there is one.
    pub file: Option<PathBuf>,
    /// Both verdicts.
    pub document: Document,
}

/// Reads the skill of a folder. A path to the `SKILL.md` itself refers to its folder.
#[must_use]
pub fn read_folder(fs: &dyn SkillFs, path: &Path) -> Folder {
    let path = normal(path);
    let look = match fs.look(&path) {
        Ok(look) => look,
        Err(FsError::NotFound) => {
            let strict = format!("Path does not exist: {}", path.display());
            return missing(path, strict, "no-such-path", "check the path");
        }
        Err(error) => {
            let strict = format!("Path cannot be read: {}: {error}", path.display());
            return missing(path, strict, "unreadable", "check its permissions");
        }
    };
    let path = match look.kind {
        Kind::Folder => path,
        Kind::File if path.file_name().is_some_and(is_skill_md) => normal(path.parent().unwrap_or(Path::new("."))),
        Kind::File | Kind::Other => {
            let strict = format!("Not a directory: {}", path.display());
            return missing(path, strict, "not-a-folder", "name the folder that holds the SKILL.md");
        }
    };
    let standard = ["SKILL.md", "skill.md"].map(|name| path.join(name)).into_iter().find(|f| fs.look(f).is_ok());
    let Some(file) = standard.clone().or_else(|| other_spelling(fs, &path)) else {
        let help = "put a SKILL.md there, or name a folder that has one";
        return missing(path, "Missing required file: SKILL.md".to_owned(), "no-skill-file", help);
    };
    let label = file.to_string_lossy().into_owned();
    let mut document = match fs.read(&file, MAX_FILE) {
        Ok((bytes, _)) => Document::read(&bytes, &label, &folder_name(&path)),
        Err(FsError::TooLarge(most)) => {
            let message = format!("the file has more than the {most} bytes that are read");
            let note = Diagnostic::error("file-too-large", place(&file), message);
            Document::refused(&[], note.help("move details into separate files beside it"))
        }
        Err(error) => {
            let note = Diagnostic::error("unreadable", place(&file), format!("cannot be read: {error}"));
            Document::refused(&[], note.help("replace it with a readable text file"))
        }
    };
    if standard.is_none() {
        document.strict = vec!["Missing required file: SKILL.md".to_owned()];
        let message = "the file's name is not spelled `SKILL.md`; other readers do not find it";
        document
            .diagnostics
            .insert(0, Diagnostic::warning("file-name", place(&file), message).help("rename it to `SKILL.md`"));
    }
    Folder { path, file: Some(file), document }
}

/// What the reference's `to-prompt` prints for a folder: name, description and the absolute path of
/// its file.
///
/// # Errors
/// Returns an [`InvalidValue`] with the reference's message.
pub fn prompt_entry(fs: &dyn SkillFs, path: &Path) -> Result<(StrictProperties, String), InvalidValue> {
    let folder = read_folder(fs, path);
    let real = fs.canonical(&folder.path).unwrap_or_else(|_| folder.path.clone());
    let name = folder.file.as_deref().and_then(Path::file_name).unwrap_or_default();
    if !["SKILL.md", "skill.md"].iter().any(|n| name == *n) {
        return Err(InvalidValue::from(format!("SKILL.md not found in {}", real.display())));
    }
    let file = real.join(name);
    let (bytes, _) = fs.read(&file, MAX_FILE).map_err(|e| InvalidValue::from(format!("{}: {e}", file.display())))?;
    let properties = strict::properties(&strict::decode(&bytes)?)?;
    Ok((properties, file.to_string_lossy().into_owned()))
}

fn other_spelling(fs: &dyn SkillFs, folder: &Path) -> Option<PathBuf> {
    let mut entries = fs.list(folder, 20_000).ok()?;
    entries.sort_by_cached_key(|entry| entry.name.clone());
    Some(folder.join(&entries.iter().find(|entry| is_skill_md(&entry.name))?.name))
}

pub(super) fn is_skill_md(name: &OsStr) -> bool {
    name.to_string_lossy().eq_ignore_ascii_case("skill.md")
}

/// A folder whose skill cannot be read, with the strict verdict.
fn missing(path: PathBuf, strict: String, code: &'static str, help: &str) -> Folder {
    let note = Diagnostic::error(code, place(&path), strict.to_lowercase()).help(help);
    let document = Document { strict: vec![strict], ..Document::refused(&[], note) };
    Folder { path, file: None, document }
}

/// The last component as returned by Python's `Path.name`: empty for `.` and `/`, `..` for `..`.
fn folder_name(path: &Path) -> String {
    match path.components().next_back() {
        Some(Component::Normal(name)) => name.to_string_lossy().into_owned(),
        Some(Component::ParentDir) => "..".to_owned(),
        _ => String::new(),
    }
}

/// A path as Python's `Path` prints it: without empty and `.` components; the empty path is `.`.
fn normal(path: &Path) -> PathBuf {
    let normal: PathBuf = path.components().filter(|c| !matches!(c, Component::CurDir)).collect();
    if normal.as_os_str().is_empty() { PathBuf::from(".") } else { normal }
}
