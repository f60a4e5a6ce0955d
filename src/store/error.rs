//! Maps SQLite's errors to the store's. SQLite's result code determines the kind of an error, never
//! its text.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::policy::{ApprovalError, StoreError, StoreErrorKind};

/// An error of SQLite, without the file's path.
pub(super) fn failed(why: &rusqlite::Error) -> ApprovalError {
    StoreError::new(error_kind(why), why.to_string()).into()
}

/// An error of SQLite about the file at `path`.
pub(super) fn failed_at(path: &Path, why: &rusqlite::Error) -> ApprovalError {
    with_path(path, failed(why))
}

/// Unreadable data in the store: `what` failed with `why`.
pub(super) fn damaged(what: &str, why: &dyn std::fmt::Display) -> ApprovalError {
    StoreError::new(StoreErrorKind::Damaged, format!("{what} cannot be read: {why}")).into()
}

/// An approval or a grant that does not match the records.
pub(super) fn forged(id: &str, why: &str) -> ApprovalError {
    StoreError::new(StoreErrorKind::Forged, format!("the audit records do not confirm `{id}`: {why}")).into()
}

/// Adds the path of the store's file to a store error.
pub(super) fn with_path(path: &Path, why: ApprovalError) -> ApprovalError {
    match why {
        ApprovalError::Store(mut why) => {
            why.path = Some(path.display().to_string());
            why.into()
        }
        other => other,
    }
}

/// The kind of a primary result code (<https://sqlite.org/rescode.html>).
fn error_kind(why: &rusqlite::Error) -> StoreErrorKind {
    match why.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreErrorKind::NotAStore,
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreErrorKind::CannotOpen,
        Some(ErrorCode::ReadOnly) => StoreErrorKind::ReadOnly,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreErrorKind::Busy,
        Some(ErrorCode::DiskFull) => StoreErrorKind::Full,
        Some(ErrorCode::DatabaseCorrupt) => StoreErrorKind::Damaged,
        _ => StoreErrorKind::Other,
    }
}
