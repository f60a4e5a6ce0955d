//! Requests to authorization servers and for metadata: over TLS, limited in time and size, without
//! redirects to other hosts.

use std::time::Duration;

use crate::link::beginning;
use crate::link::http::CONNECT;
use crate::link::http::body::unreachable_because;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::de::DeserializeOwned;

/// The maximum size of a response, in bytes: metadata and tokens have a few thousand.
const MAX_BODY: usize = 512 * 1024;

/// Time limit of a request.
const TIME: Duration = Duration::from_secs(20);

/// The maximum number of redirects of a request for metadata. They stay on the same host.
const MAX_REDIRECTS: usize = 3;

/// Parses a URL: https, or of this machine if the server is on this machine.
pub(super) fn safe_url(is_local: bool, what: &str, text: &str) -> Result<Url, String> {
    let shown = || beginning(text);
    let url = Url::parse(text).map_err(|why| format!("{what} `{}` is not a valid URL: {why}", shown()))?;
    let is_safe = url.scheme() == "https" || (is_local && url.scheme() == "http" && is_loopback(&url));
    if !is_safe || !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(format!("{what} `{}` must be an https URL", shown()));
    }
    Ok(url)
}

/// The HTTP client, without default headers, so that no other server's secret is sent.
#[derive(Debug)]
pub(super) struct Web {
    client: Client,
    /// Whether the server is on this machine: only then, others here may lack TLS.
    is_local: bool,
}

impl Web {
    pub(super) fn new(server: &Url) -> Result<Self, String> {
        crate::tls::ready();
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .timeout(TIME)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|why| format!("cannot create an HTTP client: {why}"))?;
        Ok(Self { client, is_local: is_loopback(server) })
    }

    /// Parses a URL as [`safe_url`].
    pub(super) fn url(&self, what: &str, text: &str) -> Result<Url, String> {
        safe_url(self.is_local, what, text)
    }

    /// Reads a JSON document; `None` if the URL has none.
    pub(super) async fn document<T: DeserializeOwned>(&self, what: &str, url: Url) -> Result<Option<T>, String> {
        let mut at = url;
        for _ in 0..=MAX_REDIRECTS {
            let get = self.client.get(at.clone()).header(ACCEPT, "application/json");
            let response = sent(what, get).await?;
            let status = response.status();
            if status.is_redirection() {
                at = self.elsewhere(what, &at, &response)?;
                continue;
            }
            if status.is_client_error() {
                return Ok(None);
            }
            if !status.is_success() {
                return Err(format!("{what}: HTTP {status}"));
            }
            let body = read_body(what, response).await?;
            let read = serde_json::from_slice(&body).map(Some);
            return read.map_err(|why| format!("{what} cannot be read: {}", beginning(&why.to_string())));
        }
        Err(format!("{what}: more than {MAX_REDIRECTS} redirects"))
    }

    fn elsewhere(&self, what: &str, from: &Url, response: &Response) -> Result<Url, String> {
        let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
        let to = from.join(to).map_err(|why| format!("{what}: invalid redirect: {why}"))?;
        if to.origin() != from.origin() {
            return Err(format!("{what}: redirects to another host, which is not supported"));
        }
        self.url(what, to.as_str())
    }

    pub(super) async fn form(
        &self,
        what: &str,
        url: Url,
        fields: &[(String, String)],
        authorization: Option<HeaderValue>,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let post = self.client.post(url).header(ACCEPT, "application/json");
        let post = post.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let post = match authorization {
            Some(value) => post.header(AUTHORIZATION, value),
            None => post,
        };
        let response = sent(what, post.body(encoded(fields))).await?;
        Ok((response.status(), read_body(what, response).await?))
    }

    pub(super) async fn json(
        &self,
        what: &str,
        url: Url,
        body: &serde_json::Value,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let post = self.client.post(url).header(ACCEPT, "application/json").header(CONTENT_TYPE, "application/json");
        let response = sent(what, post.body(body.to_string())).await?;
        Ok((response.status(), read_body(what, response).await?))
    }

    /// Sends an MCP message without a token, to get the server's challenge. The body is not read.
    pub(super) async fn post_without_token(&self, url: Url, body: &serde_json::Value) -> Result<Response, String> {
        let post = self.client.post(url).header(ACCEPT, "application/json, text/event-stream");
        sent("the server", post.header(CONTENT_TYPE, "application/json").body(body.to_string())).await
    }
}

/// Whether a URL's host is this machine (RFC 8252, section 7.3; RFC 6761, section 6.3).
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("[::1]") => true,
        Some(name) if name == "localhost" || name.ends_with(".localhost") => true,
        Some(address) => address.parse::<std::net::Ipv4Addr>().is_ok_and(|own| own.is_loopback()),
        None => false,
    }
}

/// Fields as `application/x-www-form-urlencoded`.
pub(super) fn encoded(fields: &[(String, String)]) -> String {
    let Ok(mut url) = Url::parse("https://form.invalid/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

async fn sent(what: &str, request: RequestBuilder) -> Result<Response, String> {
    request.send().await.map_err(|why| format!("{what}: {}", unreachable_because(&why)))
}

async fn read_body(what: &str, response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    let mut parts = response.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|why| format!("{what}: {}", unreachable_because(&why)))?;
        if body.len() + part.len() > MAX_BODY {
            return Err(format!("{what}: the response exceeds {MAX_BODY} bytes"));
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(server: &str) -> Web {
        Web::new(&Url::parse(server).unwrap()).unwrap()
    }

    #[test]
    fn only_https_is_allowed_to_other_machines() {
        let (far, near) = (web("https://x.test/mcp"), web("http://localhost:1/mcp"));
        for (url, from_far, from_near) in [
            ("https://a.test/t", true, true),
            ("http://a.test/t", false, false),
            ("http://127.0.0.1:3/t", false, true),
            ("http://[::1]:3/t", false, true),
            ("http://as.localhost/t", false, true),
            ("http://127.0.0.1.evil.test/t", false, false),
            ("https://u:p@a.test/t", false, false),
            ("https://a.test/t#f", false, false),
            ("javascript:alert(1)", false, false),
            ("file:///etc/passwd", false, false),
        ] {
            assert_eq!((far.url("it", url).is_ok(), near.url("it", url).is_ok()), (from_far, from_near), "{url}");
        }
    }

    #[test]
    fn a_form_is_encoded() {
        let own = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(encoded(&[own("a b", "c&d=é"), own("s", "x+y")]), "a+b=c%26d%3D%C3%A9&s=x%2By");
        assert_eq!(encoded(&[]), "");
    }
}
