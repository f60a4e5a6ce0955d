//! What tokens cost: dated price lists, read from TOML.
//!
//! Prices are data: the shipped table is `crates/measure/prices.toml`, every row with its source
//! and date, and a user's own rows go before it. A model is found however a host spells it
//! ([`ModelId`]): `claude-opus-4.5`, `us.anthropic.claude-opus-4-5-20251101-v1:0` and
//! `anthropic/claude-opus-4.5` are one model with one price. A model that no row names has no
//! price; it never gets that of a similar one.

use std::sync::OnceLock;

use serde::Deserialize;
use toml::Spanned;
use toolfold::diagnostic::{Diagnostic, Loaded, Place};
use toolfold::model::ModelId;
use toolfold::profile::{CacheRules, TokenPrices};

/// The shipped table.
const SHIPPED: &str = include_str!("../prices.toml");

/// A longer price file is not read, in bytes.
pub const MAX_PRICES_BYTES: usize = 1024 * 1024;

/// Words of a model's name that change nothing about its price: how it is asked for, not what it
/// is.
const FREE_VARIANTS: [&str; 3] = ["latest", "beta", "thinking"];

/// The price of a million tokens that no row may exceed, in US dollars: more is a slip of the
/// decimal point.
const MOST_USD: f64 = 100_000.0;

const HELP: &str = "a row is `[[price]]` with models (a list of ids), input, output, source and date, and perhaps \
                    cache_read, cache_write, minimum, step, lifetime, long = { cache_write, lifetime } and context; prices \
                    are US dollars for a million tokens";

/// What the tokens of some models cost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PriceRow {
    /// The models, as the row writes them.
    pub models: Vec<String>,
    /// In US dollars for a million tokens, for prefixes that are kept for the shortest time.
    pub prices: TokenPrices,
    /// How the provider caches, with the same prices in thousandths of the price of input.
    pub rules: CacheRules,
    /// What it costs to write a prefix that is kept longer (US dollars for a million tokens), and
    /// how long it is kept (seconds), where that can be had.
    pub long: Option<LongCache>,
    /// The context window in tokens.
    pub context: Option<usize>,
    /// Who says so.
    pub source: String,
    /// When it was so, as a year and month or a day.
    pub date: String,
}

/// A cache that is kept longer and costs more to write.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LongCache {
    /// US dollars for a million tokens.
    pub cache_write: f64,
    /// Seconds.
    pub lifetime: u64,
}

impl PriceRow {
    /// The same with prefixes that are kept longer; `None` where the row knows of none.
    #[must_use]
    pub fn with_long_cache(&self) -> Option<Self> {
        let long = self.long?;
        let prices = TokenPrices { cache_write: long.cache_write, ..self.prices };
        let rules = rules(&prices, CacheRules { lifetime: Some(long.lifetime), ..self.rules });
        Some(Self { prices, rules, ..self.clone() })
    }

    fn covers(&self, id: &ModelId, text: &str) -> bool {
        self.models.iter().any(|own| own.eq_ignore_ascii_case(text) || is_same(&ModelId::parse(own), id))
    }
}

/// Whether two ids are of one model. An id of nobody known is no other id's model.
fn is_same(one: &ModelId, other: &ModelId) -> bool {
    let variants = |id: &ModelId| {
        let mut own: Vec<String> =
            id.variants.iter().filter(|word| !FREE_VARIANTS.contains(&word.as_str())).cloned().collect();
        own.sort_unstable();
        own
    };
    one.vendor.is_some()
        && one.version.is_some()
        && (one.vendor, &one.family, one.version, &one.tier)
            == (other.vendor, &other.family, other.version, &other.tier)
        && variants(one) == variants(other)
}

/// A price list: rows in the order in which they are asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceTable {
    rows: Vec<PriceRow>,
}

impl PriceTable {
    /// The table that is shipped. It is read once.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static TABLE: OnceLock<PriceTable> = OnceLock::new();
        // That the shipped file has no faults is tested; a fault would leave rows out, and what is
        // left out has no price.
        TABLE.get_or_init(|| Self::parse(SHIPPED, "prices.toml").value)
    }

    /// Reads a table (TOML, `[[price]]` rows). `file` names it in diagnostics. Faulty rows are left
    /// out and diagnosed: those without source or date, and those whose prices are no prices.
    pub fn parse(text: &str, file: &str) -> Loaded<Self> {
        read(text, file)
    }

    /// This table before another: what its rows say of a model goes before what the other says.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        Self { rows: self.rows.iter().chain(&other.rows).cloned().collect() }
    }

    /// The rows, in the order in which they are asked.
    pub fn rows(&self) -> impl Iterator<Item = &PriceRow> {
        self.rows.iter()
    }

    /// The first row that names a model, in any spelling of it.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&PriceRow> {
        let id = ModelId::parse(model);
        self.rows.iter().find(|row| row.covers(&id, model.trim()))
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
        let cache_read = self.cache_read.unwrap_or(input);
        let cache_write = self.cache_write.unwrap_or(input);
        let long = self.long.map_or(input, |long| long.cache_write);
        let all = [
            ("input", input),
            ("output", output),
            ("cache_read", cache_read),
            ("cache_write", cache_write),
            ("long.cache_write", long),
        ];
        if let Some((key, price)) = all.into_iter().find(|(_, price)| !(0.0..=MOST_USD).contains(price)) {
            return Err(format!("{key} = {price} of `{named}` is no price for a million tokens"));
        }
        let prices = TokenPrices { input, cache_write, cache_read, output };
        let minimum = self.minimum.unwrap_or_default();
        let step = self.step.unwrap_or(1);
        let rules = rules(&prices, CacheRules { minimum, step, lifetime: self.lifetime, ..CacheRules::NONE });
        Ok(PriceRow { models, prices, rules, long: self.long, context: self.context, source, date })
    }
}

/// Rules with these prices in thousandths of the price of input; where input is free, so is the
/// rest.
fn rules(prices: &TokenPrices, rules: CacheRules) -> CacheRules {
    let milli = |price: f64| {
        let share = if prices.input > 0.0 { price / prices.input } else { 1.0 };
        // Clamped first: the greatest quotient of two prices is far above what the integer holds.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the integer's range")]
        let milli = (share * 1_000.0).round().clamp(0.0, 1_000_000.0) as u32;
        milli
    };
    CacheRules { read: milli(prices.cache_read), write: milli(prices.cache_write), ..rules }
}

fn read(text: &str, file: &str) -> Loaded<PriceTable> {
    let mut diagnostics = Vec::new();
    let place = |at: usize| Place::file(file).at(text, at);
    let parsed = match toml::from_str::<File>(text) {
        Ok(parsed) => parsed,
        Err(why) => {
            let place = place(why.span().map_or(0, |span| span.start));
            diagnostics.push(Diagnostic::error("bad-prices", place, why.message().replace('\n', " ")).help(HELP));
            return Loaded { value: PriceTable::default(), diagnostics };
        }
    };
    let mut rows = Vec::new();
    for row in parsed.price {
        let at = row.span().start;
        match row.into_inner().checked() {
            Ok(row) => rows.push(row),
            Err(why) => diagnostics.push(Diagnostic::error("bad-price", place(at), why).help(HELP)),
        }
    }
    Loaded { value: PriceTable { rows }, diagnostics }
}

#[cfg(test)]
mod tests;
