//! How often this thread has evaluated a call and read a command line. A test checks that one call
//! is evaluated once.

use std::cell::Cell;

/// How often each was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls that were [prepared](super::Policy::prepare).
    pub evaluations: usize,
    /// Command lines that were read, and texts within them that are command lines.
    pub parses: usize,
}

thread_local! {
    static COUNTED: Cell<Counted> = const { Cell::new(Counted { evaluations: 0, parses: 0 }) };
}

/// What this thread has done so far; nothing in a build without debug assertions, which does not
/// count.
#[must_use]
pub fn counted() -> Counted {
    COUNTED.get()
}

/// Counts an evaluation.
pub(crate) fn evaluation() {
    if cfg!(debug_assertions) {
        COUNTED.set(Counted { evaluations: counted().evaluations + 1, ..counted() });
    }
}

/// Counts a command line that is read.
pub(crate) fn parse() {
    if cfg!(debug_assertions) {
        COUNTED.set(Counted { parses: counted().parses + 1, ..counted() });
    }
}
