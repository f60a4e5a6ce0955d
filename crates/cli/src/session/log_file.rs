//! The log file of a session: one process at a time writes it, and its content is complete.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the log")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Write};
use std::path::Path;

use super::super::output::{Failure, say_all};
use super::super::records::{Entry, Records};
use toolfold::conversation::{CallId, Event, LogRecord};
use toolfold::diagnostic::{Diagnostic, Place, visible};

/// A log that is open for writing, and locked if it is a regular file.
#[derive(Debug)]
pub(super) struct LogFile {
    file: File,
    durable: bool,
}

pub(super) struct StoredRecord {
    pub(super) line: usize,
    pub(super) record: LogRecord,
}

impl LogFile {
    /// Opens a log, creating it if needed, and returns its records of one conversation. A record
    /// that was cut off, and a call without a complete outcome, are removed from the file: no
    /// answer was sent for them. `durable`: every write is flushed to disk before it counts.
    pub(super) fn open_log(name: &str, durable: bool, id: &str) -> Result<(Self, Vec<StoredRecord>), Failure> {
        let path = Path::new(name);
        let regular = path.metadata().map_or(true, |found| found.is_file());
        let created = !path.exists();
        let mut options = OpenOptions::new();
        // A pipe or a terminal can be written to, but not read.
        options.append(true).create(true).read(regular);
        let file = options.open(path).map_err(|why| failed(name, "cannot be opened", &why))?;
        let mut log = Self { file, durable };
        if !regular {
            return Ok((log, Vec::new()));
        }
        match log.file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::in_file("log-in-use", Place::file(name), "another session is writing this log")
                    .help("wait until it ends, or use another file"));
            }
            Err(TryLockError::Error(why)) => return Err(failed(name, "cannot be locked", &why)),
        }
        let kept = log.read_whole_log(name, id).map_err(|why| match why {
            Broken::Io(why) => failed(name, "cannot be read", &why),
            Broken::Line(place, why) => {
                let help = "a log contains only records of toolfold session; use another file";
                Failure::in_file("bad-record", place, why).help(help)
            }
        })?;
        if durable && created {
            log.sync_folder(path).map_err(|why| failed(name, "its folder cannot be flushed to disk", &why))?;
        }
        Ok((log, kept))
    }

    /// Reads the whole log, and removes a torn end. Returns the conversation's records.
    fn read_whole_log(&mut self, name: &str, id: &str) -> Result<Vec<StoredRecord>, Broken> {
        let mut records = Records::new(BufReader::new(&self.file));
        let mut open = OpenCall::default();
        let (mut kept, mut unended, mut torn) = (Vec::new(), false, None);
        while let Some(Entry { line, at, torn: cut, read }) = records.next()? {
            match read {
                Ok(record) => {
                    open.take_record(&record, line, at);
                    unended = cut;
                    if !id.is_empty() && record.conversation == id {
                        kept.push(StoredRecord { line, record: *record });
                    }
                }
                Err(bad) if cut && bad.begins => torn = Some((line, at)),
                Err(bad) => return Err(Broken::Line(Place::file(name).line_column(line, 1), bad.message)),
            }
        }
        let call = open.0.map(|(_, _, line, at)| (line, at));
        if let Some((line, at)) = call.or(torn) {
            let what = if call.is_some() { "the last call has no outcome" } else { "the last record is cut off" };
            let dropped = format!("{what}: the rest was removed, since no answer was sent for it");
            say_all(&[Diagnostic::warning("torn-log", Place::file(name).line_column(line, 1), dropped)]);
            self.file.set_len(at)?;
            kept.retain(|kept| kept.line < line);
        } else if unended {
            self.file.write_all(b"\n")?;
        }
        Ok(kept)
    }

    /// Appends records; they are flushed to disk if the log is durable.
    pub(super) fn append(&mut self, records: &[LogRecord]) -> std::io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for record in records {
            serde_json::to_writer(&mut bytes, record)?;
            bytes.push(b'\n');
        }
        self.file.write_all(&bytes)?;
        self.file.flush()?;
        if self.durable { self.file.sync_data() } else { Ok(()) }
    }

    /// A new file survives a power failure only if its folder was flushed, too.
    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> std::io::Result<()> {
        self.file.sync_all()?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_folder(&self, _path: &Path) -> std::io::Result<()> {
        self.file.sync_all()
    }
}

fn failed(name: &str, what: &str, why: &std::io::Error) -> Failure {
    Failure::in_file("unwritable", Place::file(name), format!("{what}: {why}"))
        .help("check the path and its permissions")
}

/// Why a log is not complete.
enum Broken {
    Io(std::io::Error),
    Line(Place, String),
}

impl From<std::io::Error> for Broken {
    fn from(why: std::io::Error) -> Self {
        Self::Io(why)
    }
}

/// The last call read without an outcome, with its line and offset. The records of a call are
/// written at once: only an interrupted write leaves one.
#[derive(Default)]
struct OpenCall(Option<(String, CallId, usize, u64)>);

impl OpenCall {
    fn take_record(&mut self, record: &LogRecord, line: usize, at: u64) {
        let open = self.0.take_if(|(conversation, ..)| *conversation == record.conversation);
        self.0 = match &record.event {
            Event::Called { id, .. } => Some((record.conversation.clone(), id.clone(), line, at)),
            Event::Answered { id, .. }
            | Event::Asked { id, .. }
            | Event::Forwarded { id, .. }
            | Event::Refused { id, .. } => open.filter(|(_, own, ..)| own != id),
            _ => open,
        };
    }
}

/// Checks that the records are consecutive from the first one on.
pub(super) fn checked(name: &str, kept: Vec<StoredRecord>) -> Result<Vec<LogRecord>, Failure> {
    for (StoredRecord { line, record }, expected) in kept.iter().zip(0_u64..) {
        if record.seq != expected {
            let id = visible(&record.conversation);
            let why = format!("record {} of `{id}` is out of order: expected record {expected}", record.seq);
            let why = Diagnostic::error("log-gap", Place::file(name).line_column(*line, 1), why);
            return Err(Failure::bad(vec![why.help("the conversation cannot be resumed from a log with gaps")]));
        }
    }
    Ok(kept.into_iter().map(|kept| kept.record).collect())
}
