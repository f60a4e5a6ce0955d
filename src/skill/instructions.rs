//! `AGENTS.md` and its kin: instructions that hold for a whole project or user, found by the same walk as skills.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::document::ContentHash;
use super::fs::{FsError, Kind, SkillFs};
use super::roots::{Scope, Surroundings, levels};
use super::walk::place;
use crate::diagnostic::{Diagnostic, Loaded};

/// The largest instruction file that is read, in bytes.
pub const MAX_INSTRUCTIONS: usize = 256 << 10;

/// One instruction file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Instructions {
    /// Where it lies.
    pub file: PathBuf,
    /// `user` for the global ones, `project` for the rest.
    pub scope: Scope,
    /// How many folders above the working directory; 0 for the working directory and the global ones.
    pub level: usize,
    /// Its text, without a BOM, newlines as `\n`.
    pub text: String,
    /// The hash of its bytes.
    pub hash: ContentHash,
}

/// The files of one level, in order.
const PER_LEVEL: [&str; 6] =
    ["AGENTS.md", ".toolfold/AGENTS.md", ".agents/AGENTS.md", ".opencode/AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"];

/// All instruction files, the general before the specific: first the global ones, then from the outermost level (the
/// one with `.git`) to the working directory. A file that is there twice through links counts once, at its first place.
pub fn instructions(fs: &dyn SkillFs, around: &Surroundings) -> Loaded<Vec<Instructions>> {
    let mut candidates: Vec<(PathBuf, Scope, usize)> = Vec::new();
    let config = around.config_folder();
    let global = [
        config.as_ref().map(|c| c.join("toolfold/AGENTS.md")),
        around.home.as_ref().map(|h| h.join(".agents/AGENTS.md")),
        around.home.as_ref().map(|h| h.join(".claude/CLAUDE.md")),
        config.as_ref().map(|c| c.join("opencode/AGENTS.md")),
    ];
    candidates.extend(global.into_iter().flatten().map(|path| (path, Scope::User, 0)));
    for (level, folder) in levels(fs, around).iter().enumerate().rev() {
        candidates.extend(PER_LEVEL.iter().map(|name| (folder.join(name), Scope::Project, level)));
    }
    let mut found: Vec<Instructions> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut diagnostics = Vec::new();
    for (file, scope, level) in candidates {
        match read(fs, &file, &mut seen) {
            Ok(None) => {}
            Ok(Some((text, hash))) => found.push(Instructions { file, scope, level, text, hash }),
            Err(error) => {
                let note = Diagnostic::warning("unreadable", place(&file), format!("cannot be read: {error}"));
                diagnostics.push(note.help("it was left out; mend it or take it away"));
            }
        }
    }
    Loaded { value: found, diagnostics }
}

fn read(fs: &dyn SkillFs, file: &Path, seen: &mut Vec<PathBuf>) -> Result<Option<(String, ContentHash)>, FsError> {
    let look = match fs.look(file) {
        Ok(look) => look,
        Err(FsError::NotFound) => return Ok(None),
        Err(error) => return Err(error),
    };
    if look.kind != Kind::File {
        return Err(FsError::NotRegular);
    }
    let real = fs.canonical(file)?;
    if seen.contains(&real) {
        return Ok(None);
    }
    seen.push(real);
    let (bytes, _) = fs.read(file, MAX_INSTRUCTIONS)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    Ok(Some((text, ContentHash::of(&bytes))))
}
