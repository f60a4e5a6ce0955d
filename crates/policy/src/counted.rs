//! Counts the evaluations of calls and the parses of command lines on this thread, for the test
//! that one call is evaluated once.

use std::cell::Cell;

thread_local! {
    static COUNTED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The number of calls that this thread has [prepared](super::Policy::prepare), and of command
/// lines that it has read, with those inside others. Zero in a build without debug assertions,
/// which does not count.
#[must_use]
pub fn counted() -> (usize, usize) {
    COUNTED.get()
}

/// Counts calls that are evaluated and command lines that are read.
pub(crate) fn count(evaluations: usize, parses: usize) {
    if cfg!(debug_assertions) {
        let (before, parses_before) = counted();
        COUNTED.set((before + evaluations, parses_before + parses));
    }
}
