//! The file system interface of discovery, and an in-memory file system.
//!
//! The layer itself reads nothing: it calls a [`SkillFs`]. The real one is
//! [`DiskFs`](super::DiskFs).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

/// The kind of object at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A pipe, a socket or a device: never opened.
    Other,
}

/// When and how a file was last changed, as far as its file system reports it. Equal stamps mean an
/// unchanged file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stamp {
    /// Length in bytes.
    pub length: u64,
    /// Time of the last content change, in nanoseconds since 1970.
    pub modified: i128,
    /// Time of the last metadata change, in nanoseconds since 1970; 0 if unsupported.
    pub changed: i128,
    /// The file's number on its device; 0 if unsupported.
    pub number: u64,
}

/// The result of [`SkillFs::look`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Look {
    /// The kind of the object, after following links.
    pub kind: Kind,
    /// Its stamp, after following links.
    pub stamp: Stamp,
    /// Whether the path itself is a symbolic link.
    pub link: bool,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FsEntry {
    /// The name, without the folder.
    pub name: OsString,
    /// The kind of the entry; for a symbolic link, of its target, or `None` if that is missing.
    pub kind: Option<Kind>,
    /// Whether it is a symbolic link.
    pub link: bool,
}

/// Why something could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FsError {
    /// The path does not exist.
    #[error("nothing lies there")]
    NotFound,
    /// The user lacks permission.
    #[error("permission denied")]
    Denied,
    /// A pipe, a socket, a device or a folder instead of a file.
    #[error("not a regular file")]
    NotRegular,
    /// More bytes or entries than the limit.
    #[error("more than {0}, the limit")]
    TooLarge(u64),
    /// The file changed twice while it was read.
    #[error("it changed while it was read")]
    Changed,
    /// Any other error, with the system's message.
    #[error("{0}")]
    Other(String),
}

/// A read-only file system.
pub trait SkillFs: Send + Sync {
    /// Returns the entries of a folder in any order.
    ///
    /// # Errors
    /// Returns [`FsError::TooLarge`] if there are more than `most` entries, or the reason why the
    /// folder cannot be read.
    fn list(&self, folder: &Path, most: usize) -> Result<Vec<FsEntry>, FsError>;

    /// Returns kind and stamp of the object at a path, after following links.
    ///
    /// # Errors
    /// Returns the reason why the path cannot be examined.
    fn look(&self, path: &Path) -> Result<Look, FsError>;

    /// Returns the path with every link followed.
    ///
    /// # Errors
    /// Returns the reason why the path cannot be resolved.
    fn canonical(&self, path: &Path) -> Result<PathBuf, FsError>;

    /// Returns the bytes of a regular file with the stamp at the time of reading.
    ///
    /// # Errors
    /// Returns [`FsError::TooLarge`] beyond `most` bytes, [`FsError::NotRegular`] for anything but
    /// a file (without blocking), [`FsError::Changed`] if the file kept changing, or the reason why
    /// it cannot be read.
    fn read(&self, path: &Path, most: usize) -> Result<(Vec<u8>, Stamp), FsError>;
}

/// An in-memory file system: for tests, and for hosts whose skills come from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct MemoryFs {
    files: BTreeMap<PathBuf, (Vec<u8>, i128)>,
    links: BTreeMap<PathBuf, PathBuf>,
    changes: i128,
}

impl MemoryFs {
    /// Adds a file at an absolute path, and its folders. Replacing a file changes its stamp.
    pub fn put(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.changes += 1;
        self.files.insert(path.into(), (bytes.into(), self.changes));
        self
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, path: impl Into<PathBuf>, target: impl Into<PathBuf>) -> &mut Self {
        self.links.insert(path.into(), target.into());
        self
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.parent().is_none()
            || below(&self.files, path).next().is_some()
            || below(&self.links, path).next().is_some()
    }

    fn kind(&self, path: &Path) -> Option<Kind> {
        let real = self.canonical(path).ok()?;
        if self.files.contains_key(&real) {
            return Some(Kind::File);
        }
        self.is_folder(&real).then_some(Kind::Folder)
    }
}

/// The paths below a folder. Paths are ordered by component, so those below a folder follow it
/// directly.
fn below<'a, T>(map: &'a BTreeMap<PathBuf, T>, folder: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
    let from = (Bound::Excluded(folder), Bound::Unbounded);
    map.range::<Path, _>(from).map(|(path, _)| path).take_while(move |path| path.starts_with(folder))
}

impl SkillFs for MemoryFs {
    fn list(&self, folder: &Path, most: usize) -> Result<Vec<FsEntry>, FsError> {
        let real = self.canonical(folder)?;
        let mut names: BTreeMap<OsString, bool> = BTreeMap::new();
        let files = below(&self.files, &real).map(|p| (p, false));
        for (path, link) in files.chain(below(&self.links, &real).map(|p| (p, true))) {
            if let Ok(below) = path.strip_prefix(&real)
                && let Some(Component::Normal(name)) = below.components().next()
            {
                let direct = link && below.components().count() == 1;
                *names.entry(name.to_owned()).or_default() |= direct;
            }
        }
        if names.is_empty() && !self.is_folder(&real) {
            return Err(if self.files.contains_key(&real) { FsError::NotRegular } else { FsError::NotFound });
        }
        if names.len() > most {
            return Err(FsError::TooLarge(most as u64));
        }
        let mut entries = Vec::with_capacity(names.len());
        for (name, link) in names {
            entries.push(FsEntry { kind: self.kind(&real.join(&name)), name, link });
        }
        Ok(entries)
    }

    fn look(&self, path: &Path) -> Result<Look, FsError> {
        let real = self.canonical(path)?;
        let link = self.links.contains_key(path);
        match self.files.get(&real) {
            Some((bytes, at)) => {
                let stamp = Stamp { length: bytes.len() as u64, modified: *at, ..Stamp::default() };
                Ok(Look { kind: Kind::File, stamp, link })
            }
            None if self.is_folder(&real) => {
                // Any change may be one of this folder's entries.
                let stamp = Stamp { modified: self.changes, ..Stamp::default() };
                Ok(Look { kind: Kind::Folder, stamp, link })
            }
            None => Err(FsError::NotFound),
        }
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, FsError> {
        let mut real = PathBuf::new();
        let mut rest: Vec<Component<'_>> = path.components().rev().collect();
        let mut hops = 0;
        while let Some(part) = rest.pop() {
            match part {
                Component::ParentDir => {
                    real.pop();
                }
                Component::CurDir => {}
                part => real.push(part),
            }
            if let Some(target) = self.links.get(&real) {
                hops += 1;
                if hops > 40 {
                    return Err(FsError::Other("too many links".to_owned()));
                }
                if target.is_absolute() {
                    real = PathBuf::new();
                } else {
                    real.pop();
                }
                rest.extend(target.components().rev());
            }
        }
        if self.files.contains_key(&real) || self.is_folder(&real) { Ok(real) } else { Err(FsError::NotFound) }
    }

    fn read(&self, path: &Path, most: usize) -> Result<(Vec<u8>, Stamp), FsError> {
        let Look { kind, stamp, .. } = self.look(path)?;
        if kind != Kind::File {
            return Err(FsError::NotRegular);
        }
        let bytes = self.files.get(&self.canonical(path)?).map(|(b, _)| b.clone()).unwrap_or_default();
        if bytes.len() > most { Err(FsError::TooLarge(most as u64)) } else { Ok((bytes, stamp)) }
    }
}
