//! The upstream servers of a hub, in the order of the configuration.

use std::slice::Iter;

use tokio::sync::mpsc;

use super::server::{Server, State};
use crate::link::Incoming;

pub(super) struct Servers {
    pub(super) list: Vec<Server>,
    pub(super) inbox: mpsc::Sender<Incoming>,
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

    /// Whether every server has introduced itself or is down.
    pub(super) fn all_settled(&self) -> bool {
        self.list.iter().all(|server| matches!(server.state, State::Ready | State::Down))
    }

    /// Whether every server has introduced itself, now or in its capture, or is down.
    pub(super) fn all_introduced(&self) -> bool {
        self.list.iter().all(|server| server.is_known() || server.state == State::Down)
    }

    /// Whether the tools of every server are known, from its list or its capture.
    pub(super) fn all_known(&self) -> bool {
        self.all_listed() || self.list.iter().all(|own| own.is_stale || own.tools.is_read || own.state == State::Down)
    }

    pub(super) fn all_listed(&self) -> bool {
        self.list.iter().all(|server| match server.state {
            State::Ready => server.tools.is_read,
            State::Down => true,
            State::Idle | State::Starting => false,
        })
    }
}
