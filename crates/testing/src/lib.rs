//! Shared by the tests of every crate: the number of cases, and the slowest tests.
#![allow(clippy::disallowed_methods, reason = "tests read their environment and keep their times in files")]

mod cases;
mod commands;
mod fixture;
mod times;

pub use cases::{Cases, cases, cases_of, faults, sample};
pub use commands::command;
pub use fixture::fixture;
pub use times::{Time, slowest, started, timed};
