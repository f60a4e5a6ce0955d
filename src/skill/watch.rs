//! Watching the roots (feature `watch`): when files change, a new library takes the old one's place.
//!
//! Sessions are not touched: each keeps the library it was made with, by its `Arc`. This file is an edge: it starts a
//! thread and asks the machine for changes.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::disk::DiskFs;
use super::library::{DiscoveryCache, SkillLibrary};
use crate::diagnostic::Loaded;

/// How long it must be quiet before the files are read again.
pub const DEBOUNCE: Duration = Duration::from_millis(300);

/// Holds the current library and keeps it current until it is dropped.
#[derive(Debug)]
pub struct SkillWatcher {
    current: Arc<RwLock<Arc<SkillLibrary>>>,
    // Dropping it closes the channel, which ends the thread; the thread itself holds it weakly.
    _watcher: Arc<Mutex<RecommendedWatcher>>,
}

impl SkillWatcher {
    /// Starts watching the roots of a library that was read from disk. `changed` is told of every new library, on the
    /// watcher's own thread, before it is swapped in.
    ///
    /// A root that does not exist yet is noticed through the nearest folder above it that does.
    ///
    /// # Errors
    /// The system's reason why it cannot watch.
    pub fn start(
        library: SkillLibrary,
        mut cache: DiscoveryCache,
        mut changed: impl FnMut(&Loaded<SkillLibrary>) + Send + 'static,
    ) -> Result<Self, notify::Error> {
        let (sender, receiver) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(move |event: Result<notify::Event, notify::Error>| {
            // Reading a file is no change. An error may hide one, so it counts.
            if event.map_or(true, |e| !e.kind.is_access()) {
                let _ = sender.send(());
            }
        })?;
        for root in library.roots() {
            let (path, mode) = nearest_folder(&root.path);
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
                    // A root that came into being is watched whole from now on.
                    let (path, mode) = nearest_folder(&root.path);
                    let _ = watcher.lock().unwrap_or_else(PoisonError::into_inner).watch(&path, mode);
                }
                *shared.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded.value);
            }
        })?;
        Ok(Self { current, _watcher: watcher })
    }

    /// The library as it is now.
    #[must_use]
    pub fn current(&self) -> Arc<SkillLibrary> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The folder itself with all below it, or the nearest one above that exists, alone.
fn nearest_folder(path: &Path) -> (PathBuf, RecursiveMode) {
    if path.is_dir() {
        return (path.to_owned(), RecursiveMode::Recursive);
    }
    let above = path.ancestors().find(|p| p.is_dir()).unwrap_or(Path::new("."));
    (above.to_owned(), RecursiveMode::NonRecursive)
}

/// Waits for a change and then for [`DEBOUNCE`] without another; `false` once nobody watches any more. A stream that
/// never pauses is cut after a thousand changes.
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
