//! The capability table: known facts about each provider's models.
//!
//! The table is data, [`capabilities.toml`](https://toml.io), with the source and date of every
//! row: which deliveries work with a model, what its prompt cache costs ([`CacheRow`]) and what a
//! provider rejects ([`LimitRow`]). No other part of the crate contains facts about models.
//! [`Capabilities::over`] places a configuration's own rows before the built-in ones.
//! `docs/wires.md`, "Capability table", describes the rows.

mod file;

use std::sync::OnceLock;

use serde::Deserialize;

use super::{CacheRow, LimitRow, Wire};
use crate::diagnostic::Loaded;
use crate::model::{ModelId, ModelPattern};
use crate::profile::Delivery;

/// The built-in table.
const SHIPPED: &str = include_str!("capabilities.toml");

/// Whether a feature works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    /// It works.
    Yes,
    /// It does not work.
    No,
    /// No measurement is published.
    #[default]
    Unprobed,
}

/// A row of the table: which deliveries work with some models.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapabilityRow {
    /// The wire.
    pub wire: Wire,
    /// The models.
    pub models: ModelPattern,
    /// Whether the provider supports deferred tools. If absent, another row decides.
    pub native: Option<Support>,
    /// Whether a model uses a *declared* tool by the schema in a result. If absent, another row
    /// decides.
    pub in_result: Option<Support>,
    /// Whether a model calls tools through `call_tool`. If absent, another row decides.
    pub bridge: Option<Support>,
    /// Whether a message can define further tools. If absent, another row decides.
    pub append: Option<Support>,
    /// The source of the facts.
    pub source: String,
    /// The date of the facts, as a year and month or a day.
    pub date: String,
    /// Further remarks.
    pub note: Option<String>,
}

/// The facts about one wire and model, each with its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capability<'t> {
    native: Option<(Support, &'t CapabilityRow)>,
    in_result: Option<(Support, &'t CapabilityRow)>,
    bridge: Option<(Support, &'t CapabilityRow)>,
    append: Option<(Support, &'t CapabilityRow)>,
}

impl<'t> Capability<'t> {
    /// Whether a delivery works. No folding and in-place delivery need no support.
    #[must_use]
    pub fn of(&self, delivery: Delivery) -> Support {
        match delivery {
            Delivery::None | Delivery::InPlace => Support::Yes,
            other => self.cell(other).map_or(Support::Unprobed, |(known, _)| known),
        }
    }

    /// The row that decides, if one does.
    #[must_use]
    pub fn row(&self, delivery: Delivery) -> Option<&'t CapabilityRow> {
        self.cell(delivery).map(|(_, row)| row)
    }

    fn cell(&self, delivery: Delivery) -> Option<(Support, &'t CapabilityRow)> {
        match delivery {
            Delivery::Native => self.native,
            Delivery::InResult => self.in_result,
            Delivery::Bridge => self.bridge,
            Delivery::Append => self.append,
            Delivery::None | Delivery::InPlace => None,
        }
    }
}

/// The capability table: rows of each kind, in lookup order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Which deliveries work.
    pub rows: Vec<CapabilityRow>,
    /// What cached input costs.
    pub caches: Vec<CacheRow>,
    /// What a provider rejects.
    pub limits: Vec<LimitRow>,
}

impl Capabilities {
    /// The built-in table, which is parsed once.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static TABLE: OnceLock<Capabilities> = OnceLock::new();
        // A test ensures that the built-in file is valid; an error would leave rows out, and
        // missing facts count as unprobed.
        TABLE.get_or_init(|| Self::parse(SHIPPED, "capabilities.toml").value)
    }

    /// Reads a table (TOML with `[[capability]]`, `[[cache]]` and `[[limit]]` rows). `file` names
    /// it in diagnostics. Invalid rows are left out and reported: those without a source or date,
    /// and those whose models are missing or given twice.
    pub fn parse(text: &str, file: &str) -> Loaded<Self> {
        file::read_capabilities(text, file)
    }

    /// Places this table before another: its rows take precedence, the most specific first.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        Self {
            rows: before(&self.rows, &other.rows, |row| &row.models),
            caches: before(&self.caches, &other.caches, |row| &row.models),
            limits: before(&self.limits, &other.limits, |row| &row.models),
        }
    }

    /// The facts about a model on a wire. Each question is answered by the first row that answers
    /// it: overrides before the table, and within each the most specific row first (the most
    /// literal letters, then the latest `since`). Without a model only rows for every model match.
    #[must_use]
    pub fn of(&self, wire: Wire, model: Option<&str>) -> Capability<'_> {
        let id = model.map(ModelId::parse);
        let covers = |row: &&CapabilityRow| row.wire == wire && row.models.matches_model(id.as_ref());
        let mut found = Capability::default();
        for row in self.rows.iter().filter(covers) {
            found.native = found.native.or(row.native.map(|known| (known, row)));
            found.in_result = found.in_result.or(row.in_result.map(|known| (known, row)));
            found.bridge = found.bridge.or(row.bridge.map(|known| (known, row)));
            found.append = found.append.or(row.append.map(|known| (known, row)));
        }
        found
    }
}

/// Places rows before those they override, most specific first; ties keep their order.
fn before<Row: Clone>(overrides: &[Row], rows: &[Row], models: impl Fn(&Row) -> &ModelPattern) -> Vec<Row> {
    let mut all = overrides.to_vec();
    all.sort_by_cached_key(|row| models(row).specificity());
    all.extend_from_slice(rows);
    all
}
