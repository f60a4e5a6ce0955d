//! Files that are known by where they lie and how they are called: what `find` prints and `xargs`
//! passes on, and what a recursive search looks into. A deny of other names is then no deny of
//! these.

use super::given::RowSays;
use super::globs;
use super::place::Place;
use super::side_effects::FileEffect;
use crate::argv::{Word, all_known, base_name, value_at};
use crate::path::tail::{Segment, Tail};
use crate::programs::{self, Operands};
use crate::rule::Access;

/// Files below some folders.
#[derive(Debug, Clone)]
pub(super) struct PipedFiles {
    starts: Vec<Word>,
    place: Place,
    /// Their names are of one of these forms; empty: any.
    names: Vec<Segment>,
}

impl PipedFiles {
    pub(super) fn new(starts: Vec<Word>, place: Place, names: Vec<Segment>) -> Self {
        Self { starts, place, names }
    }

    /// Whether their names are known.
    pub(super) fn is_narrow(&self) -> bool {
        !self.names.is_empty()
    }

    /// The effects of doing something with each of them.
    pub(super) fn files(&self, access: Access) -> Vec<FileEffect> {
        let mut found = Vec::new();
        for start in &self.starts {
            let own = FileEffect::new(format!("{} and what is below", start.text), access);
            let paths = if let Some(folder) = start.path() { self.place.files(folder).0 } else { Vec::new() };
            if paths.is_empty() {
                found.push(own.clone());
            }
            for path in paths {
                // A starting point may be a file itself.
                let recursive = self.names.is_empty();
                found.push(FileEffect { path: Some(path.clone()), recursive, ..own.clone() });
                for name in &self.names {
                    let segments = vec![Segment::Below(None), name.clone()];
                    // These programs let wildcards stand for a leading dot.
                    let tail = Tail { segments, recursive: false, loose: true };
                    found.push(FileEffect { path: Some(path.clone().with_tail(tail)), ..own.clone() });
                }
            }
        }
        found
    }
}

/// The names that an expression of `find` lets through: one of each alternative. Empty where some
/// have none, or where the expression is not understood.
pub(super) fn of_find(words: &[Word]) -> Vec<Segment> {
    let branches = words.split(|word| word.is("-o") || word.is("-or"));
    branches.map(name_of_branch).collect::<Option<_>>().unwrap_or_default()
}

/// The name that one alternative of an expression of `find` asks for.
fn name_of_branch(branch: &[Word]) -> Option<Segment> {
    let (mut own, mut negated) = (None, false);
    for (at, text) in all_known(branch)?.into_iter().enumerate() {
        match text {
            "," => return None,
            "(" if negated => return None,
            "-name" | "-iname" if !negated && own.is_none() => own = value_at(branch, at + 1).and_then(globs::name),
            _ => {}
        }
        negated = matches!(text, "!" | "-not");
    }
    own
}

/// The names that a search looks into: `--include=*.py`. Empty where it looks into any.
pub(super) fn of_search(says: &RowSays) -> Vec<Segment> {
    let given = says.options.iter().filter(|given| given.is("--include"));
    given.map(|given| globs::name(given.value.as_ref()?.get()?)).collect::<Option<_>>().unwrap_or_default()
}

/// Whether a command passes on some of the lines that it reads, and reads nothing else. Its row
/// lists the letters.
pub(crate) fn is_filter(words: &[Word]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let (Some(program), Some(texts)) = (program.get(), all_known(arguments)) else { return false };
    let program = base_name(program);
    let Some(row) = programs::row(program) else { return false };
    if row.passes_on.is_empty() {
        return false;
    }
    let (options, operands): (Vec<&str>, Vec<&str>) = texts.iter().partition(|text| text.starts_with('-'));
    let operands = operands.iter().filter(|text| text.parse::<u32>().is_err()).count();
    operands == usize::from(row.operands == Operands::PatternRead)
        && options.iter().all(|text| text.chars().skip(1).all(|c| row.passes_on.iter().any(|own| own.contains(c))))
}
