//! Means, ratios and differences over tasks or conversations, with standard errors.

use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::number;

/// A figure with its error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its standard error; `None` with fewer than two units.
    pub error: Option<f64>,
    /// Half of the 95 % interval: the standard error times Student's quantile. If all units are
    /// equal, the rule of three instead: 3 in n could still differ. `None` with fewer than two
    /// units.
    pub bar: Option<f64>,
    /// The number of units: tasks, or conversations.
    pub units: usize,
}

/// The 97.5 % quantile of Student's distribution, by the Cornish-Fisher expansion (Abramowitz and
/// Stegun 26.7.5); exact where that is poor.
#[must_use]
pub fn t95(degrees: usize) -> f64 {
    const Z: f64 = 1.959_964;
    match degrees {
        0 => f64::INFINITY,
        1 => 12.706,
        2 => 4.303,
        3 => 3.182,
        4 => 2.776,
        more => {
            #[allow(clippy::cast_precision_loss, reason = "a number of units")]
            let n = more as f64;
            let (z3, z5, z7) = (Z.powi(3), Z.powi(5), Z.powi(7));
            let second = (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * n * n);
            let third = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * n.powi(3));
            Z + (z3 + Z) / (4.0 * n) + second + third
        }
    }
}

/// An estimate of a figure `value` whose error is the sum of squared residuals, scaled by `scale`:
/// one residual per unit, with a mean of zero.
fn of_residuals(value: f64, residuals: &[f64], scale: f64) -> Estimate {
    let units = residuals.len();
    if units < 2 || scale == 0.0 {
        return Estimate { value, error: None, bar: None, units };
    }
    let n = number(units);
    let squares: f64 = residuals.iter().map(|own| own * own).sum();
    let error = (squares * n / (n - 1.0)).sqrt() / scale;
    let bar = if error <= f64::EPSILON { (3.0 / n).min(1.0) } else { error * t95(units - 1) };
    Estimate { value, error: Some(error), bar: Some(bar), units }
}

/// The mean of one value per unit.
#[must_use]
pub fn mean(values: &[f64]) -> Estimate {
    let n = number(values.len().max(1));
    let value = values.iter().sum::<f64>() / n;
    let residuals: Vec<f64> = values.iter().map(|own| own - value).collect();
    certain_if_constant(of_residuals(value, &residuals, n))
}

/// The ratio of two sums, such as right calls to true calls. Units are clusters of calls, so the
/// error is that of a (linearized) ratio, not of as many independent calls.
#[must_use]
pub fn ratio(pairs: &[(f64, f64)]) -> Estimate {
    let (mut above, mut below) = (0.0, 0.0);
    for (own, of) in pairs {
        above += own;
        below += of;
    }
    let value = if below == 0.0 { 0.0 } else { above / below };
    let residuals: Vec<f64> = pairs.iter().map(|(own, of)| own - value * of).collect();
    of_residuals(value, &residuals, below)
}

/// The difference of two ratios over the same units, such as right calls in two arms to the same
/// true calls. It is paired, so the difficulty of a task in both arms cancels out. Each item is
/// (here, there, of).
#[must_use]
pub fn difference(triples: &[(f64, f64, f64)]) -> Estimate {
    ratio(&triples.iter().map(|(here, there, of)| (here - there, *of)).collect::<Vec<_>>())
}

/// The share by which the first sum is less than the second, paired by unit.
#[must_use]
pub fn saved(pairs: &[(f64, f64)]) -> Estimate {
    let kept = certain_if_constant(ratio(pairs));
    Estimate { value: 1.0 - kept.value, ..kept }
}

/// Equal numbers of tokens have no variation, unlike unobserved rare events.
fn certain_if_constant(own: Estimate) -> Estimate {
    let constant = own.error.is_some_and(|error| error <= f64::EPSILON);
    Estimate { bar: if constant { Some(0.0) } else { own.bar }, ..own }
}

/// The difference of two estimates from different units: errors add as squares.
#[must_use]
pub(super) fn unpaired(one: Estimate, other: Estimate) -> Estimate {
    let units = one.units + other.units;
    let error = both(one.error, other.error);
    let freedom = one.units.min(other.units).saturating_sub(1);
    let bar = match error {
        // Neither varies.
        Some(error) if error <= f64::EPSILON => both(one.bar, other.bar),
        Some(error) => Some(error * t95(freedom)),
        None => None,
    };
    Estimate { value: one.value - other.value, error, bar, units }
}

fn both(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(one?.hypot(other?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.005 * expected.abs().max(0.01), "{found}, expected {expected}");
    }

    /// Quantiles from published tables.
    #[test]
    fn the_quantile_matches_published_tables() {
        for (degrees, expected) in [(1, 12.706), (4, 2.776), (5, 2.571), (9, 2.262), (29, 2.045), (120, 1.980)] {
            close(t95(degrees), expected);
        }
    }

    #[test]
    fn a_mean_has_the_textbook_error() {
        let found = mean(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        close(found.value, 5.0);
        // Sample deviation 2.138, over the root of 8.
        close(found.error.unwrap(), 0.756);
        close(found.bar.unwrap(), 0.756 * 2.365);
        assert_eq!(mean(&[1.0]).bar, None);
    }

    #[test]
    fn a_cluster_of_calls_counts_as_one_unit() {
        // Two conversations all right, two all wrong, ten calls each: 40 independent calls would
        // give ± 8 %, 4 conversations give ± 29 %.
        let found = ratio(&[(10.0, 10.0), (10.0, 10.0), (0.0, 10.0), (0.0, 10.0)]);
        close(found.value, 0.5);
        close(found.error.unwrap(), 0.2887);
    }

    #[test]
    fn pairs_cancel_the_difficulty_of_a_task() {
        let hard_and_easy = [(1.0, 1.0, 5.0), (5.0, 5.0, 5.0), (3.0, 3.0, 5.0), (0.0, 0.0, 5.0)];
        let found = difference(&hard_and_easy);
        assert_eq!((found.value, found.error), (0.0, Some(0.0)));
        // No difference in 4 tasks does not exclude one: the bar is 3 in 4.
        assert_eq!(found.bar, Some(0.75));
    }

    #[test]
    fn savings_are_shares_of_the_other_sum() {
        let found = saved(&[(50.0, 100.0), (150.0, 300.0)]);
        assert_eq!((found.value, found.bar), (0.5, Some(0.0)));
        close(saved(&[(40.0, 100.0), (180.0, 300.0)]).value, 0.45);
    }
}
