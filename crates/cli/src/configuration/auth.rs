//! The login of a gateway's server: `[gateway.server.NAME.auth]`.

use schemars::JsonSchema;
use serde::Serialize;
use toml::de::DeValue;

use super::file::flat;
use super::value::{Bad, text_value, unknown_key, wrong};
use toolfold::diagnostic::visible;
use toolfold_gateway::link::auth::{AuthSettings, Grant};

const KNOWN: [&str; 8] =
    ["client_id", "client_metadata_url", "client_secret", "grant", "issuer", "private_key", "redirect_port", "scopes"];

/// The options of one server's login. Secrets are references: `${NAME}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct AuthOptions {
    /// `authorization_code` or `client_credentials`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The id of the client that was registered in advance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The client's secret, as `${NAME}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The client's private key, as `${NAME}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_key: Option<String>,
    /// The URL of the client's metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_metadata_url: Option<String>,
    /// The URL of the authorization server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The scopes to request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The local port that the browser is redirected to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_port: Option<u16>,
}

impl AuthOptions {
    /// The settings, with variables replaced. The error is the name of a variable that is not set.
    pub(crate) fn settings(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<AuthSettings, String> {
        let grant = Grant::ALL.into_iter().find(|own| Some(own.name()) == self.grant.as_deref());
        let mut settings = AuthSettings::default();
        settings.grant = grant.unwrap_or_default();
        settings.client_id.clone_from(&self.client_id);
        settings.client_secret = secret_value(self.client_secret.as_deref(), env)?;
        settings.private_key = secret_value(self.private_key.as_deref(), env)?;
        settings.client_metadata_url.clone_from(&self.client_metadata_url);
        settings.issuer.clone_from(&self.issuer);
        settings.scopes.clone_from(&self.scopes);
        settings.redirect_port = self.redirect_port;
        Ok(settings)
    }
}

/// The secret that `${NAME}` refers to; the error names a variable that is not set.
fn secret_value(written: Option<&str>, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<String>, String> {
    let Some(name) = written.and_then(variable) else { return Ok(None) };
    env(name).map(Some).ok_or_else(|| format!("the environment has no `{}`", visible(name)))
}

pub(super) fn read_auth(value: &DeValue<'_>) -> Result<AuthOptions, Bad> {
    let DeValue::Table(keys) = value else {
        let help = "write [gateway.server.NAME.auth] with settings below it";
        return Err(("wrong-type", "it is not a table".to_owned(), help.to_owned()));
    };
    let mut own = AuthOptions::default();
    for (key, value) in keys {
        let key: &str = key.get_ref();
        option(&mut own, key, value.get_ref())
            .map_err(|(code, why, help)| (code, format!("`{}`: {why}", visible(key)), help))?;
    }
    let has_secret = own.client_secret.is_some() || own.private_key.is_some();
    if own.client_secret.is_some() && own.private_key.is_some() {
        return Err(bad(
            "it has `client_secret` and `private_key`",
            "keep the one with which the client was registered",
        ));
    }
    if has_secret && own.client_id.is_none() {
        return Err(bad("it has a secret without a `client_id`", "add the client that the secret belongs to"));
    }
    if own.grant.as_deref() == Some(Grant::ClientCredentials.name()) && !has_secret {
        let help = "add `client_id` with `client_secret` or `private_key`";
        return Err(bad("`client_credentials` needs a secret or a key", help));
    }
    Ok(own)
}

fn option(own: &mut AuthOptions, key: &str, value: &DeValue<'_>) -> Result<(), Bad> {
    match key {
        "grant" => {
            let text = text_value(value)?;
            if !Grant::ALL.iter().any(|own| own.name() == text) {
                let known = Grant::ALL.map(Grant::name).join(" or ");
                return Err(bad(&format!("`{}` is not a grant type", visible(&text)), &format!("write {known}")));
            }
            own.grant = Some(text);
        }
        "client_id" => own.client_id = Some(text_value(value)?),
        "client_secret" => own.client_secret = Some(secret_reference(value)?),
        "private_key" => own.private_key = Some(secret_reference(value)?),
        "client_metadata_url" => own.client_metadata_url = Some(url(value)?),
        "issuer" => own.issuer = Some(url(value)?),
        "redirect_port" => {
            let port = flat(value).and_then(|text| text.parse::<u16>().ok()).filter(|port| *port > 0);
            own.redirect_port =
                Some(port.ok_or_else(|| bad("it must be a port number", "write a number below 65536"))?);
        }
        "scopes" => {
            own.scopes = match value {
                DeValue::String(text) => text.split(' ').filter(|own| !own.is_empty()).map(str::to_owned).collect(),
                DeValue::Array(list) => {
                    let mut texts = Vec::new();
                    for own in list {
                        let DeValue::String(text) = own.get_ref() else {
                            return Err(wrong("it must be a list of texts"));
                        };
                        texts.push(text.to_string());
                    }
                    texts
                }
                _ => return Err(wrong("it must be a list of texts")),
            }
        }
        _ => return Err(unknown_key(key, &KNOWN)),
    }
    Ok(())
}

fn bad(why: &str, help: &str) -> Bad {
    ("bad-setting", why.to_owned(), help.to_owned())
}

fn url(value: &DeValue<'_>) -> Result<String, Bad> {
    let text = text_value(value)?;
    let is_url = ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme));
    if is_url { Ok(text) } else { Err(bad("it must be a URL", "start it with https://")) }
}

/// A reference to a secret, `${NAME}`. Errors do not repeat the text, which may be the secret.
fn secret_reference(value: &DeValue<'_>) -> Result<String, Bad> {
    let text = text_value(value)?;
    if variable(&text).is_some() {
        return Ok(text);
    }
    let help = "put it into an environment variable, and write \"${NAME}\"";
    Err(bad("a secret does not belong in this file", help))
}

/// The variable's name if the text is exactly `${NAME}`.
fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(name)
}
