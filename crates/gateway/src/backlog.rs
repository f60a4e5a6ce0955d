//! How much a client has not read yet, so that its servers wait for it.

use std::sync::Arc;

use tokio::sync::watch;

/// The maximum unread messages of a client, in bytes. Above it, no more messages of its servers are
/// handled, so that the servers wait. A single message may be larger.
const MAX_UNREAD: usize = 16 * 1024 * 1024;

/// The size of the messages that a client has not read yet.
#[derive(Debug, Clone)]
pub(crate) struct Backlog(Arc<watch::Sender<usize>>);

impl Default for Backlog {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Backlog {
    pub(crate) fn set(&self, bytes: usize) {
        self.0.send_if_modified(|unread| std::mem::replace(unread, bytes) != bytes);
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.0.send_modify(|unread| *unread = unread.saturating_add(bytes));
    }

    pub(crate) fn subtract(&self, bytes: usize) {
        self.0.send_modify(|unread| *unread = unread.saturating_sub(bytes));
    }

    pub(crate) fn is_full(&self) -> bool {
        *self.0.borrow() >= MAX_UNREAD
    }

    /// Waits until the client has read enough.
    pub(crate) async fn until_read(&self) {
        // The sender exists as long as `self`, so the wait cannot fail.
        drop(self.0.subscribe().wait_for(|unread| *unread < MAX_UNREAD).await);
    }
}
