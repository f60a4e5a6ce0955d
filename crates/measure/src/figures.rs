//! Shares of counts, and numbers as text, as every command prints them.

/// A count as a number, exact below 2^53.
#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}

/// The share of a whole that a part takes; 0 if the whole is 0.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}

/// A share with four decimals.
pub(crate) fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

/// A share as a percentage without decimals: 0.5 is `50 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A number with thousands separators: 1234 is `1,234`.
#[must_use]
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
