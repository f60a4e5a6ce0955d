//! The table of programs: one program, one entry.
//!
//! A row is an allow-list, made from a program's own manual: an option that it does not list makes
//! a call ask. A program without a row, or with `listed = false`, has no list: a rule that allows
//! it covers all of its options.
//!
//! The rows are in `programs/*.toml`. A test packs them into `programs.bin`, which the library
//! contains. A file has:
//!
//! | key | what it holds |
//! |---|---|
//! | `date` | when the manuals were read, unless a row has a `date` |
//! | `[[manual]]`, `title` | a manual from which several rows were made: its `[[manual.program]]` |
//! | `[[program]]`, `manual` | a row that is the only one made from its manual |
//! | `names`, `why` | the program, or the program with its subcommand; what a reader should know |
//!
//! The other keys of a row are the fields of [`Program`] and the names of [`Does`]; the words of
//! `is` are the fields of [`Kinds`]. Only what the library uses is packed: a line for each row,
//! with its names and then the other keys as JSON.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{LazyLock, OnceLock};

pub(crate) use self::kinds::Kinds;
pub(crate) use self::row::{Does, Files, Links, Operands, Order, Prints, Program, Recursive, Style, Unpacks};
pub(crate) use self::words::{Words, fits};

mod kinds;
mod row;
mod words;

/// The rows, deflated.
const PACKED: &[u8] = include_bytes!("programs.bin");

/// FNV-1a: names are short and are looked up many times for a command, and no input
/// chooses the entries of the table.
#[derive(Debug, Default)]
pub(crate) struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// For tables of names of programs.
pub(crate) type Names = BuildHasherDefault<Fnv>;

/// The most bytes that the rows have.
const MAX_BYTES: usize = 4 << 20;

/// The packed rows, of which each is read when it is first used.
struct Table {
    /// The place of each name's row.
    places: HashMap<&'static str, usize, Names>,
    /// What more words make a name of: `gh pr`.
    begun: HashSet<&'static str, Names>,
    rows: Vec<(&'static str, OnceLock<Program>)>,
}

static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| {
    let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(PACKED, MAX_BYTES).ok()?;
    let text: &'static str = String::from_utf8(bytes).ok()?.leak();
    let mut table = Table { places: HashMap::default(), begun: HashSet::default(), rows: Vec::new() };
    for line in text.lines() {
        let (names, row) = line.rsplit_once('\t')?;
        for name in names.split('\t') {
            table.places.insert(name, table.rows.len());
            table.begun.extend(name.match_indices(' ').filter_map(|(at, _)| name.get(..at)));
        }
        table.rows.push((row, OnceLock::new()));
    }
    Some(table)
});

/// Whether the table can be read. Where it cannot, every command is unknown.
pub(crate) fn is_readable() -> bool {
    TABLE.is_some()
}

/// The row of a program, or of a program with its subcommand: `git`, `git log`.
pub(crate) fn row(name: &str) -> Option<&'static Program> {
    let table = TABLE.as_ref()?;
    let (text, read) = table.rows.get(*table.places.get(name)?)?;
    Some(read.get_or_init(|| {
        serde_json::from_str(text).unwrap_or_else(|_| Program { is_broken: true, ..Program::default() })
    }))
}

/// The row of a program, with or without a version.
pub(crate) fn find(base: &str) -> Option<&'static Program> {
    Some(named(base)?.1)
}

/// The row of exactly this name, or an empty row.
pub(crate) fn row_or_empty(name: &str) -> &'static Program {
    row(name).unwrap_or(&UNKNOWN)
}

/// The row of a program, with or without a version. Without one, a row that says nothing.
pub(crate) fn known(base: &str) -> &'static Program {
    find(base).unwrap_or(&UNKNOWN)
}

/// The row of a program that has none.
pub(crate) static UNKNOWN: LazyLock<Program> = LazyLock::new(Program::default);

/// What a program is, with or without a version. Nothing, if it has no row.
pub(crate) fn kinds(base: &str) -> Kinds {
    known(base).is
}

/// Whether more words make a name of these that has a row.
pub(crate) fn is_begun(name: &str) -> bool {
    TABLE.as_ref().is_some_and(|table| table.begun.contains(name))
}

/// The row of a program, and the name under which it has it: its own, or that without a version:
/// `python3.12`, `gcc-14`.
pub(crate) fn named(base: &str) -> Option<(&str, &'static Program)> {
    let mut name = base;
    loop {
        if let Some(row) = row(name) {
            return Some((name, row));
        }
        let short = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let short = if short == name { name.trim_end_matches(['.', '-']) } else { short };
        name = Some(short).filter(|short| !short.is_empty() && *short != name)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every key and every value of every row is one that the library knows.
    #[test]
    fn every_row_can_be_read() {
        let table = TABLE.as_ref().unwrap();
        let errors = |text: &str| serde_json::from_str::<Program>(text).err().map(|error| format!("{error}: {text}"));
        let errors: Vec<String> = table.rows.iter().filter_map(|(text, _)| errors(text)).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        assert!(table.rows.len() >= 2_000, "the table lost rows: {}", table.rows.len());
    }
}
