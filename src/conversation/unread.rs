//! What the model had read when it wrote a call; for hosts that see calls and no messages, as they state it.

use super::event::Event;
use super::{CallError, CallId, Conversation, Outcome};
use crate::wire::Arguments;

/// What the model had not read when it wrote a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unread {
    /// The answers to the calls of the message of this number, and of later ones.
    Message(u64),
    /// All openings but the first ones, of this number.
    Openings(usize),
}

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
        self.unread = Some(Unread::Openings(read));
        let outcome = self.call(id, name, arguments);
        self.unread = None;
        outcome
    }

    /// Takes back the answer to a call, which the host did not send: what it opened counts as closed.
    pub fn not_sent(&mut self, call: &CallId) {
        self.record_event(Event::Dropped { calls: vec![call.clone()] });
    }
}
