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
    #[error("line {0} is a merge conflict marker")]
    Conflict(usize),
    /// A later version of toolfold wrote it.
    #[error("unsupported version {0}; this toolfold reads versions up to {LOCK_VERSION}")]
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
            Self::Conflict(_) => "merge the tool list, then write the lock again with toolfold lock",
            Self::Newer(_) => "install the version that wrote it, or write it again with toolfold lock",
            Self::Unreadable { .. } => "write it again with toolfold lock",
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

#[derive(Deserialize)]
struct Head {
    version: Option<u64>,
}

impl Lock {
    /// Reads a lock.
    ///
    /// # Errors
    /// Returns a [`LockError`] for anything that is not a lock of a known version.
    pub fn from_toml(text: &str) -> Result<Self, LockError> {
        for (at, line) in text.lines().enumerate() {
            if ["<<<<<<<", ">>>>>>>", "|||||||"].iter().any(|mark| line.starts_with(mark)) {
                return Err(LockError::Conflict(at + 1));
            }
        }
        let head: Head = toml::from_str(text).map_err(|why| unreadable(text, &why))?;
        match head.version {
            None => return Err(wrong("it has no `version`".to_owned())),
            Some(0) => return Err(wrong("version 0 does not exist".to_owned())),
            Some(version) if version > LOCK_VERSION => return Err(LockError::Newer(version)),
            Some(_) => {}
        }
        let mut lock: Self = toml::from_str(text).map_err(|why| unreadable(text, &why))?;
        lock.tools.sort_by_cached_key(|tool| tool.name.clone());
        for pair in lock.tools.windows(2) {
            if let [a, b] = pair
                && a.name == b.name
            {
                return Err(wrong(format!("duplicate tool `{}`", short_excerpt(&a.name))));
            }
        }
        let mut figures: Vec<usize> = lock.arms.values().map(|arm| arm.tokens).collect();
        for tool in &lock.tools {
            figures.extend([tool.full, tool.shown].iter().chain(tool.parts.values()));
        }
        if let Some(large) = figures.iter().find(|n| **n > MAX_TOKENS) {
            return Err(wrong(format!("{large} is not a number of tokens")));
        }
        if !lock.arms.contains_key(&lock.arm) {
            return Err(wrong(format!("it has no total for its arm `{}`", short_excerpt(&lock.arm))));
        }
        Ok(lock)
    }
}

fn unreadable(text: &str, why: &toml::de::Error) -> LockError {
    let before = why.span().and_then(|span| text.get(..span.start));
    let line = before.map_or(0, |before| before.matches('\n').count() + 1);
    LockError::Unreadable { line, why: short_excerpt(why.message()) }
}

fn wrong(why: String) -> LockError {
    LockError::Unreadable { line: 0, why }
}

fn short_excerpt(text: &str) -> String {
    let text: String = text.chars().take(200).collect();
    visible(&text.replace('\n', "; ")).into_owned()
}
