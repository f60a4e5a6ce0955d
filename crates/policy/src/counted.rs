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

/// Counts an evaluation.
pub(crate) fn evaluation() {
    if cfg!(debug_assertions) {
        let (evaluations, parses) = counted();
        COUNTED.set((evaluations + 1, parses));
    }
}

/// Counts a command line that is read.
pub(crate) fn parse() {
    if cfg!(debug_assertions) {
        let (evaluations, parses) = counted();
        COUNTED.set((evaluations, parses + 1));
    }
}
