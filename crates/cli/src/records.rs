//! The records of a log file: one JSON object per line.

use std::io::{BufRead, Read};

use serde::Deserialize;
use toolfold::conversation::{LOG_VERSION, LogRecord, OLDEST_LOG_VERSION};

use super::lines::not_json;

/// Maximum length of a record in bytes. A record contains at most one answer or one snapshot.
const MAX_RECORD: u64 = 256 << 20;

#[derive(Debug)]
pub(super) struct Entry {
    /// Its number, from 1; blank lines count.
    pub(super) line: usize,
    /// Its start in bytes.
    pub(super) at: u64,
    /// Whether the file ends before the line does.
    pub(super) torn: bool,
    pub(super) read: Result<Box<LogRecord>, Bad>,
}

/// Why a line is not a record.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) message: String,
    /// Whether it is the start of a record: what an interrupted write leaves.
    pub(super) begins: bool,
}

pub(super) struct Records<R> {
    source: R,
    line: usize,
    at: u64,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, line: 0, at: 0 }
    }

    /// The next line that is not blank; `None` at the end.
    pub(super) fn next(&mut self) -> std::io::Result<Option<Entry>> {
        loop {
            let (mut bytes, at) = (Vec::new(), self.at);
            let read = self.source.by_ref().take(MAX_RECORD).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            let mut skipped = 0;
            let torn = !bytes.ends_with(b"\n");
            if torn && bytes.len() as u64 == MAX_RECORD {
                skipped = self.source.skip_until(b'\n')?;
            }
            self.at += (read + skipped) as u64;
            let read = match skipped {
                0 if bytes.iter().all(u8::is_ascii_whitespace) => continue,
                0 => parse_record(&bytes),
                _ => Err(Bad { message: format!("is longer than {} MiB", MAX_RECORD >> 20), begins: false }),
            };
            return Ok(Some(Entry { line: self.line, at, torn, read }));
        }
    }
}

const READ: [u32; 2] = [OLDEST_LOG_VERSION, LOG_VERSION];

#[derive(Deserialize)]
struct Version {
    v: Option<u64>,
    event: Option<serde_json::Value>,
}

fn parse_record(bytes: &[u8]) -> Result<Box<LogRecord>, Bad> {
    // The start of a record, or the zero bytes that a power failure leaves at the end of a file.
    let begins = bytes.iter().all(|byte| *byte == 0)
        || READ.into_iter().any(|version| {
            let begin = format!("{{\"v\":{version},");
            bytes.starts_with(begin.as_bytes()) || begin.as_bytes().starts_with(bytes)
        });
    let bad = |message: String| Bad { message, begins };
    let text = std::str::from_utf8(bytes).map_err(|_| bad("is not UTF-8".to_owned()))?;
    let read = serde_json::from_str::<LogRecord>(text).ok().filter(|record| READ.contains(&record.v));
    read.map(Box::new).ok_or_else(|| {
        bad(match serde_json::from_str::<Version>(text) {
            Ok(Version { v: Some(v), .. }) if !READ.iter().any(|read| u64::from(*read) == v) => {
                format!("has version {v}; only versions {OLDEST_LOG_VERSION} to {LOG_VERSION} are supported")
            }
            Ok(Version { v: None, event: Some(_) }) => {
                format!(
                    "is an older event without `v`; only versions {OLDEST_LOG_VERSION} to {LOG_VERSION} are supported"
                )
            }
            Err(why) if !why.is_data() => not_json(&why).replace("the line is not JSON", "is not JSON"),
            _ => "is not a log record".to_owned(),
        })
    })
}
