//! Reads the use of tools: calls in logs and transcripts of any wire.
//!
//! A [`UsageReader`] takes JSON values, one per line. Each may be
//!
//! * a call: `{"conversation": "c-1", "tool": "read_file", "arguments": {…}}`, under the names that
//!   logs commonly use;
//! * a transcript: the request body or the message array of Chat Completions, Responses, Anthropic
//!   or Gemini, or JSON-RPC messages of MCP; a single message or item of one; each also inside
//!   `request`, `body`, `message` or `payload`;
//! * a record of toolfold's own event log.
//!
//! The values are grouped by conversation. Requests that continue an earlier one belong to the same
//! conversation, with or without an id, and a call that occurs in several of them is counted once.
//! Names that are not in the catalog are counted as unknown, never dropped.

mod names;
mod reader;
mod record;
mod shape;

pub use names::MAX_UNKNOWN_NAMES;
pub use reader::{MAX_CALLS, MAX_SESSIONS, UsageReader};

use std::collections::BTreeSet;

use indexmap::IndexMap;

/// A call of a tool in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedCall {
    /// The tool's index in the catalog.
    pub tool: usize,
    /// The tool's top-level parameters in the call, by index in the schema's order; `None` if the
    /// record lacks the arguments.
    pub parameters: Option<Box<[u16]>>,
}

/// The calls of one conversation, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedSession {
    /// Its calls of known tools.
    pub calls: Vec<UsedCall>,
}

impl UsedSession {
    /// The indices of the tools used, without duplicates, in catalog order.
    #[must_use]
    pub fn tools(&self) -> BTreeSet<usize> {
        self.calls.iter().map(|call| call.tool).collect()
    }
}

/// A name that is not in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// The number of its calls.
    pub calls: usize,
    /// The tool that was probably intended.
    pub near: Option<String>,
}

/// The use of a catalog's tools according to logs and transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The conversations, in order of their beginnings. One without a known call is included,
    /// because it needed no tool.
    pub sessions: Vec<UsedSession>,
    /// Calls of `expand_tools`, `call_tool` without a target and `activate_skill`.
    pub meta_calls: usize,
    /// Names that are not in the catalog, by number of calls, then by name.
    pub unknown: IndexMap<String, UnknownName>,
    /// Calls under further unknown names, of which only the number is stored.
    pub more_unknown: usize,
    /// Names matched with another spelling: in the log, in the catalog; with calls.
    pub loose: IndexMap<(String, String), usize>,
    /// Values without information about calls.
    pub silent: usize,
    /// Whether a limit was exceeded: [`MAX_SESSIONS`] or [`MAX_CALLS`].
    pub cut: bool,
}

impl Usage {
    /// The calls of known tools.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.sessions.iter().map(|session| session.calls.len()).sum()
    }

    /// The calls of unknown names.
    #[must_use]
    pub fn unknown_calls(&self) -> usize {
        self.unknown.values().map(|unknown| unknown.calls).sum::<usize>() + self.more_unknown
    }

    /// Whether there are no calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls() == 0
    }
}
