//! The reason of a rejected request: `WWW-Authenticate` (RFC 9110, section 11.6.1; RFC 6750,
//! section 3; RFC 9728, section 5.1).

use std::collections::BTreeSet;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use serde::{Deserialize, Serialize};

/// The maximum number and length of scopes in a text: users cannot review more.
const MAX_SCOPES: usize = 128;
const MAX_SCOPE: usize = 256;

pub(super) type Scopes = BTreeSet<String>;

/// A rejection that a token can resolve.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Challenge {
    /// The URL of the resource's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resource_metadata: Option<String>,
    #[serde(default, skip_serializing_if = "Scopes::is_empty")]
    pub(super) scopes: Scopes,
    /// Whether the token is valid and its scopes are insufficient (`insufficient_scope`).
    #[serde(default)]
    pub(super) is_step_up: bool,
}

impl Challenge {
    /// The challenge of a response: 401, or 403 with insufficient scopes.
    pub(crate) fn from_response(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        let said = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let params: Vec<(String, String)> = said.flat_map(bearer).collect();
        let [error, resource_metadata, scope] = ["error", "resource_metadata", "scope"]
            .map(|name| params.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone()));
        let is_step_up = error.as_deref() == Some("insufficient_scope");
        if status != StatusCode::UNAUTHORIZED && !(status == StatusCode::FORBIDDEN && is_step_up) {
            return None;
        }
        Some(Self {
            resource_metadata,
            scopes: scopes(&scope.unwrap_or_default()),
            is_step_up: is_step_up && status == StatusCode::FORBIDDEN,
        })
    }
}

/// The valid scopes of a text (RFC 6749, section 3.3), up to the maximum number.
pub(super) fn scopes(text: &str) -> Scopes {
    text.split(' ').filter(|own| is_scope(own)).take(MAX_SCOPES).map(str::to_owned).collect()
}

pub(super) fn is_scope(text: &str) -> bool {
    let mut bytes = text.bytes();
    let is_valid = bytes.all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
    is_valid && !text.is_empty() && text.len() <= MAX_SCOPE
}

/// Scopes as a request contains them, separated by blanks.
pub(super) fn joined(scopes: &Scopes) -> String {
    scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The parameters of `Bearer` in a header with schemes. Names are in lower case.
fn bearer(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut is_bearer = false;
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find(|own: char| !is_token(own)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if name.is_empty() {
            // Malformed: the rest is ignored.
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

/// A value and the text after it.
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
    // An unterminated quoted string has no value.
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
    fn a_rejection_is_parsed() {
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
    fn only_valid_scopes_are_read() {
        assert_eq!(joined(&scopes("a  b\u{a0} c\"d files:read")), "a files:read");
        assert_eq!(scopes(&"x".repeat(300)).len(), 0);
    }
}
