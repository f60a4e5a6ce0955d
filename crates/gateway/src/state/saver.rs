//! Writes a conversation's state in order, before the responses that depend on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{LIFE_MS, StateKey, StateStore, Written};
use crate::client::Client;
use crate::hub::Receipt;
use crate::rpc::{Id, Message};

/// The maximum number of attempts to write when other processes write too.
const TRIES: u8 = 3;

/// What happens to a write if another process has written meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// It replaces the other's. The state contains a client's request, before which the other
    /// processes' changes were read. This only loses that some schemas were shown; they are shown
    /// again on request.
    Replace,
    /// It is dropped: without a request, the state may be older than the other's.
    Drop,
}

enum Step {
    Write(Vec<u8>, OnConflict),
    /// Sends a response once the state before it is stored.
    Tell(Client, Message, Id, Option<Receipt>),
}

pub(crate) struct StateWriter {
    to: mpsc::UnboundedSender<Step>,
    task: JoinHandle<()>,
    /// Whether responses wait for the state: another process may serve the next request.
    waits: bool,
}

impl StateWriter {
    /// A writer that continues from the version in `version` and updates it.
    pub(crate) fn start_writer(store: Arc<dyn StateStore>, key: StateKey, version: Arc<AtomicU64>) -> Self {
        let (to, steps) = mpsc::unbounded_channel();
        let waits = store.is_shared();
        Self { to, task: tokio::spawn(write_steps(store, key, version, steps)), waits }
    }

    pub(crate) fn write_later(&self, value: Vec<u8>, conflict: OnConflict) {
        drop(self.to.send(Step::Write(value, conflict)));
    }

    /// Sends a response, after the state before it if necessary.
    pub(crate) fn reply(&self, client: &Client, id: &Id, message: Message, receipt: Option<Receipt>) {
        if self.waits {
            drop(self.to.send(Step::Tell(client.clone(), message, id.clone(), receipt)));
        } else {
            client.sink.deliver(message, Some(id), receipt);
        }
    }

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
            Step::Write(value, conflict) => write_over(&*store, &key, &version, value, conflict).await,
            Step::Tell(client, message, of, receipt) => client.sink.deliver(message, Some(&of), receipt),
        }
    }
}

/// Writes state. A conversation ended elsewhere stays ended.
async fn write_over(store: &dyn StateStore, key: &StateKey, version: &AtomicU64, value: Vec<u8>, conflict: OnConflict) {
    for _ in 0..TRIES {
        let from = version.load(Ordering::Acquire);
        if from == u64::MAX {
            return;
        }
        // A concurrent comparison must not mistake this write for another process's.
        version.store(from + 1, Ordering::Release);
        match store.write_state(key, from, value.clone(), LIFE_MS).await {
            Ok(Written::Now(now)) => return version.store(now, Ordering::Release),
            Ok(Written::Changed(0)) if from > 0 => {
                tracing::debug!(conversation = key.name, "another process has ended the conversation");
                return version.store(u64::MAX, Ordering::Release);
            }
            Ok(Written::Changed(_)) if conflict == OnConflict::Drop => {
                // The next request reads the other's.
                return version.store(from, Ordering::Release);
            }
            Ok(Written::Changed(now)) => version.store(now, Ordering::Release),
            Err(why) => {
                version.store(from, Ordering::Release);
                return tracing::error!(
                    conversation = key.name,
                    "{why}; the conversation continues in this process only"
                );
            }
        }
    }
    tracing::warn!(
        conversation = key.name,
        "other processes keep writing the conversation's state; this change is not stored"
    );
}
