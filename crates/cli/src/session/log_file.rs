//! The file in which a session keeps its log: one process at a time writes it, and what it holds is whole.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the log")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Write};
use std::path::Path;

use super::super::output::{Failure, say_all};
use super::super::records::{Entry, Records};
use toolfold::conversation::{CallId, Event, LogRecord};
use toolfold::diagnostic::{Diagnostic, Place, visible};

/// A log that is open for writing, and locked where it is a regular file.
#[derive(Debug)]
pub(super) struct LogFile {
    file: File,
    durable: bool,
}

/// A record that was read, and its line.
pub(super) struct StoredRecord {
    pub(super) line: usize,
    pub(super) record: LogRecord,
}

impl LogFile {
    /// Opens a log, making it where there is none, and gives the records of one conversation that it holds. A record that
    /// was cut off while it was written, and a call whose outcome was not written completely, are dropped from the file:
    /// nobody was told of them. `durable`: every write reaches the disk before it counts.
    pub(super) fn open_log(name: &str, durable: bool, id: &str) -> Result<(Self, Vec<StoredRecord>), Failure> {
        let failed = |what: &str, why: &std::io::Error| {
            let why = Diagnostic::error("unwritable", Place::file(name), format!("{what}: {why}"));
            Failure::bad(vec![why.help("check the path and its permissions")])
        };
        let path = Path::new(name);
        let regular = path.metadata().map_or(true, |found| found.is_file());
        let created = !path.exists();
        let mut options = OpenOptions::new();
        // A pipe or a terminal takes records, but gives none back.
        options.append(true).create(true).read(regular);
        let file = options.open(path).map_err(|why| failed("cannot be opened", &why))?;
        let mut log = Self { file, durable };
        if !regular {
            return Ok((log, Vec::new()));
        }
        match log.file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why = Diagnostic::error("log-in-use", Place::file(name), "another session is writing this log");
                return Err(Failure::bad(vec![why.help("wait until it ends, or use a file of its own")]));
            }
            Err(TryLockError::Error(why)) => return Err(failed("cannot be locked", &why)),
        }
        let kept = log.read_whole_log(name, id).map_err(|why| match why {
            Broken::Io(why) => failed("cannot be read", &why),
            Broken::Line(place, why) => {
                let help = "a log holds nothing but records of toolfold session; use a file of its own";
                Failure::bad(vec![Diagnostic::error("bad-record", place, why).help(help)])
            }
        })?;
        if durable && created {
            log.sync_folder(path).map_err(|why| failed("its folder cannot be synchronised", &why))?;
        }
        Ok((log, kept))
    }

    /// Reads all of it, and drops the torn end. The records of the conversation, unless its id is empty.
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
            let dropped = format!("{what}: what is from here on was dropped, since nobody was told of it");
            say_all(&[Diagnostic::warning("torn-log", Place::file(name).line_column(line, 1), dropped)]);
            self.file.set_len(at)?;
            kept.retain(|kept| kept.line < line);
        } else if unended {
            self.file.write_all(b"\n")?;
        }
        Ok(kept)
    }

    /// Appends records. Once it returns they are with the system, and on disk if the log is durable.
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

    /// A new file is only there after a power failure if its folder was synchronised, too.
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

/// Why a log is not whole.
enum Broken {
    Io(std::io::Error),
    Line(Place, String),
}

impl From<std::io::Error> for Broken {
    fn from(why: std::io::Error) -> Self {
        Self::Io(why)
    }
}

/// The call at the end of what was read that has no outcome yet, with its line and place. The records of a call are written
/// at once: only a write that was cut off leaves one.
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

/// Checks that records follow each other from the first on.
pub(super) fn checked(name: &str, kept: Vec<StoredRecord>) -> Result<Vec<LogRecord>, Failure> {
    for (StoredRecord { line, record }, expected) in kept.iter().zip(0_u64..) {
        if record.seq != expected {
            let id = visible(&record.conversation);
            let why = format!("record {} of `{id}` follows where record {expected} should stand", record.seq);
            let why = Diagnostic::error("log-gap", Place::file(name).line_column(*line, 1), why);
            return Err(Failure::bad(vec![why.help("the conversation cannot be resumed from a log with gaps")]));
        }
    }
    Ok(kept.into_iter().map(|kept| kept.record).collect())
}
