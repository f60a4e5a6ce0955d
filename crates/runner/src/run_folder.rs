//! The folder of a run: its work folder and its input. It is removed afterwards, or by the next run
//! if the host was killed.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it creates and removes folders")]

use std::fs::{DirBuilder, File, OpenOptions, read_dir};
use std::io::{ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::tree;

/// The prefix of a run's folder.
const PREFIX: &str = "run-";
/// The file whose lock shows that the host of a run, or one that creates or removes runs, is alive.
const LOCK: &str = "lock";

/// Maximum number in the name of a run that is tried when a name is taken.
const MAX_NUMBER: u64 = 1 << 32;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The folder of a run. It is removed when this value is dropped.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    /// Locked as long as the host lives.
    _lock: File,
}

impl RunFolder {
    /// Creates a folder for a run below `base`, which is created with the rights of the user only,
    /// and removes folders of runs whose host was killed.
    ///
    /// # Errors
    /// A folder or file could not be created.
    pub fn create(base: &Path) -> Result<Self> {
        private_folder(base, true)?;
        let base = base.canonicalize()?;
        let _guard = lock(&base.join(LOCK))?;
        remove_dead(&base);
        let folder = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = base.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match private_folder(&folder, false) {
                Ok(()) => break folder,
                // A run of another machine or container with the same process id.
                Err(why) if why.kind() == ErrorKind::AlreadyExists && number < MAX_NUMBER => {}
                Err(why) => return Err(why),
            }
        };
        let lock = lock(&folder.join(LOCK))?;
        let run = Self { folder, _lock: lock };
        private_folder(&run.work(), false)?;
        Ok(run)
    }

    /// The only folder in which the script can write.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Stores the input of the script beside the work folder and returns its path.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn store_input(&self, input: &str) -> Result<PathBuf> {
        let path = self.folder.join("input.json");
        private_file(&path)?.write_all(input.as_bytes())?;
        Ok(path)
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // The next run tries again.
        drop(tree::remove(&self.folder));
    }
}

/// Removes the folders below `base` of runs whose host was killed.
pub fn remove_left_over(base: &Path) {
    if let Ok(_guard) = lock(&base.join(LOCK)) {
        remove_dead(base);
    }
}

/// The same under the lock of `base`, so that no run is between its folder and its lock.
fn remove_dead(base: &Path) {
    for entry in read_dir(base).into_iter().flatten().filter_map(Result::ok) {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let is_alive = File::open(entry.path().join(LOCK)).is_ok_and(|file| file.try_lock().is_err());
        if !is_alive {
            // What cannot be removed now is tried again by the next run.
            drop(tree::remove(&entry.path()));
        }
    }
}

fn lock(path: &Path) -> Result<File> {
    let file = private_file(path)?;
    file.lock()?;
    Ok(file)
}

fn private_file(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn private_folder(path: &Path, recursive: bool) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(recursive);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A folder for one test, removed at its end.
    pub(crate) struct Temp(PathBuf);

    impl Temp {
        pub(crate) fn new(name: &str) -> Self {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("toolfold-runner-{name}-{}-{number}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path.canonicalize().unwrap())
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Temp {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn the_folder_of_a_dead_run_is_removed_and_a_running_one_is_not() {
        let temp = Temp::new("runs");
        let running = RunFolder::create(temp.path()).unwrap();
        let dead = temp.path().join("run-1-0/work/deep");
        std::fs::create_dir_all(&dead).unwrap();
        std::fs::write(temp.path().join("run-1-0/lock"), "").unwrap();
        std::fs::create_dir(temp.path().join("other")).unwrap();
        let next = RunFolder::create(temp.path()).unwrap();
        assert!(!temp.path().join("run-1-0").exists());
        assert!(running.work().is_dir() && next.work().is_dir() && temp.path().join("other").is_dir());
        let work = running.work();
        drop(running);
        assert!(!work.exists() && next.work().is_dir());
    }
}
