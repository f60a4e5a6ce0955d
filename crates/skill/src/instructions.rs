//! `AGENTS.md` and similar files: instructions for a whole project or user, found in the same
//! folders as skills.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::document::ContentHash;
use super::fs::{FsError, Kind, SkillFs};
use super::roots::{Scope, Surroundings, levels};
use super::walk::place;
use crate::diagnostic::{Diagnostic, Loaded};

/// The maximum size of an instruction file, in bytes.
pub(crate) const MAX_INSTRUCTIONS: usize = 256 << 10;

/// An instruction file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Instructions {
    /// The path of the file.
    pub file: PathBuf,
    /// `user` for global files, `project` for others.
    pub scope: Scope,
    /// The number of folders above the working directory; 0 for the working directory and for
    /// global files.
    pub level: usize,
    /// The text without a BOM, with newlines as `\n`.
    pub text: String,
    /// The hash of the file's bytes.
    pub hash: ContentHash,
}

const PER_LEVEL: [&str; 6] =
    ["AGENTS.md", ".toolfold/AGENTS.md", ".agents/AGENTS.md", ".opencode/AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"];

/// All instruction files, general ones first: the global ones, then from the outermost level (the
/// one with `.git`) to the working directory. A file that links make appear twice counts once, at
/// its first place.
pub fn instructions(fs: &dyn SkillFs, around: &Surroundings) -> Loaded<Vec<Instructions>> {
    let mut candidates: Vec<(PathBuf, Scope, usize)> = Vec::new();
    let config = around.config_folder();
    for (folder, file) in [
        (&config, "toolfold/AGENTS.md"),
        (&around.home, ".agents/AGENTS.md"),
        (&around.home, ".claude/CLAUDE.md"),
        (&config, "opencode/AGENTS.md"),
    ] {
        if let Some(folder) = folder {
            candidates.push((folder.join(file), Scope::User, 0));
        }
    }
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
                diagnostics.push(note.help("it was left out; fix or remove it"));
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
