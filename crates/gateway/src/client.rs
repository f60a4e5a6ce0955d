//! The clients of a gateway: where requests come from and where responses go.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::hub::{Made, Receipt};
use crate::object::Object;
use crate::rpc::{Id, Message, Raw};
use crate::state::Record;
use crate::version::META_CAPABILITIES;

/// Receives a client's messages. Called from the hub, so it must not block.
pub trait Sink: Send + Sync {
    /// Sends a message. `of` is the client's request that the message belongs to, if any:
    /// transports with a stream for each request need it.
    fn send(&self, message: Message, of: Option<&Id>);

    /// Sends a response whose delivery is observed: `receipt` is dropped once the message has been
    /// written or cannot be. Default: immediately after sending.
    fn deliver(&self, message: Message, of: Option<&Id>, receipt: Option<Receipt>) {
        // The reader of the response may be faster than this thread.
        drop(receipt);
        self.send(message, of);
    }

    /// Reports that a request will have no response, because the client has cancelled it. Default:
    /// nothing is stored for it.
    fn cancelled(&self, of: &Id) {
        let _ = of;
    }
}

/// A client: the only one of a session, or the sender of one stateless request.
#[derive(Clone)]
#[non_exhaustive]
pub struct Client {
    /// Distinguishes the clients of one hub.
    pub key: u64,
    /// Receives the client's messages.
    pub sink: Arc<dyn Sink>,
    /// The capabilities that this request declares; `None` if `initialize` did.
    pub can: Option<Raw>,
}

impl Client {
    /// A client without declared capabilities.
    #[must_use]
    pub fn new(key: u64, sink: Arc<dyn Sink>) -> Self {
        Self { key, sink, can: None }
    }

    pub(crate) fn declared(&self, params: &RawValue) -> Self {
        let meta = Object::from_json(params).and_then(|own| own.object("_meta"));
        let can = meta.and_then(|mut meta| meta.remove_member(META_CAPABILITIES));
        Self { can, ..self.clone() }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What a hub receives from its clients.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToHub {
    /// A message.
    Message(Client, Message),
    /// The client has disconnected.
    Gone(u64),
    /// Another process has changed the conversation.
    Changed(Box<Record>),
    /// An answer that opened tools has been written to the client.
    Written(u64),
    /// The script of a skill has ended: the number of its call, the text for the model, and whether
    /// it succeeded.
    Ran {
        /// The number of the call.
        number: u64,
        /// The text for the model.
        content: String,
        /// Whether the script succeeded.
        ok: bool,
    },
    /// A thread has shortened or read a result: the number of its job, and what it has made.
    Made(u64, Made),
    /// The client has ended the conversation: its stored state is removed.
    Forget,
    /// Rejects new calls, waits for running ones, and ends the hub.
    Drain,
}
