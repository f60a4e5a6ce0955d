//! Watches the roots (feature `watch`): when files change, a new library replaces the old one.
//!
//! Sessions are not affected: each keeps its library by its `Arc`. This module performs IO: it
//! starts a thread and watches the file system.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::cache::DiscoveryCache;
use super::disk::DiskFs;
use super::library::SkillLibrary;
use super::roots::{Root, Style};
use crate::diagnostic::Loaded;

/// The time without changes before the files are read again.
pub(crate) const DEBOUNCE: Duration = Duration::from_millis(300);

/// Holds the current library and updates it until it is dropped.
#[derive(Debug)]
pub struct SkillWatcher {
    current: Arc<RwLock<Arc<SkillLibrary>>>,
    // Dropping the watcher closes the channel, which ends the thread. The thread holds only a weak
    // reference.
    _watcher: Arc<Mutex<RecommendedWatcher>>,
}

impl SkillWatcher {
    /// Starts watching the roots of a library that was read from disk. `changed` is called with
    /// every new library, on the watcher's thread, before it replaces the old one.
    ///
    /// A root that does not exist yet is detected through its nearest existing ancestor.
    ///
    /// # Errors
    /// Returns the system's reason why it cannot watch.
    pub fn start(
        library: SkillLibrary,
        mut cache: DiscoveryCache,
        mut changed: impl FnMut(&Loaded<SkillLibrary>) + Send + 'static,
    ) -> Result<Self, notify::Error> {
        let (sender, receiver) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(move |event: Result<notify::Event, notify::Error>| {
            // Reading a file is not a change. An error may hide one, so it counts.
            if event.map_or(true, |e| !e.kind.is_access()) {
                let _ = sender.send(());
            }
        })?;
        for root in library.roots() {
            let (path, mode) = nearest_folder(root);
            watcher.watch(&path, mode)?;
        }
        let watcher = Arc::new(Mutex::new(watcher));
        let weak = Arc::downgrade(&watcher);
        let current = Arc::new(RwLock::new(Arc::new(library)));
        let shared = Arc::clone(&current);
        std::thread::Builder::new().name("toolfold-skills".to_owned()).spawn(move || {
            while wait_for_quiet(&receiver) {
                let old = Arc::clone(&shared.read().unwrap_or_else(PoisonError::into_inner));
                let loaded = old.reload(&DiskFs, &mut cache);
                changed(&loaded);
                let Some(watcher) = weak.upgrade() else { return };
                for root in loaded.value.roots() {
                    // A new root is watched recursively from now on.
                    let (path, mode) = nearest_folder(root);
                    let _ = watcher.lock().unwrap_or_else(PoisonError::into_inner).watch(&path, mode);
                }
                *shared.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded.value);
            }
        })?;
        Ok(Self { current, _watcher: watcher })
    }

    /// The current library.
    #[must_use]
    pub fn current(&self) -> Arc<SkillLibrary> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The folder itself, recursively, or its nearest existing ancestor, not recursively. A whole
/// project can have more folders than a system watches, so only its own entries are watched.
fn nearest_folder(root: &Root) -> (PathBuf, RecursiveMode) {
    let path = &root.path;
    if path.is_dir() {
        let is_project = root.style == Style::Project;
        return (path.clone(), if is_project { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive });
    }
    let above = path.ancestors().find(|p| p.is_dir()).unwrap_or(Path::new("."));
    (above.to_owned(), RecursiveMode::NonRecursive)
}

/// Waits for a change and then for [`DEBOUNCE`] without another. Returns `false` once the watcher
/// is dropped. A continuous stream is cut after a thousand changes.
fn wait_for_quiet(receiver: &Receiver<()>) -> bool {
    if receiver.recv().is_err() {
        return false;
    }
    for _ in 0..1_000 {
        match receiver.recv_timeout(DEBOUNCE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}
