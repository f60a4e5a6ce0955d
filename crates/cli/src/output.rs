//! Terminal output and exit codes.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use toolfold::diagnostic::{Diagnostic, Place, Severity};
pub(super) use toolfold_measure::figures::grouped;

/// Headings.
pub(super) const BOLD: Style = Style::new().bold();
/// Secondary text.
pub(super) const DIM: Style = Style::new().dimmed();
/// Savings.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// Errors.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Warnings.
pub(super) const CARE: Style = AnsiColor::Yellow.on_default().bold();

#[derive(Debug)]
pub(super) struct Failure {
    code: u8,
    diagnostics: Vec<Diagnostic>,
    message: Option<String>,
    help: Option<String>,
}

/// The result of a command: an exit code, or why it failed.
pub(super) type Outcome = Result<ExitCode, Failure>;

impl Failure {
    /// The checked input is invalid (exit code 1).
    pub(super) fn bad(diagnostics: Vec<Diagnostic>) -> Self {
        Self { code: 1, diagnostics, message: None, help: None }
    }

    /// One error in a file (exit code 1).
    pub(super) fn in_file(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self::bad(vec![Diagnostic::error(code, place, message)])
    }

    /// Diagnostics with a specific exit code.
    pub(super) fn refused(code: u8, diagnostics: Vec<Diagnostic>) -> Self {
        Self { code, diagnostics, message: None, help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// One message with exit code 1.
    pub(super) fn wrong(message: impl Display) -> Self {
        Self { code: 1, diagnostics: Vec::new(), message: Some(message.to_string()), help: None }
    }

    /// The command line is invalid (exit code 2).
    pub(super) fn usage(message: impl Display) -> Self {
        Self { code: 2, diagnostics: Vec::new(), message: Some(message.to_string()), help: None }
    }

    /// A figure cannot be determined (exit code 3).
    pub(super) fn unmeasured(message: impl Display) -> Self {
        Self { code: 3, diagnostics: Vec::new(), message: Some(message.to_string()), help: None }
    }

    /// The message with its place, and how to fix it, for an answer.
    pub(super) fn described(&self) -> (String, Option<&str>) {
        let first = self.diagnostics.first();
        let place = first.map(|first| first.place.to_string()).filter(|place| !place.is_empty());
        let help = self.help.as_deref().or_else(|| first?.help.as_deref());
        (place.map_or_else(|| self.to_string(), |place| format!("{place}: {self}")), help)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let said = self.diagnostics.iter().map(|own| own.message.clone()).chain(self.message.clone());
        f.write_str(&said.collect::<Vec<_>>().join("; "))
    }
}

/// Prints why a command failed and returns the exit code.
pub(super) fn finish_command(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            say_all(&failure.diagnostics);
            if let Some(message) = failure.message {
                warn(&format!("{BAD}error{BAD:#}: {message}"));
            }
            if let Some(help) = failure.help {
                warn(&format!("  {DIM}help:{DIM:#} {help}"));
            }
            ExitCode::from(failure.code)
        }
    }
}

/// Writes to standard output. A closed pipe is not an error.
pub(super) fn emit(text: &str) -> Result<(), Failure> {
    write_to(&mut anstream::stdout().lock(), text).map(drop)
}

fn write_to(out: &mut impl Write, text: &str) -> Result<bool, Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(why) if why.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(why) => Err(Failure::wrong(format!("cannot write the output: {why}"))),
    }
}

/// Writes data to standard output unchanged: the filter that removes colour from text would remove
/// control characters, too.
pub(super) fn emit_data(data: &str) -> Result<(), Failure> {
    stream_data(data).map(drop)
}

/// The same for a part of the output. False if the pipe is closed.
pub(super) fn stream_data(data: &str) -> Result<bool, Failure> {
    write_to(&mut std::io::stdout().lock(), data)
}

pub(super) fn emit_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    emit_data(&json_line(value)?)
}

/// A value as one line. The characters besides control characters at which common readers of lines
/// split, such as those of Node.js and Python, are escaped.
pub(super) fn json_line(value: &impl serde::Serialize) -> Result<String, Failure> {
    let mut text = serde_json::to_string(value).map_err(|why| Failure::wrong(format!("cannot write JSON: {why}")))?;
    for (end, escape) in [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")] {
        if text.contains(end) {
            text = text.replace(end, escape);
        }
    }
    Ok(text + "\n")
}

/// Writes a line to standard error. A closed pipe is ignored.
pub(super) fn warn(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Prints a progress line if standard error is a terminal.
pub(super) fn progress(line: &str) {
    if std::io::stderr().is_terminal() {
        warn(&format!("{DIM}{line}{DIM:#}"));
    }
}

pub(super) fn on_terminal() -> bool {
    std::io::stdout().is_terminal()
}

pub(super) fn say_all(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        warn(&describe(diagnostic));
    }
}

pub(super) fn describe(diagnostic: &Diagnostic) -> String {
    let style = match diagnostic.severity {
        Severity::Error => BAD,
        Severity::Warning => CARE,
        Severity::Note => DIM,
    };
    let place = diagnostic.place.to_string();
    let place = if place.is_empty() { String::new() } else { format!("{BOLD}{place}{BOLD:#}: ") };
    let message = toolfold::diagnostic::visible(&diagnostic.message);
    let (severity, code) = (diagnostic.severity, diagnostic.code);
    let help =
        diagnostic.help.as_deref().map(|help| format!("\n  {DIM}help:{DIM:#} {}", toolfold::diagnostic::visible(help)));
    format!("{place}{style}{severity}[{code}]{style:#}: {message}{}", help.unwrap_or_default())
}

/// A number with its noun, in the singular for 1.
pub(super) fn plural_count(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}
