//! A client's messages that reach another process than the one that waits for them: answers to
//! questions, and cancellations. The process that gets such a message leaves it in the store, and
//! each process with the session looks there.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::session::Session;
use super::sessions::random;
use crate::rpc::Message;
use crate::settings::Settings;
use crate::state::StateKey;

/// The maximum number of messages that are known to have been delivered. They expire in the store
/// long before as many have been left.
const MAX_SEEN: usize = 10_000;

pub(super) struct Elsewhere {
    /// Identifies this process, which has delivered its own messages.
    process: String,
    seen: Mutex<BTreeSet<i64>>,
}

/// A message, as it is encrypted.
#[derive(Serialize, Deserialize)]
struct Left {
    from: String,
    message: String,
}

impl Elsewhere {
    pub(super) fn new() -> Self {
        let process = random().unwrap_or_else(|| std::process::id().to_string());
        Self { process, seen: Mutex::default() }
    }

    /// Leaves a message that another process may wait for.
    pub(super) async fn leave(&self, settings: &Settings, key: &StateKey, message: &Message) {
        let Some(state) = settings.state.as_ref().filter(|state| state.store.carries_messages()) else { return };
        let concerns_others = match message {
            Message::Response(..) => true,
            Message::Notification(note) => note.method == "notifications/cancelled",
            Message::Request(_) | Message::Fault(..) => false,
        };
        if !concerns_others {
            return;
        }
        let left = Left { from: self.process.clone(), message: message.to_text() };
        let text = serde_json::to_vec(&left).unwrap_or_default();
        let Some(hidden) = settings.seal.hide(&["message", &key.tenant, &key.name], &text) else { return };
        if let Err(why) = state.store.leave_message(key, hidden).await {
            tracing::error!(conversation = key.name, "{why}; a message of the client reaches no other process");
        }
    }

    /// Delivers what other processes have left for sessions.
    pub(super) async fn deliver(&self, settings: &Settings, sessions: &[Arc<Session>]) {
        let Some(state) = settings.state.as_ref().filter(|_| !sessions.is_empty()) else { return };
        let names: Vec<String> = sessions.iter().map(|own| own.state_key().name.clone()).collect();
        let left = match state.store.messages(&settings.tenant, names).await {
            Ok(left) => left,
            Err(why) => return tracing::error!("{why}; messages that clients sent to other processes are late"),
        };
        for own in left {
            if !self.is_new(own.number) {
                continue;
            }
            let shown = settings.seal.show(&["message", &settings.tenant, &own.name], &own.value);
            let left: Option<Left> = shown.and_then(|text| serde_json::from_slice(&text).ok());
            let Some(left) = left.filter(|left| left.from != self.process) else { continue };
            let session = sessions.iter().find(|session| session.state_key().name == own.name);
            if let (Some(session), Ok(message)) = (session, Message::from_json(&left.message)) {
                session.say(message).await;
            }
        }
    }

    fn is_new(&self, number: i64) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = seen.insert(number);
        while seen.len() > MAX_SEEN {
            seen.pop_first();
        }
        is_new
    }
}
