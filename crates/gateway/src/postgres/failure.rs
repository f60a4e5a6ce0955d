//! Why an operation of the database failed.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;
use toolfold::policy::{ApprovalError, StoreError, StoreErrorKind};

use crate::state::StateError;

/// A failed operation.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{why}")]
pub(super) struct Failure {
    pub(super) kind: StoreErrorKind,
    pub(super) why: String,
    pub(super) trouble: Trouble,
}

/// What another attempt can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The server has not answered: another connection may succeed.
    Lost,
    /// The server has refused a statement, and nothing of its transaction took effect.
    Refused,
    /// Nothing.
    Final,
}

impl Failure {
    pub(super) fn lost(why: impl Into<String>) -> Self {
        Self { kind: StoreErrorKind::CannotOpen, why: why.into(), trouble: Trouble::Lost }
    }

    pub(super) fn other(why: impl Into<String>) -> Self {
        Self { kind: StoreErrorKind::Other, why: why.into(), trouble: Trouble::Final }
    }

    pub(super) fn of_state(self, doing: &'static str) -> StateError {
        StateError { doing, why: self.why }
    }
}

/// The innermost reason of an error.
fn reason(why: &dyn std::error::Error) -> String {
    let mut last = why;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

impl From<tokio_postgres::Error> for Failure {
    fn from(why: tokio_postgres::Error) -> Self {
        let Some(error) = why.as_db_error() else {
            return Self::lost(format!("the database cannot be reached: {}", reason(&why)));
        };
        let code = error.code();
        let (kind, trouble) = if [SqlState::QUERY_CANCELED, SqlState::LOCK_NOT_AVAILABLE].contains(code) {
            (StoreErrorKind::Busy, Trouble::Refused)
        } else if [SqlState::DISK_FULL, SqlState::OUT_OF_MEMORY].contains(code) {
            (StoreErrorKind::Full, Trouble::Refused)
        } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
            (StoreErrorKind::ReadOnly, Trouble::Refused)
        } else if matches!(code.code().get(..2), Some("08" | "57")) || *code == SqlState::TOO_MANY_CONNECTIONS {
            // Class 57 without a cancelled query: the server shuts down or is starting.
            (StoreErrorKind::CannotOpen, Trouble::Lost)
        } else {
            (StoreErrorKind::Other, Trouble::Refused)
        };
        Self { kind, why: format!("the database refused: {} ({})", error.message(), code.code()), trouble }
    }
}

impl From<PoolError> for Failure {
    fn from(why: PoolError) -> Self {
        match why {
            PoolError::Backend(why) => why.into(),
            PoolError::Timeout(_) => Self::lost("no connection to the database was free or could be made in time"),
            other => Self::lost(reason(&other)),
        }
    }
}

impl From<Failure> for ApprovalError {
    fn from(why: Failure) -> Self {
        StoreError::new(why.kind, why.why).into()
    }
}

/// Data in the store that cannot be read: `what` failed with `why`.
pub(super) fn damaged(what: &str, why: &dyn std::fmt::Display) -> ApprovalError {
    StoreError::new(StoreErrorKind::Damaged, format!("{what} cannot be read: {why}")).into()
}

/// An approval or a grant that does not match the records.
pub(super) fn forged(id: &str, why: &str) -> ApprovalError {
    StoreError::new(StoreErrorKind::Forged, format!("the audit records do not confirm `{id}`: {why}")).into()
}
