//! The queue of events of a conversation's servers, bounded in number and bytes.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::Event;
use crate::rpc::Message;

/// Maximum number of queued events. A sender waits while the queue is full.
const MAX_EVENTS: usize = 128;

/// Maximum size of the queued messages, in bytes. A single message may be larger.
const MAX_BYTES: u32 = 4 * 1024 * 1024;

/// An event of a server.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// The index of the server in the configuration.
    pub(crate) server: usize,
    /// The number of the server's run: events of an earlier run are ignored.
    pub(crate) run: u64,
    /// The event.
    pub(crate) event: Event,
    /// The event's part of the queue, until the event is handled.
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

/// The sending half of the queue.
#[derive(Debug, Clone)]
pub(crate) struct Inbox {
    to: mpsc::Sender<Incoming>,
    room: Arc<Semaphore>,
}

impl Inbox {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Incoming>) {
        let (to, events) = mpsc::channel(MAX_EVENTS);
        (Self { to, room: Arc::new(Semaphore::new(MAX_BYTES as usize)) }, events)
    }

    /// Sends an event; waits while the queue is full. Returns `false` if the gateway has ended.
    pub(super) async fn send(&self, server: usize, run: u64, event: Event) -> bool {
        let size = match &event {
            Event::Message { message, .. } => message_size(message),
            Event::Failed(..) | Event::TooLong(_) | Event::Session(_) | Event::Closed(_) => 0,
        };
        let size = u32::try_from(size).unwrap_or(MAX_BYTES).min(MAX_BYTES);
        // The semaphore is never closed.
        let room = self.room.clone().acquire_many_owned(size).await.ok();
        self.to.send(Incoming { server, run, event, room }).await.is_ok()
    }
}

/// The size of the part of a message that has no limit of its own.
fn message_size(message: &Message) -> usize {
    let body = match message {
        Message::Request(own) => own.params.as_ref(),
        Message::Notification(own) => own.params.as_ref(),
        Message::Response(_, Ok(body) | Err(body)) | Message::Fault(_, body) => Some(body),
    };
    body.map_or(0, |body| body.get().len())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::rpc::{Notification, raw};

    #[tokio::test]
    async fn large_messages_wait_until_earlier_ones_are_handled() {
        let (inbox, mut events) = Inbox::new();
        let large = || {
            let params = raw(&"x".repeat(3_000_000));
            let message = Message::Notification(Notification::new("notifications/message", Some(params)));
            Event::Message { message, of: None }
        };
        assert!(inbox.send(0, 0, large()).await);
        let mut second = Box::pin(inbox.send(0, 0, large()));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut second).await.is_err(), "it waits");
        let first = events.recv().await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut second).await.is_err(), "not handled yet");
        drop(first);
        assert!(second.await);
    }
}
