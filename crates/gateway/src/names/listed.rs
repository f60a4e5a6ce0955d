//! The names that each server has ever listed, for all conversations of a tenant.
//!
//! Kept in this process, and in the gateway's store of state where that outlives the process. Pins of tools will hold the same
//! names with more about each; then they take the place of this.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::capture::digest_of_texts;
use crate::seal::Seal;
use crate::settings::ServerSettings;
use crate::state::{StateError, StateKey, StateStore, Written};

/// The maximum number of names of one kind that are remembered of a server: twice the longest list that is read. A server that
/// makes up names for ever must not fill the memory; its further tools are left out.
pub(crate) const MAX_LISTED: usize = 20_000;

/// How long the names are kept after the last change, in milliseconds: ten years.
const LIFE_MS: i64 = 10 * 365 * 24 * 60 * 60 * 1000;

/// How often a write is tried again after another process was faster.
const TRIES: u8 = 5;

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tools,
    Prompts,
}

/// What one server has listed; `None` where it has not listed that kind yet.
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

    /// Adds names. Whether something changed.
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

/// What all servers have listed, by a digest of a server's name and of how it is reached: another server of the same name has
/// listed nothing.
type All = BTreeMap<String, Lists>;

/// See the module.
#[derive(Debug, Default)]
pub struct ListedNames {
    all: Mutex<All>,
    stored: Option<Stored>,
}

/// Where the names are kept beyond this process.
struct Stored {
    store: Arc<dyn StateStore>,
    key: StateKey,
    seal: Seal,
    /// Whether there are names that have not been written.
    is_behind: AtomicBool,
    /// The version that was read or written last. Held while the store is used.
    version: tokio::sync::Mutex<u64>,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stored").field("store", &self.store).field("key", &self.key).finish_non_exhaustive()
    }
}

impl ListedNames {
    /// The names that a tenant's servers have listed, as the store has them.
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
        // What a panicking task left is still whole: names are added one by one.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of a kind that a server has ever listed; `None` if it has not listed yet.
    pub(crate) fn names_of_kind(&self, kind: Kind, server: &ServerSettings) -> Option<Arc<BTreeSet<String>>> {
        self.lock_all().get(&server_digest(server)).and_then(|lists| lists.of_kind(kind).clone())
    }

    /// A server has listed these names.
    pub(crate) fn remember_names(self: &Arc<Self>, kind: Kind, server: &ServerSettings, names: &[String]) {
        if !self.lock_all().entry(server_digest(server)).or_default().add_names(kind, names.iter()) {
            return;
        }
        let Some(stored) = &self.stored else { return };
        stored.is_behind.store(true, Ordering::Release);
        // Without a runtime the gateway is shutting down, and writes what is left itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let own = self.clone();
            runtime.spawn(async move { own.write_to_store().await });
        }
    }

    /// Reads what other processes have added meanwhile.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) async fn refresh(&self) -> Result<(), StateError> {
        let Some(stored) = &self.stored else { return Ok(()) };
        let mut version = stored.version.lock().await;
        if stored.store.version(&stored.key).await? > *version {
            *version = self.read_from_store(stored).await?;
        }
        Ok(())
    }

    /// Writes what has not been written. Names that cannot be written are remembered in this process.
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
            tracing::error!("the names that servers have listed are remembered in this process only: {failed}");
            return;
        }
        tracing::warn!("other processes write the listed names all the time: they are written with the next change");
        stored.is_behind.store(true, Ordering::Release);
    }

    /// Adds what the store has; its version.
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
            None => tracing::warn!("the stored names of servers were written with another key, and are not used"),
        }
        Ok(kept.version)
    }
}

impl Stored {
    fn seal_context(&self) -> [&str; 2] {
        ["listed names", &self.key.tenant]
    }
}

/// Where the names of a server are.
fn server_digest(server: &ServerSettings) -> String {
    digest_of_texts(&[&server.name, &server.identity])
}
