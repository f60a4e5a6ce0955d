//! The totals of all requests, and how far they are from what was reported.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use toolfold::diagnostic::visible;
use toolfold::tokens::Band;

use super::line::{Line, band};
use crate::output::{BOLD, grouped};

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Totals {
    counted: usize,
    /// Requests that could not be counted. The sums exclude them.
    pub(super) uncounted: usize,
    /// Requests whose figure is exactly what the provider bills.
    verified: usize,
    /// Their sum, or `null` if none was counted.
    tokens: Option<usize>,
    /// The sum of all bands, with exact figures added to both ends; `null` without an estimate.
    band: Option<Band>,
    /// The same totals by meter, in order of first use.
    meters: IndexMap<String, OfMeter>,
    /// Comparison with what was reported; `null` if nothing was.
    reported: Option<Reported>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct OfMeter {
    requests: usize,
    tokens: usize,
}

/// Counts compared with what the provider reported.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Reported {
    requests: usize,
    exact: usize,
    within_one: usize,
    /// Requests marked verified whose count was not exact.
    verified_but_wrong: usize,
    /// Mean error of the estimates, in per cent of what was reported.
    estimates_off_percent: Option<f64>,
    #[serde(skip)]
    estimates: usize,
    #[serde(skip)]
    off: f64,
}

impl Totals {
    pub(super) fn add(&mut self, line: &Line<'_>) {
        let (Some(tokens), Some(meter)) = (line.tokens, &line.meter) else {
            self.uncounted += 1;
            return;
        };
        self.counted += 1;
        self.verified += usize::from(line.verified == Some(true));
        let before = self.tokens.unwrap_or_default();
        self.tokens = Some(before.saturating_add(tokens));
        self.band = match (self.band, line.band) {
            (None, None) => None,
            (sum, own) => Some(sum.unwrap_or(Band::exact(before)).plus(own.unwrap_or(Band::exact(tokens)))),
        };
        let of_meter = self.meters.entry(meter.clone()).or_default();
        of_meter.requests += 1;
        of_meter.tokens = of_meter.tokens.saturating_add(tokens);
        if let (Some(expected), Some(error)) = (line.expected, line.error) {
            let reported = self.reported.get_or_insert_default();
            reported.requests += 1;
            reported.exact += usize::from(error == 0);
            reported.within_one += usize::from(error.abs() <= 1);
            reported.verified_but_wrong += usize::from(error != 0 && line.verified == Some(true));
            if line.band.is_some() && expected > 0 {
                reported.estimates += 1;
                reported.off += error.unsigned_abs() as f64 / expected as f64 * 100.0;
                reported.estimates_off_percent = Some(reported.off / reported.estimates as f64);
            }
        }
    }

    pub(super) fn summary(&self) -> String {
        let mut parts = vec![format!("{} requests counted", self.counted)];
        let unverified = self.counted - self.verified;
        if unverified > 0 {
            parts.push(format!("{unverified} of them unverified"));
        }
        if let Some(reported) = &self.reported {
            parts.push(format!("{}/{} exact", reported.exact, reported.requests));
            parts.push(format!("{} within 1", reported.within_one));
            if let Some(off) = reported.estimates_off_percent {
                parts.push(format!("estimates off by {off:.1} % on average"));
            }
        }
        if self.uncounted > 0 {
            parts.push(format!("{} could not be counted", self.uncounted));
        }
        parts.join(", ")
    }

    /// As text; empty for a single request without further results.
    pub(super) fn text(&self) -> String {
        if self.counted + self.uncounted < 2 {
            return String::new();
        }
        let mut text = String::from("\n");
        if let Some(tokens) = self.tokens {
            let about = if self.band.is_some() { "about " } else { "" };
            let range = self.band.map(|own| format!(" ({})", band(own))).unwrap_or_default();
            text.push_str(&format!("{BOLD}Total{BOLD:#} {about}{} tokens{range}\n", grouped(tokens)));
            if self.meters.len() > 1 {
                for (meter, of) in &self.meters {
                    let (tokens, requests) = (grouped(of.tokens), of.requests);
                    text.push_str(&format!("  {tokens} in {requests} requests, {}\n", visible(meter)));
                }
            }
        }
        text + &self.summary() + "\n"
    }
}
