//! Why an approval store cannot be used, as data: a caller decides by [`StoreErrorKind`], never by
//! the text.

/// What kind of failure it is. Decides what a person can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The file is not an approval store.
    NotAStore,
    /// A newer version of this program wrote the store.
    Newer,
    /// The file or its folder cannot be opened or created.
    CannotOpen,
    /// The file or its folder is read-only.
    ReadOnly,
    /// Another process kept the store locked for longer than the time limit.
    Busy,
    /// The disk is full, or the store has reached its size limit.
    Full,
    /// The store is damaged: its file is corrupt, or something in it cannot be read.
    Damaged,
    /// An entry of the store is not confirmed by its records: another program has changed it.
    Forged,
    /// Anything else.
    Other,
}

/// Why an approval store cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default())]
#[non_exhaustive]
pub struct StoreError {
    /// What kind of failure it is.
    pub kind: StoreErrorKind,
    /// The file of the store, as it was given. `None` where there is no file, or the file opened
    /// without an error.
    pub path: Option<String>,
    /// What failed: a phrase in lower case, without the path.
    pub message: String,
}

impl StoreError {
    /// An error without a path.
    #[must_use]
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, path: None, message: message.into() }
    }
}
