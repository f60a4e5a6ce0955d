//! What `sim --json` prints.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use toolfold_measure::prices::PriceRow;
use toolfold_measure::sim::ArmCost;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "toolfold.sim/1")]
pub(in super::super) struct Report {
    pub(super) schema: &'static str,
    pub(super) verdict: String,
    /// The maximum number of look-ups with which the arm of the verdict costs no more than arm full
    /// without any; `None` if it is arm full, or for any number.
    pub(super) break_even: Option<usize>,
    pub(super) wire: &'static str,
    pub(super) model: Option<String>,
    /// `None` if a scenario contains the sizes.
    pub(super) meter: Option<String>,
    /// Requests of the session, without those that only expand tools.
    pub(super) requests: usize,
    pub(super) system_tokens: usize,
    pub(super) cache: Known,
    /// `None` if the price is unknown.
    pub(super) price: Option<PriceUsed>,
    pub(super) arms: Vec<ArmCost>,
    /// Unavailable arms, each with the reason.
    pub(super) unavailable: IndexMap<String, String>,
    pub(super) notes: Vec<String>,
}

/// Cache rules: prices in thousandths of the price of input, sizes in tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Known {
    pub(super) read: u32,
    pub(super) write: u32,
    pub(super) minimum: usize,
    pub(super) step: usize,
    pub(super) lifetime_seconds: Option<u64>,
}

/// A row of the price list: US dollars per million tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PriceUsed {
    pub(super) input: f64,
    pub(super) cache_write: f64,
    pub(super) cache_read: f64,
    pub(super) output: f64,
    pub(super) context: Option<usize>,
    pub(super) source: String,
    pub(super) date: String,
}

impl From<PriceRow> for PriceUsed {
    fn from(row: PriceRow) -> Self {
        let PriceRow { prices, context, source, date, .. } = row;
        Self {
            input: prices.input,
            cache_write: prices.cache_write,
            cache_read: prices.cache_read,
            output: prices.output,
            context,
            source,
            date,
        }
    }
}
