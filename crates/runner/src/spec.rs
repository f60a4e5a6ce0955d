//! What the host, the supervisor and the child of a run exchange.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::isolation::Isolation;

/// The longest timeout of a run in milliseconds: ten minutes.
pub const MAX_TIMEOUT_MS: u64 = 600_000;

/// Maximum size in bytes of a message between the processes of a run. The largest one holds both
/// outputs of a script, escaped as JSON.
pub(crate) const MAX_MESSAGE: u64 = 4 << 20;

/// The limits of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Milliseconds until the script and its descendants are killed.
    pub timeout_ms: u64,
    /// CPU seconds of each process.
    pub cpu_seconds: u64,
    /// Bytes of private writable memory of each process (`RLIMIT_DATA`).
    pub data_bytes: u64,
    /// Bytes of resident memory of all processes together.
    pub resident_bytes: u64,
    /// Number of processes.
    pub processes: u64,
    /// Number of open files of each process.
    pub open_files: u64,
    /// Size in bytes of each file that the script writes.
    pub file_bytes: u64,
    /// Bytes of each output that are stored, at most 256 KiB; the rest is counted.
    pub output_bytes: u64,
}

impl Default for Limits {
    /// Half a minute of time and 1 GiB of memory: `node` needs 50 MB to start, and a script that
    /// needs more than the rest processes data that belongs in a tool.
    fn default() -> Self {
        Self {
            timeout_ms: 30_000,
            cpu_seconds: 60,
            data_bytes: 1 << 30,
            resident_bytes: 1 << 30,
            processes: 64,
            open_files: 256,
            file_bytes: 256 << 20,
            output_bytes: 64 << 10,
        }
    }
}

impl Limits {
    /// The same with another timeout in milliseconds, at most [`MAX_TIMEOUT_MS`], and CPU seconds
    /// for two busy threads.
    #[must_use]
    pub fn with_timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.timeout_ms = timeout_ms.min(MAX_TIMEOUT_MS);
        self.cpu_seconds = self.timeout_ms.div_ceil(1000) * 2;
        self
    }
}

/// Parses the timeout of a skill, in milliseconds.
///
/// # Errors
/// The reason why it is not a whole number of milliseconds between 1 and [`MAX_TIMEOUT_MS`].
pub fn parse_timeout(value: &serde_json::Value) -> Result<u64, String> {
    let parsed = match value {
        serde_json::Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    };
    let valid = parsed.filter(|ms| (1..=MAX_TIMEOUT_MS).contains(ms));
    valid.ok_or_else(|| {
        format!("`timeout` must be a whole number of milliseconds from 1 to {MAX_TIMEOUT_MS}, not {value}")
    })
}

/// Why the supervisor killed a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Stopped {
    /// The timeout expired.
    Timeout,
    /// The host cancelled the run or ended.
    Cancelled,
    /// The script had too many processes.
    Processes,
    /// The processes of the script used too much memory.
    Memory,
}

/// A run, as the host describes it to the supervisor and the supervisor to the child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The arguments of the supervisor's program before the hidden one.
    pub(crate) own_arguments: Vec<OsString>,
    /// The interpreter.
    pub(crate) program: PathBuf,
    /// The script, and the SHA-256 that it must have.
    pub(crate) entry: PathBuf,
    pub(crate) sha256: String,
    /// The work folder.
    pub(crate) work: PathBuf,
    /// The whole environment of the script.
    pub(crate) env: BTreeMap<String, String>,
    /// What the script gets as standard input; `None` for an empty one.
    pub(crate) stdin: Option<PathBuf>,
    /// What the script may read and execute besides the system's libraries.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) limits: Limits,
    pub(crate) isolation: Isolation,
    /// The process id of the supervisor; 0 until it is known.
    pub(crate) supervisor: u32,
}

/// What the supervisor reports when a script ended.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Why the script was not started.
    pub(crate) refused: Option<Refused>,
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stopped: Option<Stopped>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) stdout_bytes: u64,
    pub(crate) stderr_bytes: u64,
    pub(crate) duration_ms: u64,
    /// Whether processes of the script are left although they were killed.
    pub(crate) survived: bool,
}

/// Why a script was not started, in words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refused {
    /// Whether the script is not the one that was approved.
    pub(crate) changed: bool,
    pub(crate) why: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_timeout_is_a_positive_number_up_to_the_maximum() {
        for (value, parsed) in [(json!(1), Some(1)), (json!("2500"), Some(2500)), (json!(600_000), Some(600_000))] {
            assert_eq!(parse_timeout(&value).ok(), parsed, "{value}");
        }
        for value in
            [json!(0), json!(-5), json!("0"), json!("-1"), json!("5s"), json!(600_001), json!(1.5), json!(null)]
        {
            assert!(parse_timeout(&value).unwrap_err().contains("from 1 to 600000"), "{value}");
        }
    }
}
