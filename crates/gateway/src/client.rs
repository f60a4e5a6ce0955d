//! The other side of the gateway: who asks, and where answers go.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::hub::Receipt;
use crate::object::Object;
use crate::rpc::{Id, Message, Raw};
use crate::state::Record;
use crate::version::META_CAPABILITIES;

/// Where a client's messages go. Called from the hub, so that it must not wait.
pub trait Sink: Send + Sync {
    /// Hands a message over. `of` is the client's request that it belongs to, if it belongs to one: transports with a stream
    /// for each request need it.
    fn send(&self, message: Message, of: Option<&Id>);

    /// The same for an answer whose writing is waited for: `receipt` is dropped once the message was written, or cannot be.
    /// Default: once it was handed over.
    fn deliver(&self, message: Message, of: Option<&Id>, receipt: Option<Receipt>) {
        // What reads the answer may be faster than this thread.
        drop(receipt);
        self.send(message, of);
    }

    /// A request of the client will not be answered: it has cancelled it. Default: nothing was kept for it.
    fn cancelled(&self, of: &Id) {
        let _ = of;
    }
}

/// A client: of a connection with sessions the one that it has, of stateless HTTP the sender of one request.
#[derive(Clone)]
#[non_exhaustive]
pub struct Client {
    /// Tells clients of one hub apart.
    pub key: u64,
    /// Where its messages go.
    pub sink: Arc<dyn Sink>,
    /// What it can, as the one request says that it speaks for (2026-07-28); `None` where `initialize` has said it.
    pub can: Option<Raw>,
}

impl Client {
    /// A client that has not said what it can.
    #[must_use]
    pub fn new(key: u64, sink: Arc<dyn Sink>) -> Self {
        Self { key, sink, can: None }
    }

    /// The client as the sender of a request that speaks for itself.
    pub(crate) fn declared(&self, params: &RawValue) -> Self {
        let meta = Object::read(params).and_then(|own| own.object("_meta"));
        let can = meta.and_then(|mut meta| meta.remove(META_CAPABILITIES));
        Self { can, ..self.clone() }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What a client says to a hub.
#[derive(Debug)]
pub enum ToHub {
    /// A message.
    Message(Client, Message),
    /// It has gone, and waits for nothing any more.
    Gone(u64),
    /// Another process has changed what the conversation knows.
    Changed(Box<Record>),
    /// An answer that opened tools has been written to the client.
    Written(u64),
    /// The client has ended the conversation: nothing of it is kept.
    Forget,
    /// No more calls are taken; those that run are waited for, and then the hub ends.
    Drain,
}
