//! What is known of each provider's prompt cache: rows of the capability table, by which arm `auto` prices a session.

use serde::{Deserialize, Serialize};

use super::Wire;
use super::capability::{Capabilities, names_model, specific};
use crate::profile::Cache;

/// One row: what cached input costs with the models that a glob names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheRow {
    /// The wire.
    pub wire: Wire,
    /// A glob over model names, read as [`CapabilityRow::model`](super::CapabilityRow::model).
    pub model: String,
    /// Input read from the cache, in thousandths of the price of input.
    pub read: u32,
    /// Input written to the cache, in thousandths of the price of input.
    pub write: u32,
    /// A request of fewer tokens is not cached.
    pub minimum: usize,
    /// Who says so.
    pub source: String,
    /// When it was so, as a year and month or a day.
    pub date: String,
}

impl CacheRow {
    /// The prices alone.
    #[must_use]
    pub fn cache(&self) -> Cache {
        Cache { read: self.read, write: self.write, minimum: self.minimum }
    }
}

impl Capabilities {
    /// The same table behind these cache rows, the most specific globs first.
    #[must_use]
    pub fn with_caches(&self, overrides: impl IntoIterator<Item = CacheRow>) -> Self {
        let mut caches: Vec<CacheRow> = overrides.into_iter().collect();
        caches.sort_by_key(|row| std::cmp::Reverse(specific(&row.model)));
        let mut table = self.clone();
        caches.append(&mut table.caches);
        table.caches = caches;
        table
    }

    /// The cache rows, in the order in which they are asked.
    pub fn caches(&self) -> impl Iterator<Item = &CacheRow> {
        self.caches.iter()
    }

    /// What cached input costs with a model on a wire: the first row that names it. Without one nothing is known, and
    /// [`Cache::default`] is as good a guess as any.
    #[must_use]
    pub fn cache_of(&self, wire: Wire, model: Option<&str>) -> Option<&CacheRow> {
        self.caches.iter().find(|row| row.wire == wire && names_model(&row.model, model))
    }
}
