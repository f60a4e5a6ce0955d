//! The files beside a `SKILL.md`: listed by name, read one at a time, never from outside the
//! folder.

use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};

use super::document::did_you_mean;
use super::fs::{FsError, Kind, SkillFs};
use super::library::Skill;
use crate::diagnostic::InvalidValue;
use crate::name::nearest;

/// The maximum number of names in a resource list.
pub(crate) const MAX_LISTED: usize = 60;
/// The maximum number of characters returned for a resource.
pub(crate) const MAX_RESOURCE_CHARS: usize = 60_000;
/// The maximum size of a resource file, in bytes.
pub(crate) const MAX_RESOURCE_BYTES: usize = 4 << 20;

/// The files of a skill's folder, relative and sorted, at most 60, and the number of
/// further files. Excludes hidden names, links and the `SKILL.md` itself.
#[must_use]
pub fn list(fs: &dyn SkillFs, root: &Path) -> (Vec<String>, usize) {
    if root.as_os_str().is_empty() {
        return (Vec::new(), 0);
    }
    let mut files = Vec::new();
    let mut queue = VecDeque::from([(PathBuf::new(), 0)]);
    let mut budget = 2_000_usize;
    while let Some((folder, depth)) = queue.pop_front() {
        let Ok(entries) = fs.list(&root.join(&folder), budget) else { continue };
        budget = budget.saturating_sub(entries.len());
        for entry in entries {
            let hidden = entry.name.to_string_lossy().starts_with('.') || entry.name == "node_modules";
            let path = folder.join(&entry.name);
            match entry.kind {
                _ if hidden || entry.link => {}
                Some(Kind::File) => files.push(path.to_string_lossy().replace('\\', "/")),
                Some(Kind::Folder) if depth < 4 => queue.push_back((path, depth + 1)),
                Some(Kind::Folder | Kind::Other) | None => {}
            }
        }
    }
    files.retain(|f| !f.eq_ignore_ascii_case("skill.md"));
    files.sort();
    let more = files.len().saturating_sub(MAX_LISTED);
    files.truncate(MAX_LISTED);
    (files, more)
}

/// The text of one file, cut after 60,000 characters with a line that reports it.
///
/// # Errors
/// Returns an [`InvalidValue`] if the path leaves the folder, is missing, is not text or cannot be
/// read. The message tells the model what to do instead.
pub fn read(fs: &dyn SkillFs, skill: &Skill, path: &str) -> Result<String, InvalidValue> {
    let strange = path.contains(['\\', '\0', ':']) || path.trim().is_empty() || path.len() > 1_024;
    let mut parts = Path::new(path).components();
    if strange || !parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(InvalidValue::from(format!(
            "`{path}` is not inside the skill's folder: use a relative path without `..`"
        )));
    }
    let root = &skill.origin.folder;
    if root.as_os_str().is_empty() {
        return Err(unknown_file(path, &[]));
    }
    let real = match fs.canonical(&root.join(path)) {
        Ok(real) => real,
        Err(FsError::NotFound) => {
            let (files, _) = list(fs, &skill.origin.folder);
            let near: Vec<String> =
                nearest(path, files.iter().map(String::as_str), 3).into_iter().map(str::to_owned).collect();
            return Err(unknown_file(path, &near));
        }
        Err(error) => return Err(unreadable(path, &error)),
    };
    if !real.starts_with(root) {
        return Err(InvalidValue::from(format!("`{path}` is a link out of the skill's folder")));
    }
    let (bytes, _) = fs.read(&real, MAX_RESOURCE_BYTES).map_err(|e| unreadable(path, &e))?;
    let text = String::from_utf8(bytes).map_err(|_| not_text(path))?;
    if text.contains('\0') {
        return Err(not_text(path));
    }
    let Some((end, _)) = text.char_indices().nth(MAX_RESOURCE_CHARS) else { return Ok(text) };
    let shown = text.get(..end).unwrap_or_default();
    let left = text.get(end..).map_or(0, |rest| rest.chars().count());
    Ok(format!("{shown}\n[cut here: {left} more characters]"))
}

fn unreadable(path: &str, reason: &FsError) -> InvalidValue {
    format!("`{path}` cannot be read: {reason}").into()
}

fn not_text(path: &str) -> InvalidValue {
    format!("`{path}` is not text; use it by its path in the skill's folder").into()
}

fn unknown_file(path: &str, near: &[String]) -> InvalidValue {
    format!("unknown file `{path}`{}", did_you_mean(near)).into()
}
