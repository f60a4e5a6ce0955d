//! Reads a lock, which may have been edited.

use serde::Deserialize;
use toolfold::diagnostic::visible;

use super::lock::{LOCK_VERSION, Lock};

/// The maximum size of a lock, in bytes: ten times that of 10,000 tools.
pub const MAX_LOCK_BYTES: usize = 64 * 1024 * 1024;

/// The maximum value of a token count.
const MAX_TOKENS: usize = 1_000_000_000;

/// Why a lock cannot be used. In lower case, suitable after the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// It contains merge conflict markers.
    #[error("line {0} is the mark of a merge conflict")]
    Conflict(usize),
    /// A later version of toolfold wrote it.
    #[error("its version is {0}, and this toolfold reads up to {LOCK_VERSION}")]
    Newer(u64),
    /// It is not a lock.
    #[error("{}not a lock: {why}", line_prefix(*.line))]
    Unreadable {
        /// The line, counted from 1; 0 if unknown.
        line: usize,
        /// Why.
        why: String,
    },
}

impl LockError {
    /// How to fix it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Conflict(_) => "merge the tool list first, then write the lock again: toolfold lock",
            Self::Newer(_) => "install the toolfold that wrote it, or write it again with this one: toolfold lock",
            Self::Unreadable { .. } => "write it again: toolfold lock",
        }
    }

    /// The line, counted from 1, if known.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Conflict(line) | Self::Unreadable { line, .. } => Some(*line).filter(|line| *line > 0),
            Self::Newer(_) => None,
        }
    }
}

fn line_prefix(line: usize) -> String {
    if line == 0 { String::new() } else { format!("line {line}: ") }
}

/// The common part of all versions.
#[derive(Deserialize)]
struct Head {
    version: Option<u64>,
}

impl Lock {
    /// Reads a lock.
    ///
    /// # Errors
    /// Returns a [`LockError`] for anything that is not a lock of a known version; nothing of it is
    /// used then.
    pub fn from_toml(text: &str) -> Result<Self, LockError> {
        let marks = |line: &str| ["<<<<<<<", ">>>>>>>", "|||||||"].iter().any(|mark| line.starts_with(mark));
        if let Some(at) = text.lines().position(marks) {
            return Err(LockError::Conflict(at + 1));
        }
        let unreadable = |why: toml::de::Error| {
            let line = why.span().and_then(|span| text.get(..span.start));
            let line = line.map_or(0, |before| before.matches('\n').count() + 1);
            LockError::Unreadable { line, why: short_excerpt(why.message()) }
        };
        let wrong = |why: String| LockError::Unreadable { line: 0, why };
        let head: Head = toml::from_str(text).map_err(unreadable)?;
        match head.version {
            None => return Err(wrong("it has no `version`".to_owned())),
            Some(0) => return Err(wrong("version 0 does not exist".to_owned())),
            Some(version) if version > LOCK_VERSION => return Err(LockError::Newer(version)),
            Some(_) => {}
        }
        let mut lock: Self = toml::from_str(text).map_err(unreadable)?;
        lock.tools.sort_by(|a, b| a.name.cmp(&b.name));
        for pair in lock.tools.windows(2) {
            if let [a, b] = pair
                && a.name == b.name
            {
                return Err(wrong(format!("tool `{}` is in it twice", short_excerpt(&a.name))));
            }
        }
        let figures =
            lock.tools.iter().flat_map(|tool| [tool.full, tool.shown].into_iter().chain(tool.parts.values().copied()));
        if let Some(large) = figures.chain(lock.arms.values().map(|arm| arm.tokens)).find(|n| *n > MAX_TOKENS) {
            return Err(wrong(format!("{large} is not a number of tokens")));
        }
        if !lock.arms.contains_key(&lock.arm) {
            return Err(wrong(format!("it lacks a total for its arm `{}`", short_excerpt(&lock.arm))));
        }
        Ok(lock)
    }
}

/// A text of the file, shortened for a message.
fn short_excerpt(text: &str) -> String {
    let text: String = text.chars().take(200).collect();
    visible(&text.replace('\n', "; ")).into_owned()
}
