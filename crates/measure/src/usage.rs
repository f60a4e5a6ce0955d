//! How tools were used: calls read from logs and transcripts of any wire.
//!
//! A [`UsageReader`] takes JSON values, a line at a time. Each may be
//!
//! * a call: `{"conversation": "c-1", "tool": "read_file", "arguments": {…}}`, under the names that
//!   logs commonly use;
//! * a transcript: the request body or the message array of Chat Completions, Responses, Anthropic
//!   or Gemini, or JSON-RPC messages of MCP; a single message or item of one; each also inside
//!   `request`, `body`, `message` or `payload`;
//! * a record of toolfold's own event log.
//!
//! What they say is put together by conversation. Requests that go on where an earlier one ended
//! are one conversation, whether they have an id or not, and a call that several of them hold is
//! counted once. A name that the catalogue does not know is counted as unknown, never dropped.

mod names;
mod reader;
mod record;
mod shape;

pub use names::MAX_UNKNOWN_NAMES;
pub use reader::{MAX_CALLS, MAX_SESSIONS, UsageReader};

use std::collections::BTreeSet;

use indexmap::IndexMap;

/// One call of a tool of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedCall {
    /// The tool's place in the catalogue.
    pub tool: usize,
    /// Which of the tool's top-level parameters it gave, by their places in the schema's order;
    /// `None` if the record does not tell the arguments.
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
    /// The places of the tools that it used, each once, in the order of the catalogue.
    #[must_use]
    pub fn tools(&self) -> BTreeSet<usize> {
        self.calls.iter().map(|call| call.tool).collect()
    }
}

/// A name that the catalogue does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// How often it was called.
    pub calls: usize,
    /// The tool that was probably meant.
    pub near: Option<String>,
}

/// What logs and transcripts tell of a catalogue's tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The conversations, in the order of their beginnings. One without a known call counts:
    /// nothing was needed there.
    pub sessions: Vec<UsedSession>,
    /// Calls of `expand_tools`, `call_tool` without a target and `activate_skill`.
    pub meta_calls: usize,
    /// Names that the catalogue does not know, by the number of their calls, then by name.
    pub unknown: IndexMap<String, UnknownName>,
    /// Calls under further unknown names, of which only the number was kept.
    pub more_unknown: usize,
    /// Names that were read as another: written in the log, in the catalogue; with their calls.
    pub loose: IndexMap<(String, String), usize>,
    /// Values that say nothing of calls.
    pub silent: usize,
    /// Whether more was given than is counted: [`MAX_SESSIONS`] or [`MAX_CALLS`].
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

    /// Whether nothing is known of any call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls() == 0
    }
}
