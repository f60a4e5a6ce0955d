//! What is known of each provider's models: the capability table.
//!
//! The table is data, [`capabilities.toml`](https://toml.io), with the source and date of every row: which deliveries work
//! with a model, what its prompt cache costs ([`CacheRow`]) and what a provider refuses ([`LimitRow`]). Nothing else in the
//! crate knows a fact about a model. [`Capabilities::over`] puts a configuration's own rows before the shipped ones. How rows
//! are written is in `docs/wires.md`, "Capability table".

mod file;

use std::sync::OnceLock;

use serde::Deserialize;

use super::{CacheRow, LimitRow, Wire};
use crate::diagnostic::Loaded;
use crate::model::{ModelId, ModelPattern};
use crate::profile::Delivery;

/// The shipped table.
const SHIPPED: &str = include_str!("capabilities.toml");

/// Whether something works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// Nobody has published a measurement.
    #[default]
    Unprobed,
}

/// One row of the table: which deliveries work with some models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityRow {
    /// The wire.
    pub wire: Wire,
    /// The models.
    pub models: ModelPattern,
    /// Whether the provider defers tools itself. Absent: another row says.
    pub native: Option<Support>,
    /// Whether a model uses a *declared* tool by the schema that came in a result. Absent: another row says.
    pub in_result: Option<Support>,
    /// Whether a model calls tools through `call_tool`. Absent: another row says.
    pub bridge: Option<Support>,
    /// Whether a tool can be defined in a message behind the others. Absent: another row says.
    pub append: Option<Support>,
    /// Who says so.
    pub source: String,
    /// When it was so, as a year and month or a day.
    pub date: String,
    /// What else is known.
    pub note: Option<String>,
}

/// What the table says of one wire and model, each with the row that says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capability<'t> {
    native: Option<(Support, &'t CapabilityRow)>,
    in_result: Option<(Support, &'t CapabilityRow)>,
    bridge: Option<(Support, &'t CapabilityRow)>,
    append: Option<(Support, &'t CapabilityRow)>,
}

impl<'t> Capability<'t> {
    /// Whether a delivery works there. Without folding, and in place, nothing special is needed.
    #[must_use]
    pub fn of(&self, delivery: Delivery) -> Support {
        match delivery {
            Delivery::None | Delivery::InPlace => Support::Yes,
            other => self.cell(other).map_or(Support::Unprobed, |(known, _)| known),
        }
    }

    /// The row that says so, if one does.
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

/// The capability table: rows of each kind, in the order in which they are asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    pub(super) rows: Vec<CapabilityRow>,
    pub(super) caches: Vec<CacheRow>,
    pub(super) limits: Vec<LimitRow>,
}

impl Capabilities {
    /// The table that the crate ships. It is read once.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static TABLE: OnceLock<Capabilities> = OnceLock::new();
        // That the shipped file has no faults is tested; a fault would leave rows out, and what is left out is unprobed.
        TABLE.get_or_init(|| Self::parse(SHIPPED, "capabilities.toml").value)
    }

    /// Reads a table (TOML, `[[capability]]`, `[[cache]]` and `[[limit]]` rows). `file` names it in diagnostics. Faulty rows
    /// are left out and diagnosed: those without a source or date, or whose models are not said or said twice.
    pub fn parse(text: &str, file: &str) -> Loaded<Self> {
        file::read(text, file)
    }

    /// This table before another: what its rows say of a wire and model goes before anything the other says.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        let Self { rows, caches, limits } = self.clone();
        other.with(rows).with_caches(caches).with_limits(limits)
    }

    /// The same table behind these capability rows: what they say of a wire and model goes before anything it says.
    #[must_use]
    pub fn with(&self, overrides: impl IntoIterator<Item = CapabilityRow>) -> Self {
        let rows = before(overrides, &self.rows, |row| &row.models);
        Self { rows, ..self.clone() }
    }

    /// The capability rows, in the order in which they are asked.
    pub fn rows(&self) -> impl Iterator<Item = &CapabilityRow> {
        self.rows.iter()
    }

    /// What is known of a model on a wire. For each question the first row that answers it counts: overrides before the
    /// table they were given to, and in each the most specific row before others (the most letters spelt out, then the
    /// latest `since`). Without a model only rows for every model count.
    #[must_use]
    pub fn of(&self, wire: Wire, model: Option<&str>) -> Capability<'_> {
        let id = model.map(ModelId::parse);
        let covers = |row: &&CapabilityRow| row.wire == wire && row.models.covers(id.as_ref());
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

/// Rows before those they override, the most specific of them first; equals stay in their order.
pub(super) fn before<Row: Clone>(
    overrides: impl IntoIterator<Item = Row>,
    rows: &[Row],
    models: impl Fn(&Row) -> &ModelPattern,
) -> Vec<Row> {
    let mut all: Vec<Row> = overrides.into_iter().collect();
    all.sort_by_key(|row| models(row).specificity());
    all.extend_from_slice(rows);
    all
}
