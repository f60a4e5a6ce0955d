//! Runs commands in a process each, where standard streams cannot be replaced.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `toolfold` in `folder` with `input`.
///
/// # Panics
/// Panics if the process cannot be started.
#[must_use]
pub fn command(toolfold: &str, folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(crate::started(toolfold));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("TOOLFOLD_TEST_SECRET", "hunter2-secret");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap_or_else(|why| panic!("{toolfold}: {why}"));
    // A command that fails early closes the pipe before everything is written.
    drop(process.stdin.take().map(|mut pipe| pipe.write_all(input)));
    process.wait_with_output().unwrap_or_else(|why| panic!("{toolfold}: {why}"))
}
