//! Token prices: dated price lists, read from TOML.
//!
//! Prices are data: the built-in table is `crates/measure/prices.toml`, every row with its source
//! and date, and a user's own rows precede it. What a row omits about the cache is taken from the
//! capability table, the only source of those facts that arm `auto` has. A model is found in the
//! spelling of any host ([`ModelId`]): `claude-opus-4.5`,
//! `us.anthropic.claude-opus-4-5-20251101-v1:0` and `anthropic/claude-opus-4.5` are one model with
//! one price. A model without a row has no price; it never gets that of a similar one.

use std::sync::OnceLock;

use serde::Deserialize;
use toml::Spanned;
use toolfold::diagnostic::{Diagnostic, Loaded, Place};
use toolfold::model::ModelId;
use toolfold::profile::{CacheRules, TokenPrices};
use toolfold::wire::{CacheRow, Capabilities, ModelPattern, Wire};

const SHIPPED: &str = include_str!("../prices.toml");

/// The maximum size of a price file, in bytes.
pub const MAX_PRICES_BYTES: usize = 1024 * 1024;

/// Words of a model's name that do not affect its price: they select a mode, not a model.
const FREE_VARIANTS: [&str; 3] = ["latest", "beta", "thinking"];

/// The maximum price of a million tokens, in US dollars: a higher one is a misplaced decimal point.
const MOST_USD: f64 = 100_000.0;

const HELP: &str = "a row is `[[price]]` with models (a list of ids), input, output, source and date, and optionally \
                    cache_read, cache_write, minimum, step, lifetime, long = { cache_write, lifetime } and context; prices \
                    are US dollars per million tokens";

/// The token prices of some models.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PriceRow {
    /// The models, as written in the row.
    pub models: Vec<String>,
    /// US dollars per million tokens, for prefixes in the shortest-lived cache.
    pub prices: TokenPrices,
    /// The provider's cache rules, with the same prices in thousandths of the price of input.
    pub rules: CacheRules,
    /// The price and lifetime of the longer-lived cache, if there is one.
    pub long: Option<LongCache>,
    /// The context window in tokens.
    pub context: Option<usize>,
    /// The source of the facts.
    pub source: String,
    /// The date of the facts, as a year and month or a day.
    pub date: String,
}

/// A longer-lived cache with a higher write price.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LongCache {
    /// US dollars per million tokens.
    pub cache_write: f64,
    /// The lifetime in seconds.
    pub lifetime: u64,
}

impl PriceRow {
    /// The same row with the longer-lived cache; `None` if it has none.
    #[must_use]
    pub fn with_long_cache(&self) -> Option<Self> {
        let long = self.long?;
        let mut row = self.clone();
        row.prices.cache_write = long.cache_write;
        row.rules.lifetime = Some(long.lifetime);
        row.rules = rules(&row.prices, row.rules);
        Some(row)
    }

    /// The row's cache rules as a row of the capability table, for a model on a wire.
    #[must_use]
    pub fn cache_row(&self, wire: Wire, model: &str) -> CacheRow {
        CacheRow::new(wire, ModelPattern::glob(model), self.rules, &self.source, &self.date)
    }

    fn names_model(&self, id: &ModelId, text: &str) -> bool {
        self.models.iter().any(|own| own.eq_ignore_ascii_case(text) || is_same(&ModelId::parse(own), id))
    }
}

/// Whether two ids name the same model. An unknown id equals no other.
fn is_same(one: &ModelId, other: &ModelId) -> bool {
    let [variants, other_variants] = [one, other].map(|id| {
        let mut own = id.variants.clone();
        own.retain(|word| !FREE_VARIANTS.contains(&word.as_str()));
        own.sort_unstable();
        own
    });
    one.vendor.is_some()
        && one.version.is_some()
        && (one.vendor, &one.family, one.version, &one.tier)
            == (other.vendor, &other.family, other.version, &other.tier)
        && variants == other_variants
}

/// A price list: rows in lookup order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceTable {
    rows: Vec<PriceRow>,
}

impl PriceTable {
    /// The built-in table, which is parsed once.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static TABLE: OnceLock<PriceTable> = OnceLock::new();
        // A test ensures that the built-in file is valid; an error would leave rows out, and their
        // models would have no price.
        TABLE.get_or_init(|| Self::from_toml(SHIPPED, "prices.toml").value)
    }

    /// Reads a table (TOML, `[[price]]` rows). `file` names it in diagnostics. Invalid rows are
    /// left out and reported: those without source or date, and those with invalid prices.
    pub fn from_toml(text: &str, file: &str) -> Loaded<Self> {
        read_prices(text, file)
    }

    /// Places this table before another: its rows take precedence.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        Self { rows: [self.rows.as_slice(), &other.rows].concat() }
    }

    /// The rows, in lookup order.
    pub fn rows(&self) -> impl Iterator<Item = &PriceRow> {
        self.rows.iter()
    }

    /// The first row that names a model, in any spelling.
    #[must_use]
    pub fn row_for_model(&self, model: &str) -> Option<&PriceRow> {
        let id = ModelId::parse(model);
        self.rows.iter().find(|row| row.names_model(&id, model.trim()))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    price: Vec<Spanned<Row>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    models: Vec<String>,
    input: f64,
    output: f64,
    cache_write: Option<f64>,
    cache_read: Option<f64>,
    minimum: Option<usize>,
    step: Option<usize>,
    lifetime: Option<u64>,
    long: Option<LongCache>,
    context: Option<usize>,
    source: String,
    date: String,
}

impl Row {
    fn checked(self) -> Result<PriceRow, String> {
        let Self { models, input, output, source, date, .. } = self;
        if models.is_empty() || models.iter().any(|model| model.trim().is_empty()) {
            return Err("the row names no model".to_owned());
        }
        let named = models.join(", ");
        if source.trim().is_empty() || date.trim().is_empty() {
            return Err(format!("the row of `{named}` has no source or no date"));
        }
        let known = models.first().and_then(|model| known_cache(model));
        let base = known.map_or(CacheRules::NONE, CacheRow::cache);
        let share = |milli: u32| input * f64::from(milli) / 1_000.0;
        let cache_read = self.cache_read.unwrap_or_else(|| share(base.read));
        let cache_write = self.cache_write.unwrap_or_else(|| share(base.write));
        let of_known = || {
            let long = known?.long?;
            Some(LongCache { cache_write: share(long.write), lifetime: long.lifetime })
        };
        let long_cache = self.long.or_else(of_known);
        let long = long_cache.map_or(input, |long| long.cache_write);
        let all = [
            ("input", input),
            ("output", output),
            ("cache_read", cache_read),
            ("cache_write", cache_write),
            ("long.cache_write", long),
        ];
        if let Some((key, price)) = all.into_iter().find(|(_, price)| !(0.0..=MOST_USD).contains(price)) {
            return Err(format!("{key} = {price} of `{named}` is not a valid price per million tokens"));
        }
        let prices = TokenPrices { input, cache_write, cache_read, output };
        let mut rules = rules(&prices, base);
        rules.minimum = self.minimum.unwrap_or(base.minimum);
        rules.step = self.step.unwrap_or(base.step);
        rules.lifetime = self.lifetime.or(base.lifetime);
        Ok(PriceRow { models, prices, rules, long: long_cache, context: self.context, source, date })
    }
}

/// The cache of a model in the capability table.
fn known_cache(model: &str) -> Option<&'static CacheRow> {
    Capabilities::builtin().cache_of_family(model)
}

/// Rules with these prices in thousandths of the price of input; if input is free, so is the rest.
fn rules(prices: &TokenPrices, mut rules: CacheRules) -> CacheRules {
    [rules.read, rules.write] = [prices.cache_read, prices.cache_write].map(|price| {
        let share = if prices.input > 0.0 { price / prices.input } else { 1.0 };
        // Clamped first: the maximum quotient of two prices exceeds the range of the integer.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the integer's range")]
        let milli = (share * 1_000.0).round().clamp(0.0, 1_000_000.0) as u32;
        milli
    });
    rules
}

fn read_prices(text: &str, file: &str) -> Loaded<PriceTable> {
    let mut diagnostics = Vec::new();
    let parsed = match toml::from_str::<File>(text) {
        Ok(parsed) => parsed,
        Err(why) => {
            let place = Place::file(file).at(text, why.span().map_or(0, |span| span.start));
            diagnostics.push(Diagnostic::error("bad-prices", place, why.message().replace('\n', " ")).help(HELP));
            return Loaded { value: PriceTable::default(), diagnostics };
        }
    };
    let mut rows = Vec::new();
    for row in parsed.price {
        let place = Place::file(file).at(text, row.span().start);
        match row.into_inner().checked() {
            Ok(row) => rows.push(row),
            Err(why) => diagnostics.push(Diagnostic::error("bad-price", place, why).help(HELP)),
        }
    }
    Loaded { value: PriceTable { rows }, diagnostics }
}

#[cfg(test)]
mod tests;
