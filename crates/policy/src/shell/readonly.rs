//! Read-only commands, which are allowed where a policy sets `read_only_shell = true`.
//!
//! Narrow on purpose: a row marks a program as read-only if none of its options runs or writes
//! something or takes unbounded resources, besides those that the row names. Every word must be
//! certain.

use super::sed::is_plain_sed;
use crate::argv::{Word, behind_first, cluster, first, known, unknown};
use crate::programs::{self, Files, Program, Style};

/// Whether a program only reads, whatever operands or options are added.
pub(super) fn takes_any(program: &str) -> bool {
    programs::row_or_empty(program).is.takes_any
}

/// The word that `xargs` appends.
pub(super) fn added() -> Word {
    Word::unknown("…", false)
}

/// Whether a command only reads. `trusted`: whether the workspace's own settings of programs are
/// trusted.
pub(crate) fn only_reads(words: &[Word], trusted: bool) -> bool {
    // What `xargs` appends is unknown. For programs that only read, whatever their arguments, that
    // does not matter.
    let words = match words.split_last() {
        Some((last, rest)) if *last == added() && takes_any(first(rest).unwrap_or_default()) => rest,
        _ => words,
    };
    let Some((program, all)) = words.split_first() else { return false };
    let Some(program) = program.get().filter(|_| unknown(all).is_none()) else { return false };
    // Options before a subcommand select settings and places.
    let subcommand = first(all).filter(|_| programs::is_begun(program));
    let deeper = subcommand.and_then(|first| programs::row(&format!("{program} {first}")));
    let Some(row) = deeper.or_else(|| programs::row(program)) else { return false };
    let mut arguments = known(if deeper.is_some() { behind_first(all) } else { all });
    row.is.only_reads
        && (trusted || !row.is.own_settings)
        && row.reads_with.as_ref().is_none_or(|own| arguments.clone().all(|text| own.fit(text)))
        && (row.files() != Files::ReadWrite || arguments.clone().filter(|text| !text.starts_with('-')).count() < 2)
        && (!row.is.sed || sed(arguments.clone()))
        && !arguments.any(|text| row.not_read_only.iter().any(|own| is_banned(row, own, text)))
}

/// Whether an argument makes a program do more than read. Long options may be abbreviated, and
/// letters may be combined with others.
fn is_banned(row: &Program, own: &str, text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    if !own.starts_with('-') {
        return text.contains(own);
    }
    if row.style == Style::Word {
        return own == name;
    }
    match own.strip_prefix("--") {
        Some(_) => text.starts_with(own) || name.len() > 3 && own.starts_with(name),
        None => cluster(text).is_some() && own.chars().skip(1).any(|c| text.contains(c)),
    }
}

/// A script of `sed` that neither runs nor writes, with no option but `-n`.
fn sed<'w>(mut arguments: impl Iterator<Item = &'w str>) -> bool {
    let mut first = arguments.next();
    if first == Some("-n") {
        first = arguments.next();
    }
    let Some(script) = first else { return false };
    is_plain_sed(script) && !script.starts_with('-') && arguments.all(|file| !file.starts_with('-'))
}
