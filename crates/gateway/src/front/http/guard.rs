//! Checks the host, the origin and the token of requests.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use sha2::{Digest, Sha256};

use super::plain_text;
use crate::settings::DEFAULT_TENANT;

/// Checks requests. Default: loopback names, no foreign site, no token.
#[derive(Clone, Default)]
pub struct Guard {
    /// SHA-256 of each token with its tenant. Comparing digests takes constant time.
    tokens: Vec<([u8; 32], Arc<str>)>,
    /// Accepted names of the gateway in addition to those of this machine.
    hosts: Vec<String>,
    /// Accepted origins in addition to those of this machine.
    origins: Vec<String>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tokens, hosts, origins } = self;
        f.debug_struct("Guard")
            .field("tenants", &tokens.iter().map(|(_, tenant)| tenant).collect::<Vec<_>>())
            .field("hosts", hosts)
            .field("origins", origins)
            .finish()
    }
}

impl Guard {
    /// Adds a token of the only tenant. Every request must have one of the tokens.
    #[must_use]
    pub fn token(self, token: &str) -> Self {
        self.tenant(DEFAULT_TENANT, token)
    }

    /// Adds a token of a tenant. Every request must have one of the tokens.
    #[must_use]
    pub fn tenant(mut self, tenant: &str, token: &str) -> Self {
        self.tokens.push((Sha256::digest(token.as_bytes()).into(), tenant.into()));
        self
    }

    /// Removes all tokens.
    #[must_use]
    pub fn without_tokens(self) -> Self {
        Self { tokens: Vec::new(), ..self }
    }

    /// Adds accepted names of the gateway, without ports.
    #[must_use]
    pub fn hosts(self, hosts: Vec<String>) -> Self {
        Self { hosts, ..self }
    }

    /// Adds accepted origins, such as `https://app.test`.
    #[must_use]
    pub fn origins(self, origins: Vec<String>) -> Self {
        Self { origins, ..self }
    }

    /// Whether requests need a token.
    #[must_use]
    pub fn has_token(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// Returns the tenant of a request.
    ///
    /// # Errors
    /// The response to send instead: 403 for a foreign Host or Origin (a page of another site that
    /// reached this machine by DNS rebinding), 401 without a valid token.
    #[allow(clippy::result_large_err, reason = "the error is the response, created once")]
    pub fn check_headers(&self, headers: &HeaderMap) -> Result<Arc<str>, Response> {
        self.check_site(headers)?;
        self.check_token(headers)
    }

    fn has_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
    }

    /// Whether the origin was configured. Pages of this machine are accepted without that, but
    /// browsers do not let them read responses.
    pub(super) fn is_configured_origin(&self, origin: &HeaderValue) -> bool {
        origin.to_str().is_ok_and(|origin| self.has_origin(origin))
    }

    /// Checks that a request is for this gateway and does not come from a foreign site.
    #[allow(clippy::result_large_err, reason = "the error is the response, created once")]
    pub(super) fn check_site(&self, headers: &HeaderMap) -> Result<(), Response> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let Some(host) = host.and_then(|host| host.parse::<http::uri::Authority>().ok()) else {
            return Err(plain_text(StatusCode::BAD_REQUEST, "the Host header is missing or malformed"));
        };
        if !is_here(host.host()) && !self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host.host())) {
            return Err(plain_text(
                StatusCode::FORBIDDEN,
                "the header Host names another machine; if clients use this name, add it with --allow-host",
            ));
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let own = origin.parse::<Uri>().ok().is_some_and(|uri| uri.host().is_some_and(is_here));
            if !own && !self.has_origin(origin) {
                return Err(plain_text(StatusCode::FORBIDDEN, "this Origin is not allowed"));
            }
        }
        Ok(())
    }

    #[allow(clippy::result_large_err, reason = "the error is the response, created once")]
    fn check_token(&self, headers: &HeaderMap) -> Result<Arc<str>, Response> {
        if self.tokens.is_empty() {
            return Ok(DEFAULT_TENANT.into());
        }
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given =
            given.and_then(|value| value.split_once(' ')).filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        let given = given.map(|(_, given)| <[u8; 32]>::from(Sha256::digest(given.trim().as_bytes())));
        let known = self.tokens.iter().find(|(token, _)| given.as_ref() == Some(token));
        if let Some((_, tenant)) = known {
            return Ok(tenant.clone());
        }
        let asks = [(header::WWW_AUTHENTICATE, "Bearer")];
        Err((StatusCode::UNAUTHORIZED, asks, "the gateway's bearer token is missing or invalid\n").into_response())
    }
}

/// Whether a host is a loopback name.
fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(guard: &Guard, given: &[(&'static str, &str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        guard.check_headers(&headers).map_or_else(|response| response.status().as_u16(), |_| 200)
    }

    #[test]
    fn only_loopback_hosts_are_accepted() {
        let guard = Guard::default().hosts(vec!["tools.test".into()]).origins(vec!["https://app.test".into()]);
        for host in ["localhost:3000", "127.0.0.1", "[::1]:80", "LOCALHOST", "tools.test:443"] {
            assert_eq!(status(&guard, &[("host", host)]), 200, "{host}");
        }
        for host in ["evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "192.168.0.1", "tools.test.evil"] {
            assert_eq!(status(&guard, &[("host", host)]), 403, "{host}");
        }
        assert_eq!(status(&guard, &[]), 400);
        let from = |origin| status(&guard, &[("host", "localhost"), ("origin", origin)]);
        assert_eq!((from("http://localhost:5173"), from("https://app.test"), from("http://[::1]")), (200, 200, 200));
        for origin in ["http://evil.test", "null", "http://localhost.evil.test", "https://app.test.evil", "file://"] {
            assert_eq!(from(origin), 403, "{origin}");
        }
    }

    #[test]
    fn requests_need_a_token_if_one_is_configured() {
        let guard = Guard::default().token("s3cret");
        let with = |value| status(&guard, &[("host", "localhost"), ("authorization", value)]);
        assert_eq!((with("Bearer s3cret"), with("bearer s3cret")), (200, 200));
        assert_eq!((with("Bearer s3cre"), with("s3cret"), with("Basic s3cret"), with("")), (401, 401, 401, 401));
        assert_eq!(status(&guard, &[("host", "localhost")]), 401);
        assert!(!format!("{guard:?}").contains("s3cret"));
    }
}
