//! Diagnostics from reading the list.

use toolfold::diagnostic::{Diagnostic, Severity};

use super::found::Found;
use super::rules::{DUPLICATE_NAME, UNREADABLE};

/// Entries that could not be read as tools. Warnings about valid tools have their own rules.
pub(super) fn unread(found: &mut Found<'_>, noticed: &[Diagnostic]) {
    for one in noticed.iter().filter(|one| one.is_error()) {
        let rule = if one.code == "duplicate-tool" { &DUPLICATE_NAME } else { &UNREADABLE };
        let place = one.place.path.clone().unwrap_or_default();
        found.about(None, rule, Severity::Error, &place, one.message.clone());
    }
}
