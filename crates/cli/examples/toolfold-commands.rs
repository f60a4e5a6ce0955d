//! Runs commands of `toolfold` one after the other in one process, for tests of commands that do
//! not test the process itself. A vocabulary is then loaded once, not for each command.
//!
//! Each line on standard input is a JSON object: `arguments` (texts), `folder` to run in, and the
//! files `input`, `output` and `errors`, which replace standard input, output and error. The answer
//! is a line with the exit code.
#![allow(clippy::disallowed_methods, reason = "it stands for a process, and tests give it its files")]
#![cfg_attr(not(unix), allow(unused, reason = "standard streams are replaced on Unix only"))]

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::ffi::OsString;
    use std::fs::File;
    use std::io::{BufRead, BufReader, Read, Write, stdin, stdout};
    use std::os::fd::AsFd;
    use std::process::ExitCode;

    // The first three descriptors are about to be replaced.
    let requests = BufReader::new(File::from(stdin().as_fd().try_clone_to_owned()?));
    let mut answers = File::from(stdout().as_fd().try_clone_to_owned()?);
    let mut files = None;
    for line in requests.lines() {
        let request: serde_json::Value = serde_json::from_str(&line?)?;
        let text = |key: &str| request.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        rustix::stdio::dup2_stdin(File::open(text("input"))?)?;
        rustix::stdio::dup2_stdout(File::create(text("output"))?)?;
        rustix::stdio::dup2_stderr(File::create(text("errors"))?)?;
        std::env::set_current_dir(text("folder"))?;
        files = std::path::Path::new(text("output")).parent().map(std::path::Path::to_owned);
        let arguments = request.get("arguments").and_then(serde_json::Value::as_array).into_iter().flatten();
        let arguments = arguments.filter_map(|one| one.as_str()).map(OsString::from);
        let code = toolfold_cli::run_with([OsString::from("toolfold")].into_iter().chain(arguments));
        stdout().flush()?;
        // What a command left unread must not be read by the next one.
        stdin().lock().read_to_end(&mut Vec::new())?;
        let number = (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).ok_or("an exit code over 255")?;
        writeln!(answers, "{number}")?;
    }
    // The test that started this process has ended.
    if let Some(folder) = files {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn main() {}
