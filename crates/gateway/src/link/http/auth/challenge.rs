//! What a server says when it refuses a request: `WWW-Authenticate` (RFC 9110, section 11.6.1; RFC 6750, section 3; RFC 9728,
//! section 5.1).

use std::collections::BTreeSet;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use serde::{Deserialize, Serialize};

/// The most scopes that are taken from one text, and the longest one: more is nothing that a person could consent to.
const MAX_SCOPES: usize = 128;
const MAX_SCOPE: usize = 256;

/// Scopes, each once, in an order that does not change.
pub(super) type Scopes = BTreeSet<String>;

/// A refusal for which a token is the remedy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Challenge {
    /// Where the metadata of the resource is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resource_metadata: Option<String>,
    /// The scopes that the request needs.
    #[serde(default, skip_serializing_if = "Scopes::is_empty")]
    pub(super) scopes: Scopes,
    /// Whether the token was good, and its scopes too few (`insufficient_scope`).
    #[serde(default)]
    pub(super) is_step_up: bool,
}

impl Challenge {
    /// The challenge of an answer: 401, or 403 where the scopes are too few. `None` for any other.
    pub(crate) fn from_response(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        let said = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let params: Vec<(String, String)> = said.flat_map(bearer).collect();
        let value = |name: &str| params.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        let is_step_up = value("error").as_deref() == Some("insufficient_scope");
        if status != StatusCode::UNAUTHORIZED && !(status == StatusCode::FORBIDDEN && is_step_up) {
            return None;
        }
        Some(Self {
            resource_metadata: value("resource_metadata"),
            scopes: scopes(&value("scope").unwrap_or_default()),
            is_step_up: is_step_up && status == StatusCode::FORBIDDEN,
        })
    }
}

/// The scopes of a text: what RFC 6749 (section 3.3) allows in one, and a bounded number.
pub(super) fn scopes(text: &str) -> Scopes {
    text.split(' ').filter(|own| is_scope(own)).take(MAX_SCOPES).map(str::to_owned).collect()
}

/// Whether a text is one scope.
pub(super) fn is_scope(text: &str) -> bool {
    let is_char = |byte: u8| byte == 0x21 || (0x23..=0x5b).contains(&byte) || (0x5d..=0x7e).contains(&byte);
    !text.is_empty() && text.len() <= MAX_SCOPE && text.bytes().all(is_char)
}

/// Scopes as a request has them.
pub(super) fn joined(scopes: &Scopes) -> String {
    scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The parameters of the scheme `Bearer` in a header, which may list several schemes. Names are in small letters.
fn bearer(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut is_bearer = false;
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find(|own: char| !is_token(own)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if name.is_empty() {
            // No header has this here: what follows is not guessed at.
            return found;
        }
        let Some(value) = behind.trim_start().strip_prefix('=') else {
            is_bearer = name.eq_ignore_ascii_case("bearer");
            rest = behind;
            continue;
        };
        let (value, behind) = quoted_or_token(value.trim_start());
        if is_bearer {
            found.push((name.to_ascii_lowercase(), value));
        }
        rest = behind;
    }
}

fn is_token(own: char) -> bool {
    own.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(own)
}

/// A value, and what stands behind it.
fn quoted_or_token(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        let (value, behind) = text.split_at(end);
        return (value.to_owned(), behind);
    };
    let mut value = String::new();
    let mut chars = quoted.chars();
    while let Some(own) = chars.next() {
        match own {
            '"' => return (value, chars.as_str()),
            '\\' => value.extend(chars.next()),
            own => value.push(own),
        }
    }
    // It has no end: it is no value.
    (String::new(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(status: u16, header: &'static str) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        headers.insert(WWW_AUTHENTICATE, header.parse().unwrap());
        Challenge::from_response(StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn what_a_refusal_says() {
        let own =
            challenge(401, r#"Basic realm="x, Bearer scope=\"no\"", bearer scope="b a", resource_metadata="u,v""#);
        let own = own.unwrap();
        assert_eq!((joined(&own.scopes).as_str(), own.resource_metadata.as_deref()), ("a b", Some("u,v")));
        let own = challenge(403, r#"Bearer error = insufficient_scope , scope=a"#).unwrap();
        assert!(own.is_step_up && own.scopes.contains("a"));
        assert_eq!(challenge(403, r#"Bearer error="invalid_token""#), None);
        assert_eq!(challenge(200, r#"Bearer error="insufficient_scope""#), None);
        for odd in ["", "=", "Negotiate abc==", "Bearer scope=\"a", "Bearer scope", ",,,", "Bearer @=1"] {
            assert_eq!(challenge(401, odd).map(|own| own.scopes), Some(Scopes::new()), "{odd}");
        }
    }

    #[test]
    fn scopes_are_those_that_can_be_sent() {
        assert_eq!(joined(&scopes("a  b\u{a0} c\"d files:read")), "a files:read");
        assert_eq!(scopes(&"x".repeat(300)).len(), 0);
    }
}
