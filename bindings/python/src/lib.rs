//! The native half of the Python package `toolfold`: engine, conversation, outcomes, approvals,
//! tokens, and the command line.
//!
//! Every class is a thin wrapper. A conversation has a lock that is only taken with the interpreter
//! detached, and no code that holds it calls Python, so threads cannot deadlock. Large values are
//! passed as JSON text, which Python's own parser turns into objects three times faster than
//! building them one by one.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]
#![allow(clippy::needless_pass_by_value, reason = "pyo3 extracts arguments by value")]

mod approver;
mod command;
mod conversation;
mod engine;
mod entry;
mod error;
mod layers;
mod outcome;
mod settings;
mod steps;
mod text;
mod tokens;
mod turn;
mod typed;

#[pyo3::pymodule]
mod _toolfold {
    #[pymodule_export]
    use crate::approver::{Approval, Approver};
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::conversation::Conversation;
    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::entry::{Entry, OpenedTool};
    #[pymodule_export]
    use crate::outcome::{Confirm, Forward, Refuse, Reply, restore_outcome};
    #[pymodule_export]
    use crate::tokens::tokens;
    #[pymodule_export]
    use crate::turn::Turn;

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
