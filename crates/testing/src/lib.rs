//! What the tests of every crate share: how many cases they try, and which of them took longest.
#![allow(clippy::disallowed_methods, reason = "tests read their environment and keep their times in files")]

mod cases;
mod commands;
mod fixture;
mod times;

pub use cases::{Cases, cases, cases_of, faults, sample};
pub use commands::command;
pub use fixture::fixture;
pub use times::{Time, slowest, started, timed};
