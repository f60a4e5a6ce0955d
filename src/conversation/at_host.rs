//! Calls at the host: their start, pause and end.

use super::event::Event;
use super::{CallError, CallId, CallIdentity, Conversation, ToolResult};
use crate::catalog::Tool;
use crate::engine::CallRef;

/// The maximum number of calls at the host that are timed for the audit; the oldest are dropped
/// first.
const MAX_IN_FLIGHT: usize = 256;

/// How a forwarded call ended at the host. `true` converts to `Succeeded`, `false` to `Failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEnd {
    /// The tool ran and succeeded.
    Succeeded,
    /// The tool ran and failed, or may have run.
    Failed,
    /// The tool never received the call, because its server was unavailable. The same call is not
    /// held back as one that keeps failing. For rules over earlier calls it counts as failed, and
    /// its approval is used.
    NotRun,
}

impl CallEnd {
    /// The end that an [`Event::Finished`] contains.
    pub(super) fn new(ok: bool, not_run: bool) -> Self {
        if not_run { Self::NotRun } else { ok.into() }
    }

    /// The outcome in an audit record.
    fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "ok",
            Self::Failed => "failed",
            Self::NotRun => "not_run",
        }
    }
}

impl From<bool> for CallEnd {
    fn from(ok: bool) -> Self {
        if ok { Self::Succeeded } else { Self::Failed }
    }
}

impl Conversation {
    /// Reports the end of a forwarded call whose result the host wraps itself. Ignores an id that
    /// is not at the host, because its result was already reported.
    pub fn report_result(&mut self, id: &CallId, end: impl Into<CallEnd>) {
        if let Some(own) = self.state.at_host(id) {
            self.finished(&own, end.into(), None);
        }
    }

    /// Reports that the host paused a forwarded call because the tool itself requires input and the
    /// host will repeat the message. The call is then forwarded once more in this process, although
    /// its approval is used.
    ///
    /// # Errors
    /// [`CallError::NotAtHost`] if no call with this id is at the host.
    pub fn pause(&mut self, id: &CallId) -> Result<(), CallError> {
        let own = self.state.at_host(id).ok_or_else(|| CallError::NotAtHost(id.clone()))?;
        self.paused.insert(own);
        Ok(())
    }

    /// Logs the end of the call remembered under `own`, with its result if the conversation wraps
    /// it.
    pub(super) fn finished(&mut self, own: &CallId, end: CallEnd, result: Option<&ToolResult>) {
        let began = self.in_flight.shift_remove(own);
        self.paused.shift_remove(own);
        if !self.state.is_at_host(own) {
            return;
        }
        if let Some(policy) = self.engine.policy().filter(|_| !self.recalling) {
            let identity = self.state.calls.get(own).map(|record| record.identity.clone()).unwrap_or_default();
            policy.note_outcome(&self.call_ref(own, &identity), end.name(), began.as_ref());
        }
        let (digest, content) = match result {
            Some(result) => {
                let (digest, content) = self.store_result(own, result);
                (Some(digest), content)
            }
            None => (None, None),
        };
        let (ok, not_run) = (end == CallEnd::Succeeded, end == CallEnd::NotRun);
        self.record_event(Event::Finished { id: own.clone(), ok, not_run, digest, content });
        self.drop_results_if_closed(own);
    }

    /// The call as audit records and approvals identify it.
    pub(super) fn call_ref<'a>(&'a self, own: &'a CallId, identity: &'a CallIdentity) -> CallRef<'a> {
        let (label, message) = (identity.label(own).as_str(), identity.mark());
        CallRef { conversation: self.id(), own: own.as_str(), label, message, unreported: None }
    }

    /// The provider's id of a remembered call.
    pub(super) fn label_of(&self, own: &CallId) -> CallId {
        self.state.calls.get(own).map_or(own, |record| record.identity.label(own)).clone()
    }

    /// Stores the start time of a call at the host.
    pub(super) fn begins(&mut self, id: &CallId, tool: &Tool) {
        if let Some(policy) = self.engine.policy().filter(|_| !self.recalling) {
            self.in_flight.insert(id.clone(), policy.began(tool));
            if self.in_flight.len() > MAX_IN_FLIGHT {
                self.in_flight.shift_remove_index(0);
            }
        }
    }
}

/// The provider's id of another call with the same target and arguments that was at the host when
/// its process ended, so that it may have run.
pub(super) fn unreported_call<'c>(conversation: &'c Conversation, own: &CallId, digest: &str) -> Option<&'c str> {
    for earlier in conversation.unreported.iter().filter(|earlier| *earlier != own) {
        let record = conversation.state.calls.get(earlier).filter(|record| record.became.is_at_host());
        if let Some(record) = record.filter(|record| record.digest == digest) {
            return Some(record.identity.label(earlier).as_str());
        }
    }
    None
}
