//! Runs commands of `toolfold` for tests that are not about the process.

#[cfg(not(unix))]
mod process;
#[cfg(unix)]
mod worker;

#[cfg(not(unix))]
pub use process::command;
#[cfg(unix)]
pub use worker::command;
