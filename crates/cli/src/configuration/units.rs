//! Sizes and periods, as settings and flags write them.

use jiff::{Span, SpanRelativeTo};

/// A size such as `64MiB`, `500kB` or `1GiB` in bytes; `0` is zero.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    bytes_of(text).ok_or_else(|| format!("`{text}` is not a size: write 64MiB, 500kB, 1GiB, or 0"))
}

fn bytes_of(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    let factor: u64 = match unit.trim() {
        "B" => 1,
        "" if digits == "0" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// A size as text, in the largest unit with at most three digits before the decimal point.
pub(crate) fn size_text(bytes: u64) -> String {
    let mut unit = (1_u64, "B");
    for larger in [(1_u64 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB")] {
        if bytes >= larger.0 {
            unit = larger;
        }
    }
    let (whole, tenths) = (bytes / unit.0, bytes % unit.0 * 10 / unit.0);
    if tenths == 0 || whole >= 100 { format!("{whole} {}", unit.1) } else { format!("{whole}.{tenths} {}", unit.1) }
}

/// A period such as `90s`, `15m`, `8h` or `7d` in milliseconds. Days have 24 hours; months have no
/// fixed length and are rejected.
pub(crate) fn period_ms(text: &str) -> Result<i64, String> {
    milliseconds_of(text).ok_or_else(|| "write 90s, 15m, 8h or 7d".to_owned())
}

fn milliseconds_of(text: &str) -> Option<i64> {
    let span: Span = text.parse().ok()?;
    let period = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    i64::try_from(period.as_millis()).ok().filter(|ms| *ms > 0)
}

#[cfg(test)]
mod tests {
    use super::{period_ms, size, size_text};

    #[test]
    fn a_size_has_a_unit() {
        for (text, bytes) in [
            ("64MiB", Some(64 << 20)),
            ("64 MiB", Some(64 << 20)),
            ("500kB", Some(500_000)),
            ("10B", Some(10)),
            ("0", Some(0)),
            ("64", None),
            ("MiB", None),
            ("-1MiB", None),
            ("1.5GiB", None),
            ("99999999999GiB", None),
            ("", None),
        ] {
            assert_eq!(size(text).ok(), bytes, "{text}");
        }
        for (bytes, text) in [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (64 << 20, "64 MiB")] {
            assert_eq!(size_text(bytes), text);
        }
    }

    #[test]
    fn a_period_has_a_fixed_length() {
        for (text, ms) in [
            ("90s", Some(90_000)),
            ("15m", Some(900_000)),
            ("8h", Some(28_800_000)),
            ("7d", Some(604_800_000)),
            ("1h30m", Some(5_400_000)),
            ("0s", None),
            ("-15m", None),
            ("15", None),
            ("15x", None),
            ("1mo", None),
            ("1y", None),
            ("", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(period_ms(text).ok(), ms, "{text}");
        }
    }
}
