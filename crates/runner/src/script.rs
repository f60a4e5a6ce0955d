//! The script of a skill, and the digests that an approval is bound to.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the files of a skill")]

use std::fs::File;
use std::io::{Read, Result};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::RunError;
use super::tree::{Kind, walk};

/// The script that a skill has if it names none.
pub const DEFAULT_ENTRY: &str = "scripts/execute.js";

/// Maximum number of files of a skill with a script. The largest published skill has about 200.
const MAX_FILES: usize = 10_000;
/// Maximum size in bytes of the files of a skill with a script.
const MAX_BYTES: u64 = 256 << 20;

/// A script, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Script {
    /// The name of the skill.
    pub skill: String,
    /// The skill's folder: absolute, without symbolic links.
    pub folder: PathBuf,
    /// The script: absolute, without symbolic links, inside the folder.
    pub entry: PathBuf,
    /// The script below the folder, as the skill names it.
    pub name: String,
    /// The SHA-256 of the script in hexadecimal digits.
    pub sha256: String,
    /// The SHA-256 over the names and contents of all files of the folder.
    pub folder_sha256: String,
}

impl Script {
    /// Finds the script `name`, or `scripts/execute.js`, of a skill.
    ///
    /// # Errors
    /// The script is missing, is not a regular file inside the folder, or the folder is too large.
    pub fn find(skill: &str, folder: &Path, name: Option<&str>) -> std::result::Result<Self, RunError> {
        let name = name.unwrap_or(DEFAULT_ENTRY);
        let missing = |_| RunError::NoScript(name.to_owned());
        let folder = folder.canonicalize().map_err(missing)?;
        let entry = folder.join(name).canonicalize().map_err(missing)?;
        if !entry.starts_with(&folder) {
            return Err(RunError::Outside(entry));
        }
        if !entry.is_file() {
            return Err(RunError::NoScript(name.to_owned()));
        }
        let read = |why| RunError::io(format!("the script `{name}` cannot be read"))(why);
        let sha256 = File::open(&entry).and_then(|mut file| digest(&mut file)).map_err(read)?;
        let folder_sha256 = folder_digest(&folder)?;
        Ok(Self { skill: skill.to_owned(), folder, entry, name: name.to_owned(), sha256, folder_sha256 })
    }

    /// Fails if a file of the folder has changed since the script was found.
    ///
    /// # Errors
    /// [`RunError::Changed`], or as [`find`](Self::find).
    pub fn check_unchanged(&self) -> std::result::Result<(), RunError> {
        let now = Self::find(&self.skill, &self.folder, Some(&self.name))?;
        if now == *self { Ok(()) } else { Err(RunError::Changed) }
    }
}

/// The SHA-256 of what a reader returns, in hexadecimal digits.
pub(crate) fn digest(source: &mut impl Read) -> Result<String> {
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(hex(sha256)),
            Ok(read) => sha256.update(buffer.get(..read).unwrap_or_default()),
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
}

fn hex(sha256: Sha256) -> String {
    sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of a folder: each entry in the order of the names, with its kind and its content or
/// target. Lengths precede names, so that no other folder has the same input.
fn folder_digest(folder: &Path) -> std::result::Result<String, RunError> {
    let large = RunError::TooLarge { files: MAX_FILES, mib: MAX_BYTES >> 20 };
    let found = walk(folder, MAX_FILES + 1);
    if found.len() > MAX_FILES {
        return Err(large);
    }
    let (mut sha256, mut bytes) = (Sha256::new(), 0_u64);
    for entry in found {
        let path = entry.relative.as_os_str().as_encoded_bytes();
        sha256.update((path.len() as u64).to_le_bytes());
        sha256.update(path);
        let failed = |why| RunError::io(format!("`{}` cannot be read", entry.relative.display()))(why);
        let content = match entry.kind {
            Kind::Link => {
                let target = std::fs::read_link(folder.join(&entry.relative)).map_err(failed)?;
                format!("link {}", toolfold_diagnostic::sha256_hex(target.as_os_str().as_encoded_bytes()))
            }
            Kind::File { bytes: size } => {
                bytes = bytes.saturating_add(size);
                if bytes > MAX_BYTES {
                    return Err(large);
                }
                let file = File::open(folder.join(&entry.relative)).map_err(failed)?;
                format!("file {}", digest(&mut file.take(MAX_BYTES)).map_err(failed)?)
            }
            Kind::Other => "other".to_owned(),
        };
        sha256.update(content);
    }
    Ok(hex(sha256))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::tests::Temp;

    #[test]
    fn a_script_is_inside_its_folder_and_bound_to_every_file() {
        let temp = Temp::new("script");
        let folder = temp.path().join("skill");
        std::fs::create_dir_all(folder.join("scripts")).unwrap();
        std::fs::write(temp.path().join("outside.js"), "0").unwrap();
        assert!(matches!(Script::find("s", &folder, None), Err(RunError::NoScript(_))));
        std::fs::write(folder.join(DEFAULT_ENTRY), "abc").unwrap();
        let found = Script::find("s", &folder, None).unwrap();
        // The SHA-256 of `abc` in FIPS 180-2.
        assert_eq!(found.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(found.check_unchanged().is_ok());
        std::fs::write(folder.join("scripts/helper.js"), "1").unwrap();
        assert!(matches!(found.check_unchanged(), Err(RunError::Changed)));
        assert!(matches!(Script::find("s", &folder, Some("../outside.js")), Err(RunError::Outside(_))));
        assert!(matches!(Script::find("s", &folder, Some("scripts")), Err(RunError::NoScript(_))));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(temp.path().join("outside.js"), folder.join("link.js")).unwrap();
            assert!(matches!(Script::find("s", &folder, Some("link.js")), Err(RunError::Outside(_))));
        }
    }
}
