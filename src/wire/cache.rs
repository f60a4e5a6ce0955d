//! The rules of each provider's prompt cache: rows of the capability table that arm `auto` uses to
//! price a session.

use serde::Deserialize;

use super::Wire;
use super::capability::Capabilities;
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
    /// The length of a hit is a multiple of this.
    pub step: usize,
    /// How long a prefix stays cached after its last use, in seconds; `None` if unknown.
    pub lifetime: Option<u64>,
    /// The longer-lived cache, if there is one.
    pub long: Option<LongCacheRow>,
    /// The source of the facts.
    pub source: String,
    /// The date of the facts, as a year and month or a day.
    pub date: String,
}

/// A longer-lived cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LongCacheRow {
    /// The price of writing, in thousandths of the price of input.
    pub write: u32,
    /// The lifetime in seconds.
    pub lifetime: u64,
}

impl CacheRow {
    /// A row with these rules for models of a wire, without a longer-lived cache.
    #[must_use]
    pub fn new(wire: Wire, models: ModelPattern, rules: CacheRules, source: &str, date: &str) -> Self {
        let CacheRules { read, write, minimum, step, lifetime } = rules;
        let (source, date) = (source.to_owned(), date.to_owned());
        Self { wire, models, read, write, minimum, step, lifetime, long: None, source, date }
    }

    /// The rules without their source, for the shortest-lived cache.
    #[must_use]
    pub fn cache(&self) -> CacheRules {
        let Self { read, write, minimum, step, lifetime, .. } = *self;
        CacheRules { read, write, minimum, step, lifetime }
    }

    fn is_of_family(&self) -> bool {
        matches!(self.models, ModelPattern::Family { .. })
    }
}

impl Capabilities {
    /// The cache rules of a model on a wire: the first matching row, or the first row of its family
    /// on another wire, because a gateway bills by the model. `None` if unknown;
    /// [`CacheRules::default`] is then a reasonable assumption.
    #[must_use]
    pub fn cache_of(&self, wire: Wire, model: Option<&str>) -> Option<&CacheRow> {
        let id = model.map(ModelId::parse);
        let own = self.caches.iter().find(|row| row.wire == wire && row.models.matches_model(id.as_ref()));
        own.or_else(|| self.cache_of_family(model?))
    }

    /// The first row of a model's family on any wire.
    #[must_use]
    pub fn cache_of_family(&self, model: &str) -> Option<&CacheRow> {
        let id = ModelId::parse(model);
        self.caches.iter().find(|row| row.is_of_family() && row.models.matches_model(Some(&id)))
    }
}
