//! Finds the configuration files that apply: the user's own, and that of the project.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads files and asks where it runs")]

use std::path::{Path, PathBuf};

use super::disk::folder_variable;
use super::input::read_text;
use super::output::Failure;
use crate::configuration::{CONFIG_FILE, Config, ConfigFile, ConfigScope};
use toolfold::profile::MAX_PROFILE_BYTES;

pub(super) struct FoundFile {
    text: String,
    name: String,
    scope: ConfigScope,
    folder: Option<String>,
}

impl FoundFile {
    fn read_file(name: &str, scope: ConfigScope, folder: Option<&Path>) -> Result<Self, Failure> {
        let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
        Ok(Self { text: read_text(name, MAX_PROFILE_BYTES)?, name: name.to_owned(), scope, folder })
    }

    pub(super) fn as_file(&self) -> ConfigFile<'_> {
        ConfigFile { text: &self.text, name: &self.name, scope: self.scope, folder: self.folder.as_deref() }
    }
}

/// The configuration files, the weakest first: only the one that a flag names, else the user's own
/// and the project's. A project's file in a trusted folder counts as the user's own.
pub(super) fn find_config_files(named: Option<&str>) -> Result<Vec<FoundFile>, Failure> {
    if let Some(name) = named {
        // Its relative paths are resolved against its folder, wherever the command runs: another
        // folder must not give it another policy.
        let folder = Path::new(name).parent().filter(|own| name != "-" && !own.as_os_str().is_empty());
        return Ok(vec![FoundFile::read_file(name, ConfigScope::User, folder)?]);
    }
    let own = user_file().filter(|file| file.is_file());
    let mut found = Vec::new();
    let mut trusted = Vec::new();
    if let Some(file) = &own {
        let file = FoundFile::read_file(&file.to_string_lossy(), ConfigScope::User, file.parent())?;
        trusted = workspaces(&file);
        found.push(file);
    }
    let Some((folder, is_here)) = project_folder(own.as_deref()) else { return Ok(found) };
    let path = if is_here { PathBuf::from(CONFIG_FILE) } else { folder.join(CONFIG_FILE) };
    let scope = if trusted.contains(&real(&folder)) { ConfigScope::User } else { ConfigScope::Project };
    let elsewhere = Some(folder.as_path()).filter(|_| !is_here);
    found.push(FoundFile::read_file(&path.to_string_lossy(), scope, elsewhere)?);
    Ok(found)
}

/// The folders that the user's own configuration trusts, with links resolved.
fn workspaces(own: &FoundFile) -> Vec<PathBuf> {
    let config = Config::resolve(&[own.as_file()], |_| None, &[]).value;
    config.settings.trust.workspaces.iter().map(|folder| real(Path::new(&expanded(folder)))).collect()
}

/// Whether the user's configuration trusts a folder. An unreadable configuration trusts none.
pub(super) fn trusts(folder: &Path) -> bool {
    let own = user_file().filter(|file| file.is_file());
    let read =
        own.and_then(|file| FoundFile::read_file(&file.to_string_lossy(), ConfigScope::User, file.parent()).ok());
    read.is_some_and(|own| workspaces(&own).contains(&real(folder)))
}

/// The user's own configuration: `$XDG_CONFIG_HOME/toolfold/toolfold.toml`, or below `~/.config`.
pub(super) fn user_file() -> Option<PathBuf> {
    let configs = folder_variable("XDG_CONFIG_HOME").or_else(|| Some(folder_variable("HOME")?.join(".config")))?;
    Some(configs.join("toolfold").join(CONFIG_FILE))
}

/// The nearest folder with a configuration, the working directory or one above it, and whether it
/// is the working directory.
fn project_folder(own: Option<&Path>) -> Option<(PathBuf, bool)> {
    let here = std::env::current_dir().ok()?;
    for folder in here.ancestors() {
        let file = folder.join(CONFIG_FILE);
        // The user's own file is never a project's, wherever the command runs.
        let is_own = own.is_some_and(|own| real(own) == real(&file));
        if file.is_file() && !is_own {
            return Some((folder.to_path_buf(), folder == here));
        }
    }
    None
}

fn expanded(folder: &str) -> String {
    match (folder.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => folder.to_owned(),
    }
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}
