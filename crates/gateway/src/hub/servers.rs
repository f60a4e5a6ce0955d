//! The upstream servers of a hub, in the order of the configuration.

use std::slice::Iter;

use tokio::time::Instant;

use super::route::offers;
use super::server::{Server, State};
use crate::link::Inbox;

pub(super) struct Servers {
    pub(super) list: Vec<Server>,
    pub(super) inbox: Inbox,
    /// When requests stop waiting for servers that have never listed. `None` before the servers are
    /// started, and if requests wait for as long as it takes.
    pub(super) budget_ends: Option<Instant>,
}

impl Servers {
    pub(super) fn get(&self, at: usize) -> Option<&Server> {
        self.list.get(at)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Server> {
        self.list.get_mut(at)
    }

    pub(super) fn iter(&self) -> Iter<'_, Server> {
        self.list.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether every server that may support a method has introduced itself, or is down. What a
    /// server supports is known from its earlier start.
    pub(super) fn have_settled_for(&self, method: &str) -> bool {
        let is_settled = |server: &Server| matches!(server.state, State::Ready | State::Down);
        self.list.iter().all(|server| is_settled(server) || server.is_known() && !offers(server, method))
    }

    /// Whether the gateway can introduce itself: several servers at once, with what is known of
    /// them; the only one once it has introduced itself, or is down.
    pub(super) fn can_introduce(&self) -> bool {
        self.list.len() > 1 || self.list.iter().all(|server| server.is_known() || server.state == State::Down)
    }

    /// Whether the tools of every server are known, from its list or an earlier one, or the server
    /// is down.
    pub(super) fn all_known(&self) -> bool {
        self.list.iter().all(|own| own.has_list() || own.state == State::Down)
    }

    /// Whether requests no longer wait for servers that have never listed. A gateway with one
    /// server waits for it.
    pub(super) fn is_late(&self) -> bool {
        self.list.len() > 1 && self.budget_ends.is_some_and(|ends| Instant::now() >= ends)
    }
}
