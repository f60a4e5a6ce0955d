//! Hosts and patterns over them.
//!
//! An allow fits only a host in its plain form, in a URL that every parser reads in the same way. A
//! deny compares every host that some parser may read: after user names, backslashes and escapes,
//! in other Unicode forms and Punycode, and an address in all its notations.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;

use super::decision::Fit;
use super::glob::{glob, glob_fold, is_glob};
use super::pattern_error::{InvalidValue, invalid};
use super::unicode::{fold, has_unseen, is_digits, nfc, strip};

mod address;
mod punycode;

/// A pattern over hosts: `x` covers the host and its subdomains, `*.x` only its subdomains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostPattern {
    plain: String,
    /// The host in every notation, for ask and deny.
    wide: Vec<String>,
}

impl HostPattern {
    /// Reads a host pattern.
    ///
    /// # Errors
    /// [`InvalidValue`] if the text is not a host.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        let text = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        let plain = nfc(text).to_lowercase();
        let plain = plain.trim_end_matches('.');
        if plain.is_empty() || plain.contains(|c: char| !c.is_alphanumeric() && !"-.*:_".contains(c)) {
            return invalid(format!("`{text}` is not a host: write `example.com` or `*.example.com`"));
        }
        let plain = address::plain(plain).unwrap_or_else(|| plain.to_owned());
        let bare = match plain.split_once(':') {
            Some((host, port)) if is_digits(port) => host,
            _ => plain.as_str(),
        };
        let wide = notations(bare);
        Ok(Self { plain, wide })
    }

    /// The pattern as hosts in their plain form are compared with it.
    pub(crate) fn text(&self) -> &str {
        &self.plain
    }

    /// Whether it covers every host.
    pub(crate) fn is_any(&self) -> bool {
        self.plain == "*"
    }

    /// Whether a host in its plain form fits, as an allow compares it.
    pub(crate) fn fits(&self, host: &str) -> bool {
        let pattern = self.plain.as_str();
        // An address has no subdomains.
        let numbers = pattern.chars().all(|c| c.is_ascii_digit() || ".*?:".contains(c));
        if address::plain(host).is_some() || (is_glob(pattern) && pattern != "*" && numbers) {
            return address::plain(host).is_some() && glob(pattern, host);
        }
        fits(pattern, host)
    }

    /// Whether a host fits: by its plain form for an allow, else by every form.
    pub(crate) fn fit(&self, host: &Host, narrow: bool) -> Fit {
        if narrow {
            return Fit::of(host.web && matches!(&host.plain, Some(plain) if self.fits(plain)));
        }
        if host.readings.iter().any(|have| self.wide.iter().any(|want| fits(want, have))) {
            Fit::Yes
        } else if host.plain.is_none() && !host.guess {
            Fit::Maybe
        } else {
            Fit::No
        }
    }
}

fn fits(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(rest) if !is_glob(rest) => matches!(host.strip_suffix(rest), Some(h) if h.len() > 1 && h.ends_with('.')),
        _ if is_glob(pattern) => glob_fold(pattern, host),
        _ => host == pattern || matches!(host.strip_suffix(pattern), Some(front) if front.ends_with('.')),
    }
}

/// The schemes that an allow over hosts covers.
const WEB: [&str; 4] = ["http", "https", "ws", "wss"];

/// A host that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// The host in lower case, where every parser reads the same one.
    pub(crate) plain: Option<String>,
    /// Every host that some parser may read, case-folded.
    readings: BTreeSet<String>,
    /// Whether its URL is one of the web, or it is a host alone: an allow covers no other.
    web: bool,
    /// Whether it is only a word that could be a host.
    pub(crate) guess: bool,
}

impl Host {
    /// Reads the host of a URL, or a bare host with or without a port.
    pub(crate) fn read(url: &str) -> Self {
        let plain = plain(url);
        let mut readings = BTreeSet::new();
        let hosts = if let Some(host) = &plain { BTreeSet::from([host.clone()]) } else { seen_by_some(url) };
        for form in hosts.iter().flat_map(|host| notations(host)) {
            if address::is_own(&form) {
                readings.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
            }
            readings.insert(form);
        }
        // A host without a scheme counts as a host of the web.
        let (scheme, _) = url.split_once("://").unwrap_or(("https", url));
        let web = WEB.iter().any(|own| scheme.eq_ignore_ascii_case(own));
        Self { plain, readings, web, guess: false }
    }

    /// A host that is known only when the call runs.
    pub(crate) fn unknown() -> Self {
        Self { plain: None, readings: BTreeSet::new(), web: false, guess: false }
    }

    /// A word of a command that may be a host without a scheme: compared by ask and deny, but never
    /// a reason for doubt.
    pub(crate) fn guess(word: &str) -> Self {
        Self { plain: None, guess: true, ..Self::read(word) }
    }
}

/// The host of a URL or a bare host, in lower case. `None` where the text is no host in its plain
/// form: it is malformed, or two parsers might read different hosts. A URL that names no host is
/// such a text, too.
fn plain(url: &str) -> Option<String> {
    let rest = match url.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        Some(_) => return None,
        None => url,
    };
    if rest.contains('\\') || has_unseen(rest) {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // What follows the host is nothing or a port, and anything else may be a part of another host.
    let (host, behind) = match authority.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if !behind.is_empty() && !matches!(behind.strip_prefix(':'), Some(port) if is_port(port)) {
        return None;
    }
    if authority.starts_with('[') {
        return address::plain(host).filter(|host| host.contains(':'));
    }
    let host = host.strip_suffix('.').unwrap_or(host).to_lowercase();
    let labels = host.split('.').all(is_label);
    let one_form = host.is_ascii() || fold(&host) == host;
    let number = address::ends_in_number(&host) && address::plain(&host).as_ref() != Some(&host);
    if labels && one_form && !number { Some(host) } else { None }
}

/// Whether a text may be one of the names between the dots of a host.
fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// Whether a text may be the number of a port.
fn is_port(text: &str) -> bool {
    (1..=5).contains(&text.len()) && is_digits(text)
}

/// Whether a text may be the scheme of a URL (RFC 3986, 3.1).
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Every host that some parser may read in this text.
fn seen_by_some(url: &str) -> BTreeSet<String> {
    let mut texts = vec![url.trim().to_owned()];
    for change in [|t: &str| strip(t).into_owned(), percent_decoded, percent_decoded, |t: &str| fold(t).into_owned()] {
        for text in texts.clone() {
            let changed = change(&text);
            if !texts.contains(&changed) {
                texts.push(changed);
            }
        }
    }
    let mut hosts = BTreeSet::new();
    let pieces = texts.iter().flat_map(|text| std::iter::once(text.as_str()).chain(text.split(['@', '\\'])));
    for piece in pieces {
        // `https:/x`, `https:x` and `https:\\x` are the same to a browser; `blob:https://x`
        // contains another URL.
        let mut rests = vec![piece];
        let mut rest = piece;
        while let Some((_, behind)) = rest.split_once(':').filter(|(scheme, _)| is_scheme(scheme) && rests.len() < 5) {
            rests.push(behind);
            rest = behind;
        }
        for rest in rests {
            let rest = rest.trim_start_matches(|c: char| matches!(c, '/' | '\\') || c.is_whitespace());
            let mut parts = rest.split(|c: char| "/?#\\,;!".contains(c) || c.is_control());
            let authority = parts.next().unwrap_or_default().trim();
            let found = match authority.strip_prefix('[') {
                Some(inner) => {
                    let (address, behind) = inner.split_once(']').unwrap_or((inner, ""));
                    // Some skip the brackets.
                    let behind = behind.trim_start_matches(|c: char| !c.is_alphanumeric());
                    vec![address, before_port(behind)]
                }
                None if authority.matches(':').count() > 1 => vec![authority],
                None => vec![before_port(authority)],
            };
            hosts.extend(found.into_iter().filter(|host| !host.is_empty()).map(str::to_owned));
        }
    }
    hosts
}

/// What is before the port of a host.
fn before_port(text: &str) -> &str {
    text.split(':').next().unwrap_or_default()
}

/// The letters that a label of a host encodes, case-folded.
fn letters(label: &str) -> String {
    match label.strip_prefix("xn--").and_then(punycode::decode) {
        Some(letters) => fold(&letters).into_owned(),
        None => label.to_owned(),
    }
}

/// A host in the notations that a deny compares: case-folded, with Punycode decoded, and as every
/// address it may be.
fn notations(host: &str) -> Vec<String> {
    // The ideographic full stop separates labels too (RFC 3490, 3.1).
    let folded = fold(host).replace('\u{3002}', ".");
    let name = folded.trim_end_matches('.').split('.').map(letters).collect::<Vec<_>>().join(".");
    let mut all = address::readings(&name);
    all.insert(0, name);
    all
}

fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_hosts() {
        for (url, host) in [
            ("https://API.GitHub.com/x", Some("api.github.com")),
            ("github.com", Some("github.com")),
            ("localhost:3000/x", Some("localhost")),
            ("https://github.com.:443/", Some("github.com")),
            ("https://github.com@evil.com/", None),
            ("https://evil.com\\@github.com", None),
            ("http:/evil.com", None),
            ("javascript:alert(1)", None),
            ("http://[::1]:80/", Some("::1")),
            ("http://[0:0::1]/", Some("::1")),
            ("http://[::1]", Some("::1")),
            ("[::1]:443/x", Some("::1")),
            ("http://[::1]:/", None),
            ("http://[::1]80/", None),
            ("http://[::1].evil.com/", None),
            ("http://[::1]@evil.com/", None),
            ("http://[::1]:80@evil.com/", None),
            ("http://[::1]:80:90/", None),
            ("http://[::1]]/", None),
            ("http://[[::1]]/", None),
            ("http://[::1/", None),
            ("http://[]/", None),
            ("http://[10.0.0.1]/", None),
            ("http://[a.com]/", None),
            ("http://a.com:/", None),
            ("http://10.0.0.1/", Some("10.0.0.1")),
            ("http://10.1/", None),
            ("http://0x7f000001/", None),
            ("http://2130706433/", None),
            ("http://b\u{fc}cher.de/", Some("b\u{fc}cher.de")),
            ("http://\u{ff45}vil.com/", None),
            ("http://a..b/", None),
            ("http://a.com:x/", None),
            ("", None),
        ] {
            assert_eq!(plain(url).as_deref(), host, "{url}");
        }
    }
}
