//! What is known of each provider's prompt cache: rows of the capability table, by which arm `auto` prices a session.

use super::Wire;
use super::capability::{Capabilities, before};
use crate::model::{ModelId, ModelPattern};
use crate::profile::CacheRules;

/// One row: what cached input costs with some models.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheRow {
    /// The wire.
    pub wire: Wire,
    /// The models.
    pub models: ModelPattern,
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
    /// The rules alone.
    #[must_use]
    pub fn cache(&self) -> CacheRules {
        CacheRules::new(self.read, self.write, self.minimum)
    }
}

impl Capabilities {
    /// The same table behind these cache rows, the most specific first.
    #[must_use]
    pub fn with_caches(&self, overrides: impl IntoIterator<Item = CacheRow>) -> Self {
        let caches = before(overrides, &self.caches, |row| &row.models);
        Self { caches, ..self.clone() }
    }

    /// The cache rows, in the order in which they are asked.
    pub fn caches(&self) -> impl Iterator<Item = &CacheRow> {
        self.caches.iter()
    }

    /// What cached input costs with a model on a wire: the first row that covers it. `None` where nothing is known; there
    /// [`CacheRules::default`] is as good a guess as any.
    #[must_use]
    pub fn cache_of(&self, wire: Wire, model: Option<&str>) -> Option<&CacheRow> {
        let id = model.map(ModelId::parse);
        self.caches.iter().find(|row| row.wire == wire && row.models.covers(id.as_ref()))
    }
}
