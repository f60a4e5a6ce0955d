//! Checks of the headers of a request: content types, protocol version, mirrored values.

use http::{HeaderMap, header};

use super::{METHOD, NAME};
use crate::rpc::{Message, Raw, code, error_member, error_with};
use crate::version::{META_VERSION, STATELESS, is_known};

/// Checks that the protocol version is supported, and that header and body agree.
pub(super) fn version_fits(header: Option<&str>, body: Option<&str>, is_request: bool) -> Result<(), Raw> {
    match (header, body) {
        (Some(header), Some(body)) if header != body => {
            let why = format!(
                "the header MCP-Protocol-Version ({header}) differs from `{META_VERSION}` in the body ({body})"
            );
            Err(error_member(code::HEADER_MISMATCH, &why))
        }
        (None, Some(_)) => Err(error_member(code::HEADER_MISMATCH, "the header MCP-Protocol-Version is missing")),
        (Some(header), _) if !is_known(header) => {
            let data = serde_json::json!({"requested": header, "supported": [STATELESS]});
            match body {
                Some(_) => Err(error_with(code::UNSUPPORTED_VERSION, "Unsupported protocol version", &data)),
                None => Err(error_member(
                    code::INVALID_REQUEST,
                    &format!("Bad Request: Unsupported protocol version: {header}"),
                )),
            }
        }
        (Some(STATELESS), None) if is_request => {
            Err(error_member(code::INVALID_PARAMS, &format!("`_meta` has no `{META_VERSION}`")))
        }
        _ => Ok(()),
    }
}

/// Checks that the headers by which intermediaries route match the body (SEP-2243). Missing headers
/// are accepted, since the gateway reads the body.
pub(super) fn mirrored(headers: &HeaderMap, message: &Message) -> Result<(), String> {
    let Message::Request(request) = message else { return Ok(()) };
    let params = crate::object::Object::from_params(request.params.as_deref());
    let name: Option<String> = match request.method.as_str() {
        "tools/call" | "prompts/get" => params.read_as("name"),
        "resources/read" => params.read_as("uri"),
        _ => None,
    };
    for (header, expected) in [(&METHOD, Some(request.method.clone())), (&NAME, name)] {
        let mut given = headers.get_all(header).iter();
        let (Some(first), None) = (given.next(), given.next()) else {
            if headers.get_all(header).iter().count() > 1 {
                return Err(format!("duplicate header {header}"));
            }
            continue;
        };
        let first = first.to_str().map(decoded).unwrap_or_default();
        if expected.as_ref().is_some_and(|expected| *expected != first) {
            return Err(format!("the header {header} contradicts the body"));
        }
    }
    Ok(())
}

/// Decodes a header value that may be wrapped in base64.
fn decoded(value: &str) -> String {
    use base64::Engine as _;
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = inner.and_then(|inner| base64::engine::general_purpose::STANDARD.decode(inner).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_owned())
}

pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(super) fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let group = wanted.split('/').next().unwrap_or_default();
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| {
        let kind = one.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case(wanted) || kind == "*/*" || kind.strip_suffix("/*") == Some(group)
    })
}
