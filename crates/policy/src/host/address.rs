//! IP addresses in every notation that some parser accepts.
//!
//! `inet_aton` and the URL standard read `127.1`, `0x7f.1`, `017700000001` and `2130706433` as
//! 127.0.0.1; an IPv6 address may contain an IPv4 address.

// Only value types: `core` opens no connection.
use crate::unicode::is_digits;
use core::net::{Ipv4Addr, Ipv6Addr};

/// An address in its canonical form, if the text is in that form, or an IPv6 address in any form.
pub(super) fn plain(host: &str) -> Option<String> {
    match host.parse::<Ipv6Addr>() {
        Ok(address) => Some(address.to_string()),
        Err(_) => host.parse::<Ipv4Addr>().ok().map(|address| address.to_string()),
    }
}

/// Whether some parser takes a host for an IPv4 address: its last label is a number (URL Standard,
/// "ends in a number").
pub(super) fn ends_in_number(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    !last.is_empty() && (is_digits(last) || number(last, true).is_some())
}

/// Every address that some parser takes the text for, each in its canonical form.
pub(super) fn readings(host: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |address: String| {
        if !all.contains(&address) {
            all.push(address);
        }
    };
    // A zone (`fe80::1%eth0`) is not part of the address.
    let v6 = host.split('%').next().unwrap_or(host).parse::<Ipv6Addr>();
    if let Ok(address) = v6 {
        add(address.to_string());
        if let Some(inner) = inner(&address) {
            add(inner.to_string());
        }
    }
    if let Some(address) = in_name(host) {
        add(address.to_string());
    }
    for octal in [true, false] {
        if let Some(bits) = aton(host, octal) {
            add(Ipv4Addr::from(bits).to_string());
        }
    }
    all
}

/// Whether a host is this machine under any name: `localhost` and its subdomains (RFC 6761),
/// 127.0.0.0/8, `::1`, and the unspecified address, which connects here.
pub(super) fn is_own(host: &str) -> bool {
    let v4 = host.parse::<Ipv4Addr>().is_ok_and(|a| a.is_loopback() || a.is_unspecified());
    let v6 = host.parse::<Ipv6Addr>().is_ok_and(|a| a.is_loopback() || a.is_unspecified());
    v4 || v6 || host.ends_with(".localhost") || OWN_NAMES.contains(&host)
}

/// Names of this machine in the hosts files of common systems: Debian (`ip6-…`), Fedora
/// (`localhost.localdomain`, `localhost4`, `localhost6`).
const OWN_NAMES: [&str; 8] = [
    "localhost",
    "localhost.localdomain",
    "localhost4",
    "localhost4.localdomain4",
    "localhost6",
    "localhost6.localdomain6",
    "ip6-localhost",
    "ip6-loopback",
];

/// Domains whose servers answer every name with the address that is in it: `app.10.0.0.1.nip.io`,
/// `10-0-0-1.sslip.io`. Source: nip.io, sslip.io.
const NAMED_BY_ADDRESS: [&str; 3] = [".nip.io", ".sslip.io", ".xip.io"];

/// The address in a name of such a domain.
fn in_name(host: &str) -> Option<Ipv4Addr> {
    let name = NAMED_BY_ADDRESS.iter().find_map(|end| host.strip_suffix(end))?;
    let parts: Vec<&str> = name.split(['.', '-']).collect();
    parts.get(parts.len().checked_sub(4)?..)?.join(".").parse().ok()
}

/// The IPv4 address within an IPv6 one: mapped, compatible, NAT64 (RFC 6052), 6to4 (RFC 3056).
fn inner(address: &Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

/// `inet_aton`: one to four numbers, the last of which fills the remaining bytes.
fn aton(host: &str, octal: bool) -> Option<u32> {
    let parts: Vec<u64> =
        host.trim_end_matches('.').split('.').map(|part| number(part, octal)).collect::<Option<_>>()?;
    let (last, head) = parts.split_last()?;
    if head.len() > 3 || head.iter().any(|&part| part > 255) {
        return None;
    }
    let free = 8 * (4 - u32::try_from(head.len()).ok()?);
    if *last >= 1_u64 << free {
        return None;
    }
    let high = head.iter().fold(0_u64, |bits, part| (bits << 8) | part);
    u32::try_from((high << free) | last).ok()
}

/// A number in hexadecimal (`0x`), octal (a leading zero, where that counts) or decimal.
fn number(text: &str, octal: bool) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return if hex.is_empty() { Some(0) } else { u64::from_str_radix(hex, 16).ok() };
    }
    if text.is_empty() || !is_digits(text) {
        return None;
    }
    let radix = if octal && text.len() > 1 && text.starts_with('0') { 8 } else { 10 };
    u64::from_str_radix(text, radix).ok()
}
