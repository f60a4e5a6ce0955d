//! Estimates a suggestion on sessions that it was not made from.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Fitter, SuggestError};
use crate::usage::UsedSession;

/// The number of parts that sessions are split into.
const FOLDS: usize = 5;

/// The minimum number of sessions for a meaningful split.
pub(super) const MIN_SESSIONS: usize = 10;

/// The gain over the current profile on sessions that a suggestion was not made from: sessions are
/// split into five parts, and each part is priced under a suggestion made from the other four.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct HeldOut {
    /// The number of parts.
    pub folds: usize,
    /// The cost of a session under the current profile, in tokens at the price of input.
    pub today: f64,
    /// The same under the suggestion made from the other parts.
    pub suggested: f64,
    /// The same with everything full.
    pub full: f64,
    /// The same with nothing core.
    pub no_core: f64,
    /// The saving per session, in percent of the current cost.
    pub gain: f64,
    /// The standard error of the gain, in percentage points, due to the limited number of sessions.
    pub standard_error: f64,
}

impl HeldOut {
    /// Whether the gain is significant: over twice its standard error.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.gain.abs() > 2.0 * self.standard_error
    }
}

/// The estimate; `None` for too few sessions.
pub(super) fn held_out(fitter: &mut Fitter<'_>, sessions: &[&UsedSession]) -> Result<Option<HeldOut>, SuggestError> {
    let used = sessions.iter().filter(|session| !session.calls.is_empty()).count();
    if used < MIN_SESSIONS {
        return Ok(None);
    }
    let mut each: Vec<[f64; 4]> = Vec::with_capacity(sessions.len());
    for fold in 0..FOLDS {
        // Neighbors in a log are similar, so each part takes every fifth session.
        let mut rest = Vec::new();
        for (at, session) in sessions.iter().enumerate() {
            if at % FOLDS != fold {
                rest.push(*session);
            }
        }
        let fitted = fitter.fit(&rest)?;
        let no_core = fitter.no_core(&fitted)?;
        for session in sessions.iter().skip(fold).step_by(FOLDS) {
            let costs = fitter.compare(&fitted, &no_core, &[*session]);
            each.push([costs.today, costs.suggested, costs.full, costs.no_core].map(|own| own.mean()));
        }
    }
    let count = each.len() as f64;
    let [today, suggested, full, no_core] =
        [0, 1, 2, 3].map(|of| each.iter().filter_map(|own| own.get(of)).sum::<f64>() / count);
    let gain = today - suggested;
    let off = each.iter().map(|[today, suggested, ..]| (today - suggested - gain).powi(2)).sum::<f64>();
    let standard_error = (off / (count - 1.0) / count).sqrt();
    let [gain, standard_error] =
        [gain, standard_error].map(|tokens| if today > 0.0 { tokens * 100.0 / today } else { 0.0 });
    Ok(Some(HeldOut { folds: FOLDS, today, suggested, full, no_core, gain, standard_error }))
}
