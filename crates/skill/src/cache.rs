//! What a discovery read, so that the next one reads only what has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::document::Document;
use super::fs::{SkillFs, Stamp};

/// Maximum numbers of files and of folders that one check looks at. A look takes 2 to 4 µs on a
/// virtual machine, so a check takes under 5 ms with any number of skills.
const FILES: usize = 1_000;
const FOLDERS: usize = 200;

/// The files read before: files with an unchanged stamp are not read again.
#[derive(Debug, Clone, Default)]
pub struct DiscoveryCache {
    pub(super) documents: HashMap<PathBuf, (Stamp, Arc<Document>)>,
    /// The same files, in the order of the walk.
    pub(super) files: Vec<PathBuf>,
    /// The folders that were listed.
    pub(super) listed: Vec<(PathBuf, Stamp)>,
    /// The roots that did not exist.
    pub(super) absent: Vec<PathBuf>,
    /// Where the next check begins in `files` and in `listed`.
    next_file: usize,
    next_folder: usize,
    /// The number of files read from disk since the cache was created.
    pub reads: usize,
}

impl DiscoveryCache {
    /// Whether no change is found on disk since the discovery that filled this cache, neither of a
    /// skill file nor of the entries of a folder, by their stamps. A file that could not be read
    /// counts as changed.
    ///
    /// Looks at no more than 1,000 files and 200 folders, and continues with the others the next
    /// time: with 5,000 skills, a change is found by the fifth check.
    /// [`is_file_current`](Self::is_file_current) checks one of them.
    pub fn is_current(&mut self, fs: &dyn SkillFs) -> bool {
        let folders = rotated(&mut self.next_folder, self.listed.len(), FOLDERS);
        let files = rotated(&mut self.next_file, self.files.len(), FILES);
        let (listed, names) = (&self.listed, &self.files);
        self.absent.iter().all(|root| fs.look(root).is_err())
            && folders.filter_map(|at| listed.get(at)).all(|(folder, stamp)| is_same(fs, folder, stamp))
            && files.filter_map(|at| names.get(at)).all(|file| self.is_file_current(fs, file))
    }

    /// Whether a skill file is on disk as it was read.
    #[must_use]
    pub fn is_file_current(&self, fs: &dyn SkillFs, file: &Path) -> bool {
        self.documents.get(file).is_some_and(|(stamp, _)| is_same(fs, file, stamp))
    }
}

fn is_same(fs: &dyn SkillFs, path: &Path, stamp: &Stamp) -> bool {
    fs.look(path).is_ok_and(|look| look.stamp == *stamp)
}

/// At most `most` positions of a list, from `next` on and then from its start. Moves `next`.
fn rotated(next: &mut usize, length: usize, most: usize) -> impl Iterator<Item = usize> + use<> {
    let (first, number) = (*next, most.min(length));
    *next = (first + number) % length.max(1);
    (first..first + number).map(move |at| at % length)
}
