//! `[undo]`: how much is stored to undo calls.

use super::super::parse::{parse_into, period};
use super::super::scope::Scope;
use super::super::units::size;
use super::keys;
use std::time::Duration;

/// Why a project cannot set the limits.
const LIMITS: Scope = Scope::User("a project cannot say what is kept to undo its calls");

/// The values of `[undo]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undo {
    /// Maximum size of one call's snapshot in bytes; 0 makes none.
    pub limit: u64,
    /// Maximum size of all snapshots in bytes.
    pub total: u64,
    /// How long a snapshot is stored.
    pub keep: Duration,
}

keys! {
    LIMIT = "undo.limit" {
        scope: LIMITS,
        flag: "--undo-limit",
        default: "64MiB",
        help: "the most that the snapshot of one call may hold; 0 makes none",
        store: |settings, text| parse_into(&mut settings.undo.limit, text, size),
    }
    TOTAL = "undo.total" {
        scope: LIMITS,
        default: "1GiB",
        help: "the most that all snapshots may hold; the oldest go first",
        store: |settings, text| parse_into(&mut settings.undo.total, text, size),
    }
    KEEP = "undo.keep" {
        scope: LIMITS,
        default: "7d",
        help: "how long a snapshot is kept",
        store: |settings, text| parse_into(&mut settings.undo.keep, text, period),
    }
}
