//! Checkpoints: the number and hash of a record, kept where those who can write to the store cannot write.
#![allow(
    clippy::disallowed_methods,
    reason = "this module is an edge: it writes the files that checkpoints are kept in"
)]

use std::fs::OpenOptions;
use std::io::Write;

use super::input::read_text;
use super::ledger::failure;
use super::output::Failure;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::policy::audit::{Checkpoint, Fault};
use toolfold::store::SqliteStore;

/// The largest file of checkpoints that is read, in bytes: about 200,000 of them.
const MAX_BYTES: usize = 16 << 20;
/// SHA-256 in hexadecimal digits.
const HASH_DIGITS: usize = 64;

const HELP: &str = "a checkpoint is NUMBER:HASH, as `toolfold audit checkpoint` prints it";

/// Reads checkpoints as a flag gives them: one as NUMBER:HASH, or a file (`-` is standard input) with one on each line.
/// Blank lines and lines that begin with `#` are skipped. A file without a checkpoint is an error: it would prove
/// nothing.
pub(super) fn known(given: &str) -> Result<Vec<Checkpoint>, Failure> {
    let number = given.split_once(':').is_some_and(|(number, _)| number.bytes().all(|b| b.is_ascii_digit()));
    if number {
        return parse_checkpoint(given).map(|one| vec![one]).map_err(|why| Failure::usage(why).help(HELP));
    }
    let text = read_text(given, MAX_BYTES)?;
    let bad = |code, place: Place, why: &str| Failure::bad(vec![Diagnostic::error(code, place, why).help(HELP)]);
    let lines = text.lines().map(str::trim).enumerate();
    let known = lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(at, line)| {
            parse_checkpoint(line).map_err(|why| bad("bad-checkpoint", Place::file(given).line_column(at + 1, 1), &why))
        })
        .collect::<Result<Vec<Checkpoint>, Failure>>()?;
    if known.is_empty() { Err(bad("no-checkpoint", Place::file(given), "contains no checkpoint")) } else { Ok(known) }
}

fn parse_checkpoint(text: &str) -> Result<Checkpoint, String> {
    let (number, hash) = text.split_once(':').ok_or_else(|| format!("`{text}` has no colon"))?;
    let seq = number.parse().map_err(|_| format!("`{number}` is not the number of a record"))?;
    if hash.len() != HASH_DIGITS || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(format!("`{hash}` is not a hash: a hash has {HASH_DIGITS} hexadecimal digits"));
    }
    Ok(Checkpoint { seq, hash: hash.to_ascii_lowercase() })
}

/// A checkpoint of the chain as it is now, after verifying it. `None` where there is no record yet.
pub(super) fn take_checkpoint(store: &SqliteStore) -> Result<Option<Checkpoint>, Failure> {
    let verified = store.verify(&[]).map_err(failure)?;
    if verified.faults.is_empty() { Ok(verified.head) } else { Err(broken(&verified.faults, verified.records)) }
}

/// The error of a chain that is not intact.
pub(super) fn broken(faults: &[Fault], records: u64) -> Failure {
    let place = Place::default();
    let mut all: Vec<Diagnostic> =
        faults.iter().map(|fault| Diagnostic::error("audit-chain", place.clone(), fault.to_string())).collect();
    if let Some(last) = all.last_mut() {
        let (count, s) = (faults.len(), if faults.len() == 1 { "" } else { "s" });
        last.help = Some(format!(
            "{count} fault{s} in {records} records: trust no record from the first fault on without another copy"
        ));
    }
    Failure::bad(all)
}

/// `NUMBER:HASH`
pub(super) fn checkpoint_text(checkpoint: &Checkpoint) -> String {
    format!("{}:{}", checkpoint.seq, checkpoint.hash)
}

/// Appends a checkpoint to a file, and creates the file where there is none.
pub(super) fn append(file: &str, checkpoint: &Checkpoint) -> Result<(), Failure> {
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .and_then(|mut opened| opened.write_all(format!("{}\n", checkpoint_text(checkpoint)).as_bytes()));
    written.map_err(|why| {
        let why = Diagnostic::error("unwritable", Place::file(file), format!("cannot be written: {why}"));
        Failure::bad(vec![why.help("check the path")])
    })
}
