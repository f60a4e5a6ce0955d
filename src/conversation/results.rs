//! Stored results of reported calls, so that a resent message does not run its calls again.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::event::{Event, LogRecord};
use super::{CallId, Conversation, ToolResult};
use crate::policy::audit::redact_text;
use toolfold_diagnostic::sha256_hex;

/// The maximum size of a stored result in bytes. See `docs/session.md`, "Messages that come again".
const MAX_RESULT_BYTES: usize = 1 << 20;

/// The maximum size of all stored results of a conversation in bytes; the oldest are dropped first.
/// See `docs/session.md`, "Messages that come again".
const MAX_RESULTS_BYTES: usize = 8 << 20;

/// The results of calls of open messages, by the ids under which the calls are remembered. Results
/// of failed calls are not stored: a resend runs such a call again, or refuses it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct StoredResults(IndexMap<CallId, Arc<str>>);

impl StoredResults {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn insert(&mut self, call: CallId, content: Arc<str>) {
        if content.len() > MAX_RESULT_BYTES {
            return;
        }
        self.0.insert(call, content);
        let mut bytes: usize = self.0.values().map(|stored| stored.len()).sum();
        while bytes > MAX_RESULTS_BYTES {
            let Some((_, oldest)) = self.0.shift_remove_index(0) else { break };
            bytes -= oldest.len();
        }
    }

    fn redacted(&self, names: &[&str]) -> Self {
        let mut redacted = self.0.clone();
        for content in redacted.values_mut() {
            *content = Arc::from(redact_text(content, names));
        }
        Self(redacted)
    }
}

impl Conversation {
    /// The stored result of a call that succeeded.
    pub(super) fn stored_result(&self, own: &CallId) -> Option<Arc<str>> {
        self.results.0.get(own).cloned()
    }

    /// Stores a result. Returns what the log contains of it: its digest, and its text if results
    /// are logged.
    pub(super) fn store_result(&mut self, own: &CallId, result: &ToolResult) -> (String, Option<Arc<str>>) {
        let content: Arc<str> = Arc::from(result.content.as_str());
        let logged = self.log_results.then(|| content.clone());
        if !result.is_error {
            self.results.insert(own.clone(), content);
        }
        (sha256_hex(result.content.as_bytes()), logged)
    }

    /// Drops the results of a call's message if all calls of the message have ended.
    pub(super) fn drop_results_if_closed(&mut self, own: &CallId) {
        let Some(record) = self.state.calls.get(own).filter(|_| !self.results.0.is_empty()) else { return };
        let message = record.identity.message;
        if !self.is_open(message) {
            let calls = &self.state.calls;
            self.results.0.retain(|own, _| calls.get(own).is_some_and(|record| record.identity.message != message));
        }
    }

    /// Drops the results of messages without a key, because a new message closes them.
    pub(super) fn drop_unkeyed_results(&mut self) {
        let calls = &self.state.calls;
        self.results.0.retain(|own, _| calls.get(own).is_some_and(|record| record.identity.key.is_some()));
    }

    /// Whether a call of a message has not ended.
    pub(super) fn is_open(&self, message: u64) -> bool {
        self.state.calls_of(message).any(|(_, record)| !record.became.has_ended())
    }

    /// Stores the results of open messages that a log contains.
    pub(super) fn store_logged_results(&mut self, log: &[LogRecord]) {
        for record in log {
            let Event::Finished { id, ok: true, content: Some(content), .. } = &record.event else { continue };
            let Some(call) = self.state.calls.get(id) else { continue };
            let own = &call.identity;
            if (own.key.is_some() || own.message == self.state.message) && self.is_open(own.message) {
                self.results.insert(id.clone(), content.clone());
            }
        }
    }

    /// The results as a snapshot stores them.
    pub(super) fn redacted_results(&self) -> StoredResults {
        let names = self.engine.policy().map(|policy| policy.policy.redactions()).unwrap_or_default();
        self.results.redacted(&names)
    }
}
