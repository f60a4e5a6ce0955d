//! The system clock, and times as text.

use jiff::Timestamp;

/// The current time in milliseconds since 1970 UTC, from the system clock.
pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// A time as ISO 8601 in UTC, in whole seconds: `2026-11-21T23:59:59Z`. A time that no calendar
/// contains, such as the end of an approval for ten thousand years, is printed as its number.
pub(super) fn time(ms: i64) -> String {
    Timestamp::from_second(ms.div_euclid(1_000)).map_or_else(|_| format!("{ms} ms since 1970"), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::time;

    /// The expected texts are those of `date -u -d @SECONDS +%FT%TZ`.
    #[test]
    fn a_time_is_iso_8601_in_utc_whole_seconds() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (1_709_210_096_789, "2024-02-29T12:34:56Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (i64::MAX, "9223372036854775807 ms since 1970"),
        ] {
            assert_eq!(time(ms), text);
        }
    }
}
