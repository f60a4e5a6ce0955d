//! The working folder while a command line is read, as far as `cd` can be followed.

use std::rc::Rc;

use crate::path::LexPath;

/// The folders that the shell may be in. Empty: unknown. A copy shares them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place(Rc<[LexPath]>);

/// The maximum number of folders that are tracked.
const MAX: usize = 4;

impl Place {
    pub(super) fn at(path: LexPath) -> Self {
        Self(Rc::new([path]))
    }

    /// The folder, if it is known.
    pub(super) fn only(&self) -> Option<&LexPath> {
        if let [only] = &*self.0 { Some(only) } else { None }
    }

    pub(super) fn unknown() -> Self {
        Self::default()
    }

    /// After a `cd` that succeeded.
    pub(super) fn enter(&self, folder: &str) -> Self {
        let of_home = folder.starts_with('~');
        Self(self.0.iter().map(|path| if of_home { LexPath::read(folder) } else { path.enter(folder) }).collect())
    }

    /// Either of two places.
    pub(super) fn or(&self, other: &Self) -> Self {
        if self.0.is_empty() || other.0.is_empty() {
            return Self::unknown();
        }
        if Rc::ptr_eq(&self.0, &other.0) {
            return self.clone();
        }
        let others = other.0.iter().filter(|path| !self.0.contains(path));
        let all: Rc<[LexPath]> = self.0.iter().chain(others).cloned().collect();
        if all.len() > MAX { Self::unknown() } else { Self(all) }
    }

    /// The files that a path may name here, and whether that is certain. Empty: unknown.
    pub(super) fn files(&self, path: &str) -> (Vec<LexPath>, bool) {
        if path.starts_with('/') || path == "~" || path.starts_with("~/") {
            return (vec![LexPath::read(path)], true);
        }
        (self.0.iter().map(|p| p.join(path)).collect(), self.0.len() == 1)
    }
}
