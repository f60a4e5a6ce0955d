//! The interpreters of scripts, found on the host's `PATH`.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it finds programs")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::RunError;

/// The interpreters by the ending of a script's name.
const USUAL: [(&str, &str); 7] = [
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
    ("py", "python3"),
    ("sh", "sh"),
    ("bash", "bash"),
    ("rb", "ruby"),
];

/// The interpreter of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interpreter {
    /// The program: absolute, without symbolic links.
    pub program: PathBuf,
    /// The folder with the program and its libraries.
    pub folder: PathBuf,
}

/// Where interpreters are found.
#[derive(Debug, Clone, Default)]
pub struct Interpreters {
    configured: BTreeMap<String, String>,
    path: Option<OsString>,
    home: Option<PathBuf>,
}

impl Interpreters {
    /// Interpreters by ending: a name or an absolute path. `path` is the host's `PATH`, and `home`
    /// the folder of the user, which is never readable as a whole.
    #[must_use]
    pub fn new(configured: BTreeMap<String, String>, path: Option<OsString>, home: Option<PathBuf>) -> Self {
        Self { configured, path, home }
    }

    /// The interpreter of a script.
    ///
    /// # Errors
    /// The ending is unknown, or the interpreter is not installed.
    pub fn find(&self, script: &Path) -> Result<Interpreter, RunError> {
        let ending = script.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let usual = || USUAL.iter().find(|(own, _)| *own == ending).map(|(_, name)| *name);
        let Some(name) = self.configured.get(ending).map(String::as_str).or_else(usual) else {
            return Err(RunError::UnknownKind(script.file_name().unwrap_or_default().to_string_lossy().into_owned()));
        };
        let found = match Path::new(name) {
            path if path.is_absolute() => usable(path),
            _ if name.contains('/') => None,
            _ => std::env::split_paths(self.path.as_ref().unwrap_or(&OsString::new()))
                .filter(|folder| folder.is_absolute())
                .find_map(|folder| usable(&folder.join(name))),
        };
        let program = found.ok_or_else(|| RunError::NoInterpreter(name.to_owned()))?;
        Ok(Interpreter { folder: self.install_folder(&program), program })
    }

    /// The folder above `bin`, or the program's own folder. A folder that contains the user's files
    /// is not an installation.
    fn install_folder(&self, program: &Path) -> PathBuf {
        let own = program.parent().unwrap_or(program);
        let above = own.parent().filter(|_| own.file_name().is_some_and(|name| name == "bin"));
        let holds_home = |folder: &Path| match &self.home {
            Some(home) => home.canonicalize().unwrap_or_else(|_| home.clone()).starts_with(folder),
            None => false,
        };
        let is_wide = |folder: &&Path| folder.parent().is_none() || holds_home(folder);
        [above, Some(own)].into_iter().flatten().find(|folder| !is_wide(folder)).unwrap_or(program).to_owned()
    }
}

/// A program without symbolic links; `None` if it is missing or is itself a script, such as the
/// launchers of version managers, which need files that a sandbox hides.
fn usable(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok().filter(|path| path.is_file())?;
    let mut start = [0; 2];
    File::open(&path).and_then(|mut file| file.read_exact(&mut start)).ok()?;
    (start != *b"#!").then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::tests::Temp;

    #[cfg(unix)]
    #[test]
    fn launchers_are_skipped_and_home_is_not_an_installation() {
        let temp = Temp::new("interpreter");
        for (name, content) in [("shims/node", "#!/bin/sh\n"), ("v22/bin/node", "\x7fELF"), ("bin/python3", "\x7fELF")]
        {
            let path = temp.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content).unwrap();
        }
        std::os::unix::fs::symlink(temp.path().join("v22/bin"), temp.path().join("current")).unwrap();
        let path = std::env::join_paths(["shims", "current", "bin"].map(|name| temp.path().join(name))).unwrap();
        let home = Some(temp.path().to_owned());
        let configured = BTreeMap::from([("ts".to_owned(), "node".to_owned()), ("rb".to_owned(), "./ruby".to_owned())]);
        let all = Interpreters::new(configured, Some(path), home);
        let node = all.find(Path::new("/s/scripts/execute.js")).unwrap();
        assert_eq!((node.program, node.folder), (temp.path().join("v22/bin/node"), temp.path().join("v22")));
        assert_eq!(all.find(Path::new("a.ts")).unwrap().program, temp.path().join("v22/bin/node"));
        let python = all.find(Path::new("a.py")).unwrap();
        assert_eq!(python.folder, temp.path().join("bin"), "its parent is the home folder");
        assert!(matches!(all.find(Path::new("a.rb")), Err(RunError::NoInterpreter(_))));
        assert!(matches!(all.find(Path::new("a.exe")), Err(RunError::UnknownKind(_))));
    }
}
