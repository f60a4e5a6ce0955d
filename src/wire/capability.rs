//! What is known of each provider's models: the capability table.
//!
//! The table is data, [`capabilities.toml`](https://toml.io), with the source and date of every row; nothing else in the
//! crate names a model. [`Capabilities::with`] puts a configuration's own rows before it.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use super::{CacheRow, Wire};
use crate::diagnostic::{Diagnostic, Loaded, Place};
use crate::profile::Delivery;

/// The shipped table.
const SHIPPED: &str = include_str!("capabilities.toml");

/// Whether something works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// Nobody has published a measurement.
    #[default]
    Unprobed,
}

/// One row of the table: what is known of the models that a glob names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityRow {
    /// The wire.
    pub wire: Wire,
    /// A glob over model names, `*` any run and `?` one character. Letter case is ignored, `.` is the same as `-`, and so is
    /// a prefix up to the last `/`.
    pub model: String,
    /// Whether the provider defers tools itself. Absent: another row says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Known>,
    /// Whether a model uses a *declared* tool by the schema that came in a result. Absent: another row says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_result: Option<Known>,
    /// Whether a model calls tools through `call_tool`. Absent: another row says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge: Option<Known>,
    /// Who says so.
    pub source: String,
    /// When it was so, as a year and month or a day.
    pub date: String,
    /// What else is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What the table says of one wire and model, each with the row that says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capability<'t> {
    native: Option<(Known, &'t CapabilityRow)>,
    in_result: Option<(Known, &'t CapabilityRow)>,
    bridge: Option<(Known, &'t CapabilityRow)>,
}

impl<'t> Capability<'t> {
    /// Whether a delivery works there. Without folding, and in place, nothing special is needed.
    #[must_use]
    pub fn of(&self, delivery: Delivery) -> Known {
        match delivery {
            Delivery::None | Delivery::InPlace => Known::Yes,
            other => self.cell(other).map(|(known, _)| known).unwrap_or_default(),
        }
    }

    /// The row that says so, if one does.
    #[must_use]
    pub fn row(&self, delivery: Delivery) -> Option<&'t CapabilityRow> {
        self.cell(delivery).map(|(_, row)| row)
    }

    fn cell(&self, delivery: Delivery) -> Option<(Known, &'t CapabilityRow)> {
        match delivery {
            Delivery::Native => self.native,
            Delivery::InResult => self.in_result,
            Delivery::Bridge => self.bridge,
            Delivery::None | Delivery::InPlace => None,
        }
    }
}

/// The capability table, in the order in which rows are asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    rows: Vec<CapabilityRow>,
    pub(super) caches: Vec<CacheRow>,
}

/// A table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    capability: Vec<CapabilityRow>,
    #[serde(default)]
    cache: Vec<CacheRow>,
}

impl Capabilities {
    /// The table that the crate ships. It is read once.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static TABLE: OnceLock<Capabilities> = OnceLock::new();
        // That the shipped file has no faults is tested; a fault would leave rows out, and what is left out is unprobed.
        TABLE.get_or_init(|| Self::parse(SHIPPED, "capabilities.toml").value)
    }

    /// Reads a table (TOML, `[[capability]]` and `[[cache]]` rows). `file` names it in diagnostics. Rows without a source or date are
    /// left out and diagnosed.
    pub fn parse(text: &str, file: &str) -> Loaded<Self> {
        let read = match toml::from_str::<File>(text) {
            Ok(read) => read,
            Err(why) => {
                let offset = why.span().map_or(0, |span| span.start);
                let place = Place::file(file).at(text, offset);
                let message = why.message().replace('\n', " ");
                let help = "a capability has wire, model, native, in_result, bridge, source, date and note; \
                            a cache wire, model, read, write, minimum, source and date";
                let diagnostics = vec![Diagnostic::error("bad-capabilities", place, message).help(help)];
                return Loaded { value: Self::default(), diagnostics };
            }
        };
        let mut diagnostics = Vec::new();
        let mut sourced = |wire: Wire, model: &str, source: &str, date: &str| {
            let sound = !source.trim().is_empty() && !date.trim().is_empty();
            if !sound {
                let message = format!("the row of `{model}` on {wire} has no source or no date");
                let diagnostic = Diagnostic::error("unsourced-capability", Place::file(file), message);
                diagnostics.push(diagnostic.help("say who measured it and when; \"own measurement\" will do"));
            }
            sound
        };
        let File { mut capability, mut cache } = read;
        capability.retain(|row| sourced(row.wire, &row.model, &row.source, &row.date));
        cache.retain(|row| sourced(row.wire, &row.model, &row.source, &row.date));
        Loaded { value: Self::default().with(capability).with_caches(cache), diagnostics }
    }

    /// The same table behind these capability rows: what they say of a wire and model goes before anything it says.
    #[must_use]
    pub fn with(&self, overrides: impl IntoIterator<Item = CapabilityRow>) -> Self {
        let mut rows: Vec<CapabilityRow> = overrides.into_iter().collect();
        // The most letters spelt out is the most specific; equals stay in their order.
        rows.sort_by_key(|row| std::cmp::Reverse(specific(&row.model)));
        rows.extend(self.rows.iter().cloned());
        Self { rows, caches: self.caches.clone() }
    }

    /// The rows, in the order in which they are asked.
    pub fn rows(&self) -> impl Iterator<Item = &CapabilityRow> {
        self.rows.iter()
    }

    /// What is known of a model on a wire. For each question the first row that answers it counts: overrides before the
    /// table they were given to, and in each the most specific glob (the one with most letters spelt out) before others.
    /// Without a model only rows for every model count.
    #[must_use]
    pub fn of(&self, wire: Wire, model: Option<&str>) -> Capability<'_> {
        let fits = |row: &&CapabilityRow| row.wire == wire && names_model(&row.model, model);
        let mut found = Capability::default();
        for row in self.rows.iter().filter(fits) {
            found.native = found.native.or(row.native.map(|known| (known, row)));
            found.in_result = found.in_result.or(row.in_result.map(|known| (known, row)));
            found.bridge = found.bridge.or(row.bridge.map(|known| (known, row)));
        }
        found
    }
}

/// How many letters of a glob are spelt out.
pub(super) fn specific(glob: &str) -> usize {
    glob.chars().filter(|c| !matches!(c, '*' | '?')).count()
}

/// Whether a glob names a model. Without a model only those for every model do.
pub(super) fn names_model(glob: &str, model: Option<&str>) -> bool {
    let every = glob.chars().all(|c| c == '*');
    every || model.is_some_and(|name| WildMatch::new(&folded(glob)).matches(&folded(name)))
}

/// A model's name as it is compared: providers and gateways write `anthropic/claude-opus-4.5` and `claude-opus-4-5`.
fn folded(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.to_ascii_lowercase().replace('.', "-")
}
