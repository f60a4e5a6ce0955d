//! A lock from a file.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that reads locks")]

use std::path::{Component, Path, PathBuf};

use crate::config_files::user_file;
use crate::configuration::{Config, keys};
use crate::disk::variable;
use crate::input::read_text;
use crate::layers::project_of;
use crate::output::Failure;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold_measure::check::{Diff, Lock, MAX_LOCK_BYTES};

/// The path of the lock file, shown relative to the working directory if it is below it. Without a
/// setting it is beside the `toolfold.toml` that was found.
pub(crate) fn lock_file(config: &Config) -> String {
    let lock = &config.settings.check.lock;
    let beside = match config.given(&keys::check::LOCK) {
        Some(_) => None,
        None => config_folder(config).map(|folder| folder.join(lock).to_string_lossy().into_owned()),
    };
    from_here(&beside.unwrap_or_else(|| lock.clone()))
}

/// The folder of the project's configuration file, or of the one that a flag names.
fn config_folder(config: &Config) -> Option<PathBuf> {
    let file = Path::new(config.files().last()?);
    let own = user_file().is_some_and(|own| own == file);
    file.parent().filter(|folder| !own && !folder.as_os_str().is_empty()).map(Path::to_path_buf)
}

/// A path relative to the root of the repository, as annotations require; unchanged if it is not in
/// it. `GITHUB_WORKSPACE` is where GitHub's runner puts the repository.
pub(crate) fn from_root(file: &str) -> String {
    let Ok(here) = std::env::current_dir() else { return file.to_owned() };
    let root = variable("GITHUB_WORKSPACE").map(PathBuf::from).filter(|root| here.starts_with(root));
    let root = root.unwrap_or_else(|| PathBuf::from(project_of(&here.to_string_lossy())));
    let mut whole = PathBuf::new();
    for part in here.join(file).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole.strip_prefix(&root).map_or_else(|_| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// A path relative to the working directory if it is below it, as annotations require.
pub(crate) fn from_here(file: &str) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| std::path::Path::new(file).strip_prefix(here).ok());
    below.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

pub(crate) struct Locked {
    pub(crate) lock: Lock,
    pub(crate) file: String,
    pub(crate) text: String,
}

impl Locked {
    /// Reads a lock; `None` if there is none. An unknown version is an error with exit code 3.
    pub(crate) fn read_lock(file: &str) -> Result<Option<Self>, Failure> {
        if file != "-" && std::fs::symlink_metadata(file).is_err_and(|why| why.kind() == std::io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let text = read_text(file, MAX_LOCK_BYTES)
            .map_err(|why| Failure::unmeasured(format!("{file} {why}")).help("recreate it: toolfold lock"))?;
        let lock = Lock::from_toml(&text).map_err(|why| {
            let mut place = Place::file(file);
            place.line = why.line();
            let message = why.to_string();
            let message =
                why.line().and_then(|line| message.strip_prefix(&format!("line {line}: "))).unwrap_or(&message);
            Failure::refused(3, vec![Diagnostic::error("bad-lock", place, message).help(why.help())])
        })?;
        Ok(Some(Self { lock, file: file.to_owned(), text }))
    }

    /// The changes since the lock. A lock measured differently is an error with exit code 3.
    pub(crate) fn compare(&self, now: &Lock) -> Result<Diff, Failure> {
        self.lock.comparable(now).map_err(|why| {
            Failure::unmeasured(format!("{} cannot be compared: {why}", self.file)).help("recreate it: toolfold lock")
        })?;
        Ok(Diff::between(&self.lock, now))
    }
}
