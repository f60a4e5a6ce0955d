//! The names that each server has ever listed, for all conversations of a tenant.
//!
//! Stored in this process, and in the gateway's store of state if that outlives the process. Pins
//! of tools will store the same names with more details and replace this store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::capture::digest_of_texts;
use crate::seal::Seal;
use crate::settings::ServerSettings;
use crate::state::{StateError, StateKey, StateStore, Written};

/// The maximum number of remembered names of one kind per server: twice the limit of a list.
/// Further tools are ignored, so that a server cannot exhaust memory with new names.
pub(crate) const MAX_LISTED: usize = 20_000;

/// How long the names are stored after the last change, in milliseconds: ten years.
const LIFE_MS: i64 = 10 * 365 * 24 * 60 * 60 * 1000;

/// The maximum number of attempts to write when other processes write too.
const TRIES: u8 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tools,
    Prompts,
}

/// The lists of one server; `None` for a kind that it has not listed yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Lists {
    tools: Option<Arc<BTreeSet<String>>>,
    prompts: Option<Arc<BTreeSet<String>>>,
}

impl Lists {
    fn of_kind(&self, kind: Kind) -> &Option<Arc<BTreeSet<String>>> {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
        }
    }

    /// Adds names. Returns whether something changed.
    fn add_names<'n>(&mut self, kind: Kind, names: impl Iterator<Item = &'n String>) -> bool {
        let list = match kind {
            Kind::Tools => &mut self.tools,
            Kind::Prompts => &mut self.prompts,
        };
        let mut changed = list.is_none();
        let own = list.get_or_insert_default();
        for name in names {
            if own.len() < MAX_LISTED && !own.contains(name) {
                changed |= Arc::make_mut(own).insert(name.clone());
            }
        }
        changed
    }
}

/// By a digest of a server's name and connection: another server of that name has its own lists.
type All = BTreeMap<String, Lists>;

/// The remembered names of a tenant.
#[derive(Debug, Default)]
pub struct ListedNames {
    all: Mutex<All>,
    stored: Option<Stored>,
}

/// The store beyond this process.
struct Stored {
    store: Arc<dyn StateStore>,
    key: StateKey,
    seal: Seal,
    is_behind: AtomicBool,
    /// The last version that was read or written. Locked while the store is used.
    version: tokio::sync::Mutex<u64>,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stored").field("store", &self.store).field("key", &self.key).finish_non_exhaustive()
    }
}

impl ListedNames {
    /// Reads the listed names of a tenant from the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn stored(store: Arc<dyn StateStore>, tenant: Arc<str>, seal: Seal) -> Result<Self, StateError> {
        let key = StateKey { tenant, name: "listed names".to_owned() };
        let stored =
            Stored { store, key, seal, is_behind: AtomicBool::new(false), version: tokio::sync::Mutex::new(0) };
        let own = Self { all: Mutex::default(), stored: Some(stored) };
        own.refresh().await?;
        Ok(own)
    }

    fn lock_all(&self) -> MutexGuard<'_, All> {
        // A panic leaves the value valid, since names are added one by one.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of a kind that a server has listed so far; `None` before its first list.
    pub(crate) fn names_of_kind(&self, kind: Kind, server: &ServerSettings) -> Option<Arc<BTreeSet<String>>> {
        self.lock_all().get(&server_digest(server)).and_then(|lists| lists.of_kind(kind).clone())
    }

    pub(crate) fn remember_names(self: &Arc<Self>, kind: Kind, server: &ServerSettings, names: &[String]) {
        if !self.lock_all().entry(server_digest(server)).or_default().add_names(kind, names.iter()) {
            return;
        }
        let Some(stored) = &self.stored else { return };
        stored.is_behind.store(true, Ordering::Release);
        // Without a runtime the gateway is shutting down, and writes the rest itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let own = self.clone();
            runtime.spawn(async move { own.write_to_store().await });
        }
    }

    /// Reads the names that other processes have added. Fails if the store cannot be read.
    pub(crate) async fn refresh(&self) -> Result<(), StateError> {
        let Some(stored) = &self.stored else { return Ok(()) };
        let mut version = stored.version.lock().await;
        if stored.store.version(&stored.key).await? > *version {
            *version = self.read_from_store(stored).await?;
        }
        Ok(())
    }

    /// Writes new names. After an error, they stay in memory.
    pub(crate) async fn write_to_store(&self) {
        let Some(stored) = &self.stored else { return };
        let mut version = stored.version.lock().await;
        if !stored.is_behind.swap(false, Ordering::AcqRel) {
            return;
        }
        for _ in 0..TRIES {
            let text = serde_json::to_vec(&*self.lock_all()).unwrap_or_default();
            let Some(value) = stored.seal.hide(&stored.seal_context(), &text) else { return };
            let failed = match stored.store.write_state(&stored.key, *version, value, LIFE_MS).await {
                Ok(Written::Now(now)) => {
                    *version = now;
                    return;
                }
                Ok(Written::Changed(_)) => match self.read_from_store(stored).await {
                    Ok(now) => {
                        *version = now;
                        continue;
                    }
                    Err(why) => why,
                },
                Err(why) => why,
            };
            tracing::error!(
                "cannot store the names that servers have listed; they are only remembered in this process: {failed}"
            );
            return;
        }
        tracing::warn!("other processes keep writing the listed names; writing is retried with the next change");
        stored.is_behind.store(true, Ordering::Release);
    }

    /// Adds the names in the store. Returns their version.
    async fn read_from_store(&self, stored: &Stored) -> Result<u64, StateError> {
        let Some(kept) = stored.store.read_state(&stored.key).await? else { return Ok(0) };
        let text = stored.seal.show(&stored.seal_context(), &kept.value);
        match text.and_then(|text| serde_json::from_slice::<All>(&text).ok()) {
            Some(others) => {
                let mut all = self.lock_all();
                for (server, lists) in others {
                    let own = all.entry(server).or_default();
                    for kind in [Kind::Tools, Kind::Prompts] {
                        if let Some(names) = lists.of_kind(kind) {
                            own.add_names(kind, names.iter());
                        }
                    }
                }
            }
            None => tracing::warn!("ignored the stored names of servers: they were written with another key"),
        }
        Ok(kept.version)
    }
}

impl Stored {
    fn seal_context(&self) -> [&str; 2] {
        ["listed names", &self.key.tenant]
    }
}

fn server_digest(server: &ServerSettings) -> String {
    digest_of_texts(&[&server.name, &server.identity])
}
