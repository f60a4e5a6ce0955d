//! What operands do beyond being one.

use crate::programs::Program;
use crate::shell::side_effects::Weight;

/// Whether an operand is a setting that a build tool evaluates: `make 'X=$(shell …)'`, `just 'x=;
/// ls' build`.
pub(super) fn is_evaluated(text: &str) -> bool {
    text.contains('=') && text.contains(['$', '`', ';', '|', '&', '\n'])
}

/// What an operand does beyond being one, with its weight, where the row says that operands may.
pub(super) fn acts(program: &Program, text: &str, place: usize) -> Option<(&'static str, Weight)> {
    let is = program.is;
    // `gcc @file`: the file holds options, of any kind.
    if is.response_files && text.len() > 1 && text.starts_with('@') {
        return Some(("response-file", Weight::Code));
    }
    // A name of a file that is a command: `convert '|ls' x`, `png:|ls`.
    if is.pipe_operands && (text.starts_with('|') || text.contains(":|")) {
        return Some(("executing-option", Weight::Code));
    }
    // A shell elsewhere reads the words again, joined by blanks.
    if is.remote_words && place > 0 && text.contains([';', '&', '|', '$', '`', '<', '>', '(', ')', '\n']) {
        return Some(("executing-option", Weight::Code));
    }
    // `msbuild /p:x=y`, but not `/folder/file`.
    if is.slash_options
        && let Some(rest) = text.strip_prefix('/')
        && rest.split(':').next().unwrap_or(rest).bytes().all(|b| b.is_ascii_alphabetic())
    {
        return Some(("option", Weight::Value));
    }
    // `just folder/recipe` runs what another folder says.
    if is.path_operands && text.contains('/') { Some(("option-for-another-place", Weight::Value)) } else { None }
}
