//! Commands of `toolfold`, as a test runs them where the process is not what it is about.

#[cfg(not(unix))]
mod process;
#[cfg(unix)]
mod worker;

#[cfg(not(unix))]
pub use process::command;
#[cfg(unix)]
pub use worker::command;
