//! Decoding of Punycode: from the ASCII label of a host name to the Unicode label that a rule may
//! contain.
//!
//! RFC 3492, section 6.2, with the parameters of section 5.

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_N: u32 = 128;
/// The longest label of a host, in octets (RFC 1035, 2.3.4).
const MAX_LABEL: usize = 63;

/// Decodes a label without its `xn--` prefix. `None` if it is not Punycode.
pub(super) fn decode(label: &str) -> Option<String> {
    if !label.is_ascii() || label.len() > MAX_LABEL {
        return None;
    }
    let (basic, extended) = label.rsplit_once('-').unwrap_or(("", label));
    let mut letters: Vec<char> = basic.chars().collect();
    let (mut n, mut i, mut bias) = (INITIAL_N, 0_u32, INITIAL_BIAS);
    let mut digits = extended.chars();
    while !digits.as_str().is_empty() {
        let (start, mut weight, mut k) = (i, 1_u32, BASE);
        loop {
            let digit = digit(digits.next()?)?;
            i = i.checked_add(digit.checked_mul(weight)?)?;
            let threshold = k.saturating_sub(bias).clamp(T_MIN, T_MAX);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(BASE - threshold)?;
            k += BASE;
        }
        let count = u32::try_from(letters.len() + 1).ok()?;
        bias = adapt(i - start, count, start == 0);
        n = n.checked_add(i / count)?;
        i %= count;
        letters.insert(usize::try_from(i).ok()?, char::from_u32(n)?);
        i += 1;
    }
    Some(letters.into_iter().collect())
}

fn digit(c: char) -> Option<u32> {
    match c {
        'a'..='z' => Some(u32::from(c) - u32::from('a')),
        'A'..='Z' => Some(u32::from(c) - u32::from('A')),
        '0'..='9' => Some(u32::from(c) - u32::from('0') + 26),
        _ => None,
    }
}

fn adapt(delta: u32, count: u32, first: bool) -> u32 {
    let mut delta = if first { delta / DAMP } else { delta / 2 };
    delta += delta / count;
    let mut k = 0;
    while delta > ((BASE - T_MIN) * T_MAX) / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        for (label, letters) in [
            ("bcher-kva", Some("b\u{fc}cher")),
            ("mnchen-3ya", Some("m\u{fc}nchen")),
            ("80ak6aa92e", Some("\u{430}\u{440}\u{440}\u{4cf}\u{435}")),
            ("ls8h", Some("\u{1f4a9}")),
            ("", Some("")),
            ("a!", None),
            ("99999999999", None),
        ] {
            assert_eq!(decode(label).as_deref(), letters, "{label}");
        }
    }
}
