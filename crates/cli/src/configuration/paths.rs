//! Relative paths in configuration files: they are resolved against the folder of their file.

use super::ConfigFile;

/// Whether the value of a key is a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paths {
    /// The value is not a path.
    None,
    /// The value is the path of a file.
    File,
    /// The value is the path of a file or, without `/` and `.`, a name.
    FileOrName,
    /// The value is a list of folders, separated by commas.
    Folders,
}

impl ConfigFile<'_> {
    /// The value with its relative paths below the folder of the file.
    pub(super) fn absolute(&self, paths: Paths, value: String) -> String {
        let Some(folder) = self.folder else { return value };
        match paths {
            Paths::None => value,
            Paths::FileOrName if !value.contains(['/', '.']) => value,
            Paths::File | Paths::FileOrName => path_below(folder, &value),
            Paths::Folders => {
                let folders: Vec<String> = value.split(',').map(|part| path_below(folder, part.trim())).collect();
                folders.join(",")
            }
        }
    }
}

/// A path below a folder; an absolute path, `~`, `-`, the address of a database and an empty path
/// are returned unchanged.
fn path_below(folder: &str, path: &str) -> String {
    let is_relative = !path.is_empty() && path != "-" && !path.starts_with(['/', '~']) && !path.contains("://");
    if is_relative { format!("{folder}/{path}") } else { path.to_owned() }
}
