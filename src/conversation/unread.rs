//! What the model had read when it wrote a call, as stated by hosts that see calls but no messages.

use super::event::Event;
use super::{CallError, CallId, Conversation, Outcome};
use crate::wire::Arguments;

/// What the model had not read when it wrote a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unread {
    /// The answers to the calls of this message and of later ones.
    Message(u64),
    /// All openings except the first ones, of this number.
    Openings(usize),
}

impl Conversation {
    /// The number of answers so far that opened tools.
    #[must_use]
    pub fn openings(&self) -> usize {
        self.state.openings()
    }

    /// Like [`call`](Self::call), for a call that was written when the model had read the first
    /// `read` of the [openings](Self::openings). Later ones count as unread: the calls of one
    /// message are written before any of their answers is read.
    ///
    /// # Errors
    /// As for [`call`](Self::call).
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

    /// Withdraws the answer to a call because the host did not send it: what it opened counts as
    /// closed.
    pub fn not_sent(&mut self, call: &CallId) {
        self.record_event(Event::Dropped { calls: vec![call.clone()] });
    }
}
