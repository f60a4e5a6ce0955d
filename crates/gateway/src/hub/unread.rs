//! Answers that open tools, and the requests that were sent before those answers were read.
//!
//! A model writes the calls of one message before it reads any answer to them, but MCP has no
//! messages: the gateway only sees requests. A request that arrived before an answer was written
//! cannot depend on that answer. The calls of one message may arrive on several connections, and
//! one can be answered before the next is read, so an answer that opens tools is delayed briefly.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use toolfold::conversation::CallId;

use super::upstream::Upstream;
use super::view::View;
use super::{Hub, INBOX};
use crate::client::{Client, ToHub};
use crate::rpc::{Answer, Id};

/// Delay of an answer that opens tools. Several times longer than a client needs to send the calls
/// of one message (measured: ten on new connections within 28 ms, on two cores with a load of 8),
/// and short compared to a model's turn.
const HOLD: Duration = Duration::from_millis(100);

/// The unwritten answers that open tools, each with the number of openings before it.
type Unwritten = Arc<Mutex<BTreeMap<u64, usize>>>;

/// The answers that open tools and are delayed or unwritten.
#[derive(Debug)]
pub(super) struct Openings {
    held: VecDeque<Held>,
    unwritten: Unwritten,
    next: u64,
    /// Where clients send their messages.
    hub: mpsc::WeakSender<ToHub>,
}

#[derive(Debug)]
struct Held {
    due: Instant,
    client: Client,
    id: Id,
    call: CallId,
    answer: Answer,
    receipt: Option<Receipt>,
}

/// Is dropped once an answer has been written, or cannot be written.
#[derive(Debug)]
pub struct Receipt {
    number: u64,
    unwritten: Unwritten,
    hub: mpsc::WeakSender<ToHub>,
}

impl Drop for Receipt {
    fn drop(&mut self) {
        // Earlier requests are already queued, and are decided before this message.
        let queued = self.hub.upgrade().is_some_and(|hub| hub.try_send(ToHub::Written(self.number)).is_ok());
        if !queued {
            unlocked(&self.unwritten).remove(&self.number);
        }
    }
}

fn unlocked(unwritten: &Unwritten) -> MutexGuard<'_, BTreeMap<u64, usize>> {
    // The lock cannot be poisoned: no code that holds it can panic.
    unwritten.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Openings {
    /// No openings yet, of a hub that clients reach through `hub`.
    pub(super) fn for_hub(hub: &mpsc::Sender<ToHub>) -> Self {
        Self { held: VecDeque::new(), unwritten: Arc::default(), next: 0, hub: hub.downgrade() }
    }

    /// Where clients send their messages.
    pub(super) fn hub(&self) -> mpsc::WeakSender<ToHub> {
        self.hub.clone()
    }

    pub(super) fn remove_written(&self, number: u64) {
        unlocked(&self.unwritten).remove(&number);
    }

    /// The number of openings, of `all`, that a request arriving now can depend on.
    pub(super) fn dependable_openings(&self, all: usize) -> usize {
        unlocked(&self.unwritten).values().min().map_or(all, |first| all.min(*first))
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.held.front().map(|own| own.due)
    }

    /// Removes a cancelled request's answer. Returns the call if it would open tools.
    fn cancel(&mut self, key: &(u64, Id)) -> Option<CallId> {
        let at = self.held.iter().position(|own| own.client.key == key.0 && own.id == key.1)?;
        let Held { call, receipt, .. } = self.held.remove(at)?;
        let number = receipt.as_ref()?.number;
        let mut unwritten = unlocked(&self.unwritten);
        let before = unwritten.get(&number).copied()?;
        // The opening is undone, so later ones move up.
        unwritten.values_mut().filter(|own| **own > before).for_each(|own| *own -= 1);
        Some(call)
    }
}

impl View {
    /// Answers a call in place of servers. `before`: the number of openings before it.
    pub(super) fn answer_in_order(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        id: &Id,
        call: CallId,
        answer: Answer,
        before: usize,
    ) {
        let opened = self.shown.as_ref().is_some_and(|view| view.conversation.openings() > before);
        let openings = &mut self.openings;
        let due = match openings.held.back() {
            None if !opened => {
                self.reply_kept(upstream, client, id, answer);
                return self.reshow(upstream);
            }
            // An answer that depends on the previous one follows it.
            Some(last) if !opened => last.due,
            Some(_) | None => Instant::now() + HOLD,
        };
        let receipt = opened.then(|| {
            openings.next += 1;
            let (number, unwritten) = (openings.next, openings.unwritten.clone());
            unlocked(&unwritten).insert(number, before);
            Receipt { number, unwritten, hub: openings.hub.clone() }
        });
        openings.held.push_back(Held { due, client: client.clone(), id: id.clone(), call, answer, receipt });
        // While the answer is delayed, its id is in use, and it can be cancelled.
        upstream.requests.running.insert((client.key, id.clone()), Vec::new());
    }

    /// Drops the delayed answer to a request; the tools that it would have opened stay closed.
    pub(super) fn cancel_held(&mut self, key: &(u64, Id)) {
        if let (Some(call), Some(view)) = (self.openings.cancel(key), &mut self.shown) {
            view.conversation.not_sent(&call);
        }
    }

    /// Sends all delayed answers at shutdown.
    pub(super) fn give_all_held(&mut self, upstream: &mut Upstream) {
        while let Some(held) = self.openings.held.pop_front() {
            self.give(upstream, held);
        }
    }

    fn give(&mut self, upstream: &mut Upstream, held: Held) {
        let Held { client, id, answer, receipt, .. } = held;
        upstream.requests.running.remove(&(client.key, id.clone()));
        self.reply_noted(upstream, &client, &id, answer, receipt);
        self.reshow(upstream);
    }
}

impl Hub {
    /// Sends the answers that are due, after the requests that were sent before them.
    pub(super) fn give_held(&mut self, now: Instant, clients: &mut mpsc::Receiver<ToHub>) {
        for _ in 0..INBOX {
            let Ok(said) = clients.try_recv() else { break };
            self.hear(said);
        }
        while self.view.openings.due().is_some_and(|due| due <= now)
            && let Some(held) = self.view.openings.held.pop_front()
        {
            self.view.give(&mut self.upstream, held);
        }
    }
}
