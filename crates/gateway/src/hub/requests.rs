//! The open requests: those of clients, those sent to servers for them, and those sent to clients.

use std::collections::HashMap;

use tokio::time::Instant;
use toolfold::conversation::Forward;

use super::client_requests::Asked;
use super::pending::Pending;
use super::results::Job;
use super::scripts::RunningScript;
use crate::client::Client;
use crate::object::Object;
use crate::rpc::{Id, Request};

/// A call whose server is starting.
pub(super) struct Waiting {
    pub(super) server: usize,
    pub(super) client: Client,
    pub(super) id: Id,
    pub(super) params: Object,
    pub(super) forward: Forward,
    /// When the call is answered without the server.
    pub(super) due: Instant,
}

#[derive(Default)]
pub(super) struct Requests {
    /// Requests sent to servers, by the gateway's ids.
    pub(super) pending: HashMap<u64, Pending>,
    /// The requests to servers that a client's request has become, by client and id.
    pub(super) running: HashMap<(u64, Id), Vec<u64>>,
    /// Requests sent to clients, by the gateway's ids.
    pub(super) asked: HashMap<u64, Asked>,
    pub(super) held: Vec<(Client, Request)>,
    /// Decided calls that wait for their servers.
    pub(super) waiting: Vec<Waiting>,
    /// Calls whose scripts run, by the gateway's ids.
    pub(super) scripts: HashMap<u64, RunningScript>,
    /// Requests whose answers are made in threads, by the gateway's ids.
    pub(super) jobs: HashMap<u64, Job>,
    pub(super) next: u64,
}

impl Requests {
    pub(super) fn next_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Removes a request to a server from those that a client's request waits for.
    pub(super) fn no_longer_running(&mut self, client: &Client, id: &Id, pending: u64) {
        let key = (client.key, id.clone());
        if let Some(ids) = self.running.get_mut(&key) {
            ids.retain(|own| *own != pending);
            if ids.is_empty() {
                self.running.remove(&key);
            }
        }
    }

    /// The only request that is open at a server, apart from subscriptions.
    pub(super) fn only_pending(&self, at: usize) -> Option<u64> {
        let mut open = self.pending.iter().filter(|(_, own)| own.server == at && !own.listens).map(|(id, _)| *id);
        open.next().filter(|_| open.next().is_none())
    }

    /// The client's request that a server's message belongs to: the one that the transport names,
    /// else the latest that is open at this server.
    pub(super) fn belongs_to(&self, at: usize, of: Option<u64>) -> Option<(&Client, &Id)> {
        let named = of.and_then(|id| self.pending.get(&id)).filter(|own| own.server == at && own.of.is_some());
        let open = self.pending.iter().filter(|(_, own)| own.server == at && own.of.is_some());
        let pending = named.or_else(|| open.max_by_key(|(id, _)| **id).map(|(_, own)| own))?;
        pending.of.as_ref().map(|(client, id)| (client, id))
    }
}
