//! Finds the authorization server of an MCP server and its endpoints (RFC 9728, RFC 8414, OpenID
//! Connect Discovery; MCP specification, "Authorization").

use reqwest::Url;
use serde::Deserialize;

use super::challenge::{Challenge, Scopes, is_scope};
use super::web::Web;
use crate::link::beginning;

/// The metadata of a protected resource (RFC 9728, section 2).
#[derive(Deserialize)]
struct Resource {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    scopes_supported: Option<Vec<String>>,
}

/// The metadata of an authorization server (RFC 8414, section 2).
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Issuer {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Option<String>,
    pub(super) token_endpoint: Option<String>,
    pub(super) registration_endpoint: Option<String>,
    pub(super) scopes_supported: Option<Vec<String>>,
    pub(super) code_challenge_methods_supported: Option<Vec<String>>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Whether it accepts the URL of a client's metadata as client id
    /// (draft-ietf-oauth-client-id-metadata-document).
    #[serde(default)]
    pub(super) client_id_metadata_document_supported: bool,
    /// Whether its responses name the issuer (RFC 9207).
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The resource, exactly as in its metadata.
    pub(super) resource: String,
    pub(super) scopes: Scopes,
    pub(super) issuer: Issuer,
}

/// Finds the authorization server. `wanted` is the configured issuer.
pub(super) async fn discover(
    web: &Web,
    server: &Url,
    challenge: &Challenge,
    wanted: Option<&str>,
) -> Result<Found, String> {
    let Some(resource) = resource(web, server, challenge).await? else {
        // A server of 2025-03-26 has no metadata and is its own authorization server.
        let own = server.origin().ascii_serialization();
        let own = wanted.unwrap_or(&own);
        let issuer = issuer(web, own)
            .await
            .map_err(|why| format!("the server has no metadata of a protected resource; {why}"))?;
        return Ok(Found { resource: canonical(server), scopes: Scopes::new(), issuer });
    };
    if !resource_covers(&resource.resource, server) {
        let other = beginning(&resource.resource);
        return Err(format!("the server's metadata is for another resource, `{other}`; no token is requested"));
    }
    let named = resource.authorization_servers;
    let chosen = match wanted {
        Some(wanted) => named.iter().find(|own| *own == wanted).ok_or_else(|| {
            let first = named.first().map(|own| beginning(own)).unwrap_or_default();
            format!("the server's authorization server is `{first}`, but `issuer` is `{wanted}`")
        })?,
        None => named.first().ok_or("the server's metadata lists no authorization server")?,
    };
    let scopes = resource.scopes_supported.unwrap_or_default();
    let scopes = scopes.into_iter().filter(|own| is_scope(own)).take(128).collect();
    Ok(Found { issuer: issuer(web, chosen).await?, resource: resource.resource, scopes })
}

/// The metadata of the server: at the URL in its challenge, otherwise at the well-known URLs, with
/// the server's path first.
async fn resource(web: &Web, server: &Url, challenge: &Challenge) -> Result<Option<Resource>, String> {
    const WHAT: &str = "the metadata of the protected resource";
    if let Some(place) = &challenge.resource_metadata {
        let found = web.document(WHAT, web.url(WHAT, place)?).await?;
        return found.map(Some).ok_or_else(|| format!("{WHAT} is not at the URL that the server states"));
    }
    for place in well_known("oauth-protected-resource", server) {
        if let Some(found) = web.document(WHAT, web.url(WHAT, &place)?).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The metadata of an authorization server. Its issuer must be identical (RFC 8414, section 3.3).
async fn issuer(web: &Web, issuer: &str) -> Result<Issuer, String> {
    const WHAT: &str = "the metadata of the authorization server";
    let url = web.url("the authorization server", issuer)?;
    for place in places(&url) {
        let Some(found) = web.document::<Issuer>(WHAT, web.url(WHAT, &place)?).await? else { continue };
        if found.issuer != issuer {
            let (other, own) = (beginning(&found.issuer), beginning(issuer));
            return Err(format!("{WHAT} `{own}` names another issuer, `{other}`"));
        }
        return Ok(found);
    }
    Err(format!("{WHAT} `{}` was not found", beginning(issuer)))
}

/// The possible URLs of an authorization server's metadata, in the order of the MCP specification.
fn places(issuer: &Url) -> Vec<String> {
    let (origin, path) = (issuer.origin().ascii_serialization(), issuer.path().trim_end_matches('/'));
    let mut all = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        all.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    all
}

fn well_known(name: &str, server: &Url) -> Vec<String> {
    let (origin, path) = (server.origin().ascii_serialization(), server.path().trim_end_matches('/'));
    let mut all = vec![format!("{origin}/.well-known/{name}{path}")];
    if !path.is_empty() {
        all.push(format!("{origin}/.well-known/{name}"));
    }
    all
}

/// Whether a resource is the server, or a path of its host that contains the server.
fn resource_covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let (above, below) = (resource.path().trim_end_matches('/'), server.path());
    let is_within = below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    matches!(resource.scheme(), "http" | "https") && resource.origin() == server.origin() && is_within
}

/// A server's URL as a resource identifier (RFC 8707, section 2): without fragment, and without the
/// slash of an empty path.
fn canonical(server: &Url) -> String {
    let mut own = server.clone();
    own.set_fragment(None);
    let text = String::from(own);
    match server.path() {
        "/" if server.query().is_none() => text.trim_end_matches('/').to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_covers_the_paths_below_it() {
        let server = Url::parse("https://a.test/v1/mcp").unwrap();
        for good in
            ["https://a.test", "https://a.test/", "https://a.test/v1", "https://a.test/v1/mcp", "https://A.test:443/v1"]
        {
            assert!(resource_covers(good, &server), "{good}");
        }
        for bad in [
            "https://b.test",
            "http://a.test/v1/mcp",
            "https://a.test:444",
            "https://a.test/v",
            "https://a.test/v1/mcp/x",
            "https://a.test.evil.test",
            "a.test",
            "",
        ] {
            assert!(!resource_covers(bad, &server), "{bad}");
        }
    }

    #[test]
    fn metadata_is_searched_for_at_the_specified_urls() {
        let own = |text: &str| places(&Url::parse(text).unwrap());
        let root = [
            "https://a.test/.well-known/oauth-authorization-server",
            "https://a.test/.well-known/openid-configuration",
        ];
        assert_eq!(own("https://a.test"), root);
        assert_eq!(own("https://a.test/"), root);
        let below = [
            "https://a.test/.well-known/oauth-authorization-server/t",
            "https://a.test/.well-known/openid-configuration/t",
            "https://a.test/t/.well-known/openid-configuration",
        ];
        assert_eq!(own("https://a.test/t"), below);
        assert_eq!(canonical(&Url::parse("https://a.test/#x").unwrap()), "https://a.test");
    }
}
