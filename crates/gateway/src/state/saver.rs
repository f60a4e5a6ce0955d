//! The task that writes the state of one conversation: in order, and what a client is told after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{LIFE_MS, StateKey, StateStore, Written};
use crate::client::Client;
use crate::hub::Receipt;
use crate::rpc::{Id, Message};

/// How often a write is tried again after another process was faster.
const TRIES: u8 = 3;

/// What is to be done.
enum Step {
    Write(Vec<u8>),
    /// Tells a client something, once what was written before is kept.
    Tell(Client, Message, Id, Option<Receipt>),
}

/// See the module.
pub(crate) struct StateWriter {
    to: mpsc::UnboundedSender<Step>,
    task: JoinHandle<()>,
    /// Whether clients wait until what they were told of is kept: another process may serve what they ask next.
    waits: bool,
}

impl StateWriter {
    /// A saver that goes on from the version in `version`, and keeps it up to date.
    pub(crate) fn start_writer(store: Arc<dyn StateStore>, key: StateKey, version: Arc<AtomicU64>) -> Self {
        let (to, steps) = mpsc::unbounded_channel();
        let waits = store.is_shared();
        Self { to, task: tokio::spawn(write_steps(store, key, version, steps)), waits }
    }

    pub(crate) fn write_later(&self, value: Vec<u8>) {
        drop(self.to.send(Step::Write(value)));
    }

    /// Answers a client; after what was written before, where that matters.
    pub(crate) fn reply(&self, client: &Client, id: &Id, message: Message, receipt: Option<Receipt>) {
        if self.waits {
            drop(self.to.send(Step::Tell(client.clone(), message, id.clone(), receipt)));
        } else {
            client.sink.deliver(message, Some(id), receipt);
        }
    }

    /// Waits until everything is written.
    pub(crate) async fn until_written(self) {
        let Self { to, task, .. } = self;
        drop(to);
        drop(task.await);
    }
}

async fn write_steps(
    store: Arc<dyn StateStore>,
    key: StateKey,
    version: Arc<AtomicU64>,
    mut steps: mpsc::UnboundedReceiver<Step>,
) {
    while let Some(step) = steps.recv().await {
        match step {
            Step::Write(value) => write_over(&*store, &key, &version, value).await,
            Step::Tell(client, message, of, receipt) => client.sink.deliver(message, Some(&of), receipt),
        }
    }
}

/// Writes over what another process has written meanwhile: what is lost then is that some schemas were shown, and they are
/// shown again when they are asked for. What was ended elsewhere stays ended.
async fn write_over(store: &dyn StateStore, key: &StateKey, version: &AtomicU64, value: Vec<u8>) {
    for _ in 0..TRIES {
        let from = version.load(Ordering::Acquire);
        if from == u64::MAX {
            return;
        }
        // Who compares meanwhile must not take this write for another process's.
        version.store(from + 1, Ordering::Release);
        match store.write_state(key, from, value.clone(), LIFE_MS).await {
            Ok(Written::Now(now)) => return version.store(now, Ordering::Release),
            Ok(Written::Changed(0)) if from > 0 => {
                tracing::debug!(conversation = key.name, "it was ended by another process");
                return version.store(u64::MAX, Ordering::Release);
            }
            Ok(Written::Changed(now)) => version.store(now, Ordering::Release),
            Err(why) => {
                version.store(from, Ordering::Release);
                return tracing::error!(conversation = key.name, "{why}; it goes on in this process only");
            }
        }
    }
    tracing::warn!(conversation = key.name, "other processes write its state all the time: this change is not kept");
}
