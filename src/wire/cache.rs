//! The rules of each provider's prompt cache: rows of the capability table that arm `auto` uses to
//! price a session.

use super::Wire;
use super::capability::{Capabilities, before};
use crate::model::{ModelId, ModelPattern};
use crate::profile::CacheRules;

/// A row: the price of cached input for some models.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheRow {
    /// The wire.
    pub wire: Wire,
    /// The models.
    pub models: ModelPattern,
    /// The price of input read from the cache, in thousandths of the price of input.
    pub read: u32,
    /// The price of input written to the cache, in thousandths of the price of input.
    pub write: u32,
    /// The minimum number of tokens of a cached request.
    pub minimum: usize,
    /// The source of the facts.
    pub source: String,
    /// The date of the facts, as a year and month or a day.
    pub date: String,
}

impl CacheRow {
    /// The rules without their source.
    #[must_use]
    pub fn cache(&self) -> CacheRules {
        CacheRules::new(self.read, self.write, self.minimum)
    }
}

impl Capabilities {
    /// Returns this table with cache rows before its own, most specific first.
    #[must_use]
    pub fn with_caches(&self, overrides: impl IntoIterator<Item = CacheRow>) -> Self {
        let caches = before(overrides, &self.caches, |row| &row.models);
        Self { caches, ..self.clone() }
    }

    /// The cache rows, in lookup order.
    pub fn caches(&self) -> impl Iterator<Item = &CacheRow> {
        self.caches.iter()
    }

    /// The cache rules of a model on a wire: the first matching row. `None` if unknown;
    /// [`CacheRules::default`] is then a reasonable assumption.
    #[must_use]
    pub fn cache_of(&self, wire: Wire, model: Option<&str>) -> Option<&CacheRow> {
        let id = model.map(ModelId::parse);
        self.caches.iter().find(|row| row.wire == wire && row.models.matches_model(id.as_ref()))
    }
}
