//! `[undo]`: limits of the snapshots that undo uses.

use super::super::parse::{parse_into, period};
use super::super::scope::Scope;
use super::super::units::size;
use super::keys;
use std::time::Duration;

/// Why a project cannot set the limits.
const LIMITS: Scope = Scope::User("a project cannot change the limits of snapshots");

/// The values of `[undo]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undo {
    /// Maximum size of one call's snapshot in bytes; 0 disables snapshots.
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
        help: "maximum size of one call's snapshot; 0 disables snapshots",
        store: |settings, text| parse_into(&mut settings.undo.limit, text, size),
    }
    TOTAL = "undo.total" {
        scope: LIMITS,
        default: "1GiB",
        help: "maximum size of all snapshots; the oldest are removed first",
        store: |settings, text| parse_into(&mut settings.undo.total, text, size),
    }
    KEEP = "undo.keep" {
        scope: LIMITS,
        default: "7d",
        help: "how long a snapshot is stored",
        store: |settings, text| parse_into(&mut settings.undo.keep, text, period),
    }
}
