//! The durations of calls, in buckets.

use std::time::Duration;

/// Upper bounds: the defaults of Prometheus' clients, and larger ones for slow tools.
pub(super) const BOUNDS_MS: [u64; 14] =
    [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000];

#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    /// The number of calls in each bucket, without those in lower ones.
    buckets: [u64; BOUNDS_MS.len()],
    pub(super) count: u64,
    pub(super) sum: Duration,
    max: Duration,
}

impl Histogram {
    pub(super) fn record_duration(&mut self, took: Duration) {
        let at = BOUNDS_MS.iter().position(|bound| took <= Duration::from_millis(*bound));
        if let Some(own) = at.and_then(|at| self.buckets.get_mut(at)) {
            *own += 1;
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(took);
        self.max = self.max.max(took);
    }

    /// Each bound with the number of calls up to it.
    pub(super) fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut sum = 0;
        BOUNDS_MS.iter().zip(&self.buckets).map(move |(bound, own)| {
            sum += own;
            (*bound, sum)
        })
    }

    /// The bound that `percent` % of the calls did not exceed; at most the longest duration.
    pub(super) fn within_ms(&self, percent: u64) -> u64 {
        let wanted = (self.count * percent).div_ceil(100).max(1);
        let max = u64::try_from(self.max.as_millis()).unwrap_or(u64::MAX);
        self.cumulative().find(|(_, sum)| *sum >= wanted).map_or(max, |(bound, _)| bound.min(max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_fall_into_buckets() {
        let mut own = Histogram::default();
        for ms in [0, 5, 6, 400, 600_000] {
            own.record_duration(Duration::from_millis(ms));
        }
        let all: Vec<(u64, u64)> = own.cumulative().collect();
        assert_eq!(all.first(), Some(&(5, 2)));
        assert_eq!(all.get(1), Some(&(10, 3)));
        assert_eq!(all.last(), Some(&(300_000, 4)), "the last is beyond all bounds");
        assert_eq!((own.count, own.within_ms(50), own.within_ms(80), own.within_ms(95)), (5, 10, 500, 600_000));
        let mut quick = Histogram::default();
        quick.record_duration(Duration::from_millis(2));
        assert_eq!(quick.within_ms(50), 2, "never more than was seen");
    }
}
