//! What was noticed when the list was read.

use toolfold::diagnostic::{Diagnostic, Severity};

use super::found::Found;
use super::rules::{DUPLICATE_NAME, UNREADABLE};

/// Entries that could not be read as tools. What is worth a warning in a sound tool has rules of
/// its own.
pub(super) fn unread(found: &mut Found<'_>, noticed: &[Diagnostic]) {
    for one in noticed.iter().filter(|one| one.is_error()) {
        let rule = if one.code == "duplicate-tool" { &DUPLICATE_NAME } else { &UNREADABLE };
        let place = one.place.path.clone().unwrap_or_default();
        found.about(None, rule, Severity::Error, &place, one.message.clone());
    }
}
