//! The token endpoint (OAuth 2.1, section 3.2).

use reqwest::StatusCode;
use serde::Deserialize;
use toolfold::diagnostic::visible;

use super::AuthSettings;
use super::challenge::{Scopes, scopes};
use super::client::ClientId;
use super::kept::Tokens;
use super::web::Web;
use crate::link::beginning;

/// The maximum size of a token, in bytes: it must fit into a request header.
const MAX_TOKEN: usize = 16 * 1024;

pub(super) struct For<'f> {
    pub(super) issuer: &'f str,
    pub(super) token_endpoint: &'f str,
    pub(super) resource: &'f str,
    pub(super) asked: Scopes,
}

pub(super) struct Refused {
    /// Whether the same request would fail again.
    pub(super) is_final: bool,
    pub(super) why: String,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self { is_final: false, why }
    }
}

#[derive(Deserialize)]
struct Given {
    access_token: String,
    token_type: Option<String>,
    refresh_token: Option<String>,
    expires_in: Option<f64>,
    scope: Option<String>,
}

/// Requests tokens; `fields` are those of the grant.
pub(super) async fn request_tokens(
    web: &Web,
    settings: &AuthSettings,
    client: &ClientId,
    of: For<'_>,
    mut fields: Vec<(String, String)>,
    now_ms: i64,
) -> Result<Tokens, Refused> {
    let url = web.url("the token endpoint", of.token_endpoint)?;
    fields.push(("resource".to_owned(), of.resource.to_owned()));
    let header = client.sign(settings, of.issuer, now_ms, &mut fields)?;
    let (status, body) = web.form("the token endpoint", url, &fields, header).await?;
    if !status.is_success() {
        let sent = fields.iter().map(|(_, value)| value.as_str());
        let secrets: Vec<&str> = sent.chain(client.secret.as_deref()).collect();
        let why = format!("the authorization server issued no token: {}", oauth_error(status, &body, &secrets));
        return Err(Refused { is_final: status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS, why });
    }
    let given: Given = serde_json::from_slice(&body).map_err(|_| "the token endpoint returned no token".to_owned())?;
    if !given.token_type.as_deref().is_none_or(|own| own.eq_ignore_ascii_case("bearer")) {
        return Err("the token endpoint returned a token whose type is not Bearer".to_owned().into());
    }
    let is_good = |token: &str| {
        !token.is_empty() && token.len() <= MAX_TOKEN && token.bytes().all(|byte| (0x21..0x7f).contains(&byte))
    };
    if !is_good(&given.access_token) {
        return Err("the token endpoint returned a token that cannot be sent in a header".to_owned().into());
    }
    #[allow(clippy::cast_possible_truncation, reason = "a cast of f64 to i64 saturates")]
    let until_ms = given.expires_in.map(|seconds| now_ms.saturating_add((seconds.max(0.0) * 1000.0) as i64));
    Ok(Tokens {
        issuer: of.issuer.to_owned(),
        token_endpoint: of.token_endpoint.to_owned(),
        method: client.method.clone(),
        client_id: client.id.clone(),
        resource: of.resource.to_owned(),
        access: given.access_token,
        refresh: given.refresh_token,
        until_ms,
        given: given.scope.as_deref().map_or_else(|| of.asked.clone(), scopes),
        asked: of.asked,
    })
}

/// An authorization server's error (RFC 6749, section 5.2), without values that were sent to it.
pub(super) fn oauth_error(status: StatusCode, body: &[u8], secrets: &[&str]) -> String {
    #[derive(Deserialize)]
    struct Error {
        error: String,
        error_description: Option<String>,
    }
    let Ok(own) = serde_json::from_slice::<Error>(body) else { return format!("HTTP {status}") };
    let description = own.error_description.unwrap_or_default();
    let text = if description.is_empty() { own.error } else { format!("{}: {description}", own.error) };
    // Short values are words such as `none`, not secrets.
    if secrets.iter().any(|own| own.len() >= 8 && text.contains(own)) {
        return format!("HTTP {status}");
    }
    visible(&beginning(&text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_repeats_no_secret() {
        let body = br#"{"error":"invalid_grant","error_description":"code c0de-c0de is spent"}"#;
        let status = StatusCode::BAD_REQUEST;
        assert_eq!(oauth_error(status, body, &["other-secret"]), "invalid_grant: code c0de-c0de is spent");
        assert_eq!(oauth_error(status, body, &["c0de-c0de"]), "HTTP 400 Bad Request");
        assert_eq!(oauth_error(status, b"<html>", &[]), "HTTP 400 Bad Request");
    }
}
