//! The file of rows: one JSON object per line, written when each round ends.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it writes rows")]

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

use serde_json::Value;

use super::super::input::read_text;
use super::super::output::{Failure, json_line, say_all};
use super::AbArgs;
use super::plan::{Plan, Round, driver_name};
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold_measure::ab::{ROW_SCHEMA, Row};

/// Maximum size of a file of rows in bytes.
pub(super) const MAX_ROWS: usize = 1 << 30;

/// The rows, earlier runs first, and the file that new ones are appended to.
pub(super) struct Rows {
    all: Vec<Row>,
    done: HashSet<(String, String, String, usize)>,
    file: Option<(String, File)>,
}

impl Rows {
    /// Opens the output file: a new one, or with `--resume` one of the same plan.
    pub(super) fn open_rows(args: &AbArgs, plan: &Plan) -> Result<Self, Failure> {
        let mut rows = Self { all: Vec::new(), done: HashSet::new(), file: None };
        let Some(name) = &args.out else { return Ok(rows) };
        let exists = std::fs::metadata(name).is_ok_and(|meta| meta.len() > 0);
        if exists && !args.resume {
            return Err(Failure::usage(format!("{name} exists already"))
                .help("continue it with --resume, or name another file"));
        }
        let mut end = 0;
        if exists {
            let text = read_text(name, MAX_ROWS)?;
            let held = held(&text, name)?;
            if let Some(other) = held.identity.as_ref().and_then(|own| difference(own, &plan.identity())) {
                return Err(Failure::wrong(format!("{name}: its rows belong to another run: {other}"))
                    .help("name another file with --out"));
            }
            end = held.end;
            rows.resume_rows(held.rows, plan);
        }
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(name)
            .map_err(|why| unwritable(name, &why))?;
        // A killed process may leave a partial line: it is removed, and its round is played again.
        let placed = file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0)));
        placed.map_err(|why| unwritable(name, &why))?;
        rows.file = Some((name.clone(), file));
        if end == 0 {
            rows.write_row(&json_line(&plan.identity())?)?;
        }
        Ok(rows)
    }

    /// Adds the rows of an earlier run that this plan includes.
    fn resume_rows(&mut self, held: Vec<Row>, plan: &Plan) {
        let planned: HashSet<_> = plan.rounds().into_iter().map(round_key).collect();
        for row in held.into_iter().filter(|row| row.error.is_none()) {
            let (task, arm, driver, repeat) = row.key();
            let key = (task.to_owned(), arm.to_owned(), driver.to_owned(), repeat);
            if planned.contains(&key) && self.done.insert(key) {
                self.all.push(row);
            }
        }
    }

    pub(super) fn has_round(&self, round: Round<'_>) -> bool {
        self.done.contains(&round_key(round))
    }

    /// Adds a row; it is written to disk first.
    pub(super) fn add_row(&mut self, row: Row) -> Result<(), Failure> {
        self.write_row(&json_line(&row)?)?;
        self.all.push(row);
        Ok(())
    }

    fn write_row(&mut self, line: &str) -> Result<(), Failure> {
        let Some((name, file)) = &mut self.file else { return Ok(()) };
        // One write per line: a killed process leaves at most one partial line.
        file.write_all(line.as_bytes()).map_err(|why| unwritable(name, &why))
    }

    pub(super) fn all(&self) -> &[Row] {
        &self.all
    }
}

fn round_key(round: Round<'_>) -> (String, String, String, usize) {
    (round.task.id.clone(), round.arm.to_string(), driver_name(round.driver).to_owned(), round.repeat)
}

pub(super) struct Held {
    /// What its rows depend on; `None` if its first line does not contain it.
    pub(super) identity: Option<Value>,
    pub(super) rows: Vec<Row>,
    /// The end of its last whole line, in bytes.
    end: u64,
}

/// Parses rows. A cut last line is skipped with a warning; other invalid lines are errors.
pub(super) fn held(text: &str, name: &str) -> Result<Held, Failure> {
    let mut held = Held { identity: None, rows: Vec::new(), end: 0 };
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let place = Place::file(name).line_column(at + 1, 1);
        let whole = line.ends_with('\n');
        let read = match serde_json::from_str::<Value>(line) {
            Ok(value) if at == 0 && value.get("schema").is_some_and(|own| own == "toolfold.ab-run/1") => {
                held.identity = Some(value);
                Ok(None)
            }
            Ok(value) if value.get("schema").is_some_and(|own| own == ROW_SCHEMA) => {
                serde_json::from_value::<Row>(value).map(Some).map_err(|why| why.to_string())
            }
            Ok(_) => Err(format!("is not a row of the form {ROW_SCHEMA}")),
            Err(_) if line.trim().is_empty() => Ok(None),
            Err(why) => Err(format!("is not JSON: {why}")),
        };
        match read {
            _ if !whole => {
                let why = "the last row is cut off, because the process ended while writing it; it is played again";
                say_all(&[Diagnostic::warning("torn-row", place, why)]);
                break;
            }
            Ok(row) => held.rows.extend(row),
            Err(why) => return Err(Failure::in_file("bad-row", place, why)),
        }
        held.end += line.len() as u64;
    }
    Ok(held)
}

fn unwritable(name: &str, why: &std::io::Error) -> Failure {
    Failure::wrong(format!("{name}: cannot be written: {why}"))
}

/// The key in which two identities differ.
fn difference(one: &Value, other: &Value) -> Option<String> {
    let keys = one.as_object()?.keys().chain(other.as_object()?.keys());
    let differs = keys.into_iter().find(|key| one.get(*key) != other.get(*key))?;
    let [there, here] = [one, other].map(|own| own.get(differs).map_or("nothing".to_owned(), Value::to_string));
    Some(format!("`{differs}` is {there} there and {here} here"))
}
