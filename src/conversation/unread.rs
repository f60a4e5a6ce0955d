//! Calls from hosts that see no messages, only calls: what the model had read when it wrote one.

use super::event::Event;
use super::{CallError, CallId, Conversation, Outcome};
use crate::wire::Arguments;

impl Conversation {
    /// The number of answers so far that opened tools.
    #[must_use]
    pub fn openings(&self) -> usize {
        self.state.openings()
    }

    /// As [`call`](Self::call), for a call that was written when the model had read the first `read` of the
    /// [openings](Self::openings). What later ones opened counts as unread: calls of one message are written before any of
    /// their answers is read.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_unread(
        &mut self,
        read: usize,
        id: impl Into<CallId>,
        name: &str,
        arguments: impl Into<Arguments>,
    ) -> Result<Outcome, CallError> {
        self.unread = Some(read);
        let outcome = self.call(id, name, arguments);
        self.unread = None;
        outcome
    }

    /// Takes back the answer to a call, which the host did not send: what it opened counts as closed.
    pub fn not_sent(&mut self, call: &CallId) {
        self.record(Event::Dropped { calls: vec![call.clone()] });
    }
}
