//! What discovery needs of a file system, and a file system in memory.
//!
//! The layer itself reads nothing: it asks a [`SkillFs`]. The real one is [`DiskFs`](super::DiskFs).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A pipe, a socket, a device: never opened.
    Other,
}

/// When and how a file was last changed, as far as its file system tells. Equal stamps mean an unchanged file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stamp {
    /// Length in bytes.
    pub length: u64,
    /// Nanoseconds since 1970 of the last change of the content.
    pub modified: i128,
    /// Nanoseconds since 1970 of the last change of the file's record; 0 where there is none.
    pub changed: i128,
    /// The file's number on its device; 0 where there is none.
    pub number: u64,
}

/// What [`SkillFs::look`] saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Look {
    /// What it is, links followed.
    pub kind: Kind,
    /// Its stamp, links followed.
    pub stamp: Stamp,
    /// Whether the path itself is a symbolic link.
    pub link: bool,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FsEntry {
    /// The name, without the folder.
    pub name: OsString,
    /// What it is; for a symbolic link what lies at its end, `None` if nothing does.
    pub kind: Option<Kind>,
    /// Whether it is a symbolic link.
    pub link: bool,
}

/// Why something could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FsError {
    /// Nothing lies there.
    #[error("nothing lies there")]
    NotFound,
    /// The user may not read it.
    #[error("permission denied")]
    Denied,
    /// A pipe, a socket, a device or a folder where a file should be.
    #[error("not a regular file")]
    NotRegular,
    /// More bytes or entries than the limit.
    #[error("more than {0}, the limit")]
    TooLarge(u64),
    /// It changed while it was read, twice.
    #[error("it changed while it was read")]
    Changed,
    /// Anything else, in the system's words.
    #[error("{0}")]
    Other(String),
}

/// A file system, read only.
pub trait SkillFs: Send + Sync {
    /// The entries of a folder in any order.
    ///
    /// # Errors
    /// [`FsError::TooLarge`] if there are more than `most`; else why the folder cannot be read.
    fn list(&self, folder: &Path, most: usize) -> Result<Vec<FsEntry>, FsError>;

    /// Kind and stamp of what lies at a path, links followed.
    ///
    /// # Errors
    /// Why it cannot be told.
    fn look(&self, path: &Path) -> Result<Look, FsError>;

    /// The path with every link followed.
    ///
    /// # Errors
    /// Why it cannot be told.
    fn canonical(&self, path: &Path) -> Result<PathBuf, FsError>;

    /// The bytes of a regular file, with the stamp they were read under.
    ///
    /// # Errors
    /// [`FsError::TooLarge`] beyond `most` bytes, [`FsError::NotRegular`] for anything but a file (never blocking),
    /// [`FsError::Changed`] if no steady reading was had; else why it cannot be read.
    fn read(&self, path: &Path, most: usize) -> Result<(Vec<u8>, Stamp), FsError>;
}

/// A file system in memory: for tests, and for hosts whose skills come from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct MemoryFs {
    files: BTreeMap<PathBuf, (Vec<u8>, i128)>,
    links: BTreeMap<PathBuf, PathBuf>,
    changes: i128,
}

impl MemoryFs {
    /// Puts a file at an absolute path; its folders come into being. Replacing a file changes its stamp.
    pub fn put(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.changes += 1;
        self.files.insert(path.into(), (bytes.into(), self.changes));
        self
    }

    /// Puts a symbolic link at a path.
    pub fn link(&mut self, path: impl Into<PathBuf>, target: impl Into<PathBuf>) -> &mut Self {
        self.links.insert(path.into(), target.into());
        self
    }

    /// Takes a file away.
    pub fn remove(&mut self, path: &Path) -> &mut Self {
        self.files.remove(path);
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

/// The paths below a folder. Paths are ordered by their components, so that those below one stand together behind it.
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
        let entry = |(name, link): (OsString, bool)| FsEntry { kind: self.kind(&real.join(&name)), name, link };
        Ok(names.into_iter().map(entry).collect())
    }

    fn look(&self, path: &Path) -> Result<Look, FsError> {
        let real = self.canonical(path)?;
        let link = self.links.contains_key(path);
        match self.files.get(&real) {
            Some((bytes, at)) => {
                let stamp = Stamp { length: bytes.len() as u64, modified: *at, ..Stamp::default() };
                Ok(Look { kind: Kind::File, stamp, link })
            }
            None if self.is_folder(&real) => Ok(Look { kind: Kind::Folder, stamp: Stamp::default(), link }),
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
