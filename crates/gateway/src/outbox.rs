//! Sends one JSON request at a time, for commands that call a model's API. Redirects are not
//! followed, and the size of responses is bounded.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use tokio::runtime::{Builder, Runtime};

use crate::error::GatewayError;

/// Timeout for establishing a connection.
const CONNECT: Duration = Duration::from_secs(20);
/// Maximum size of a response, in bytes.
const MAX_ANSWER: usize = 64 << 20;

/// Sends JSON by POST and waits for the response.
pub struct Poster {
    runtime: Runtime,
    client: reqwest::Client,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Posted {
    /// The HTTP status.
    pub status: u16,
    /// The value of `Retry-After`, if it is a number of seconds.
    pub retry_after: Option<Duration>,
    /// The body as text.
    pub body: String,
}

impl Poster {
    /// A client.
    ///
    /// # Errors
    /// [`GatewayError`] if the client cannot be created.
    pub fn new() -> Result<Self, GatewayError> {
        crate::tls::ready();
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            // A redirect could send the headers to another host.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|why| format!("cannot create an HTTP client: {why}"))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self { runtime: runtime.map_err(|why| format!("cannot create an HTTP client: {why}"))?, client })
    }

    /// Posts a body, and waits at most `timeout` for the complete response. `headers` may hold
    /// secrets: errors contain neither the headers nor the URL.
    ///
    /// # Errors
    /// [`GatewayError`] if there is no complete response: no connection, a timeout, a response that
    /// is too long or is not UTF-8. A response with any status is not an error.
    pub fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: String,
        timeout: Duration,
    ) -> Result<Posted, GatewayError> {
        let mut all = HeaderMap::new();
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in headers {
            let bad =
                || format!("invalid header `{name}`: its name or value has characters that headers must not contain");
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            all.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value);
        }
        Ok(self.runtime.block_on(self.exchange(url, all, body, timeout))?)
    }

    async fn exchange(&self, url: &str, headers: HeaderMap, body: String, timeout: Duration) -> Result<Posted, String> {
        let failed = |why: reqwest::Error| {
            let timed_out = why.is_timeout();
            let why = why.without_url();
            let below = std::error::Error::source(&why).map(|below| format!(": {below}")).unwrap_or_default();
            if timed_out { "no response in time".to_owned() } else { format!("{why}{below}") }
        };
        let request = self.client.post(url).headers(headers).timeout(timeout).body(body);
        let mut answer = request.send().await.map_err(failed)?;
        let status = answer.status().as_u16();
        let after = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let mut bytes = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(failed)? {
            if bytes.len() + part.len() > MAX_ANSWER {
                return Err(format!("the response exceeds {} MiB", MAX_ANSWER >> 20));
            }
            bytes.extend_from_slice(&part);
        }
        let body = String::from_utf8(bytes).map_err(|_| "the response is not UTF-8".to_owned())?;
        Ok(Posted { status, retry_after: after.map(Duration::from_secs), body })
    }
}
