//! Checkpoints: number and hash of a record, stored where users of the store cannot write.
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
use toolfold::store::AuditedStore;

/// Maximum size of a file of checkpoints in bytes: about 200,000 checkpoints.
const MAX_BYTES: usize = 16 << 20;
/// SHA-256 in hexadecimal digits.
const HASH_DIGITS: usize = 64;

const HELP: &str = "a checkpoint is NUMBER:HASH, as `toolfold audit checkpoint` prints it";

/// Parses the value of a flag: NUMBER:HASH, or a file (`-` is standard input) with one checkpoint
/// per line. Blank lines and lines that begin with `#` are skipped. A file without a checkpoint is
/// an error: it would prove nothing.
pub(super) fn known(given: &str) -> Result<Vec<Checkpoint>, Failure> {
    let number = given.split_once(':').is_some_and(|(number, _)| number.bytes().all(|b| b.is_ascii_digit()));
    if number {
        return parse_checkpoint(given).map(|one| vec![one]).map_err(|why| Failure::usage(why).help(HELP));
    }
    let text = read_text(given, MAX_BYTES)?;
    let mut known = Vec::new();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if !line.is_empty() && !line.starts_with('#') {
            let place = Place::file(given).line_column(at + 1, 1);
            let bad = |why| Failure::in_file("bad-checkpoint", place, why).help(HELP);
            known.push(parse_checkpoint(line).map_err(bad)?);
        }
    }
    if known.is_empty() {
        return Err(Failure::in_file("no-checkpoint", Place::file(given), "contains no checkpoint").help(HELP));
    }
    Ok(known)
}

fn parse_checkpoint(text: &str) -> Result<Checkpoint, String> {
    let (number, hash) = text.split_once(':').ok_or_else(|| format!("`{text}` has no colon"))?;
    let seq = number.parse().map_err(|_| format!("`{number}` is not the number of a record"))?;
    if hash.len() != HASH_DIGITS || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(format!("`{hash}` is not a hash: a hash has {HASH_DIGITS} hexadecimal digits"));
    }
    Ok(Checkpoint { seq, hash: hash.to_ascii_lowercase() })
}

/// A checkpoint of the current chain, after verifying it. `None` if there is no record yet.
pub(super) fn take_checkpoint(store: &dyn AuditedStore) -> Result<Option<Checkpoint>, Failure> {
    let verified = store.verify(&[]).map_err(failure)?;
    if verified.faults.is_empty() { Ok(verified.head) } else { Err(broken(&verified.faults, verified.records)) }
}

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

/// Appends a checkpoint to a file, and creates the file if it does not exist.
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
