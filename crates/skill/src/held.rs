//! The limits on the bytes of all skill files together.

use std::collections::HashMap;

use super::document::MAX_FILE;
use super::fs::Stamp;
use super::walk::{Found, Limits, place};
use crate::diagnostic::Diagnostic;

/// The code of diagnostics about exceeded limits.
pub(super) const TOO_MUCH: &str = "too-much";

/// The bytes of skill files that were read so far.
pub(super) struct Held {
    limits: Limits,
    all: u64,
    /// By the index of the root.
    of_root: HashMap<usize, u64>,
}

impl Held {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, all: 0, of_root: HashMap::new() }
    }

    /// Why a file is not read, if it exceeds the remaining bytes. A file that is too large anyway
    /// needs no check.
    pub(super) fn refuses(&self, found: &Found) -> Option<Diagnostic> {
        let length = Some(found.stamp.length).filter(|length| *length <= MAX_FILE as u64)?;
        let of_root = self.of_root.get(&found.root).copied().unwrap_or_default();
        let (whose, most) = if of_root + length > self.limits.root_bytes {
            ("the skills of this root", self.limits.root_bytes)
        } else if self.all + length > self.limits.bytes {
            ("the skills of all roots", self.limits.bytes)
        } else {
            return None;
        };
        let message = format!("not read: {whose} may hold {most} bytes together, and there is no room left");
        let help = "take away skills that are not needed, or let more be read (`skills.bytes`)";
        Some(Diagnostic::error(TOO_MUCH, place(&found.file), message).help(help))
    }

    pub(super) fn add(&mut self, root: usize, stamp: &Stamp) {
        let length = Some(stamp.length).filter(|length| *length <= MAX_FILE as u64).unwrap_or_default();
        self.all += length;
        *self.of_root.entry(root).or_default() += length;
    }
}
