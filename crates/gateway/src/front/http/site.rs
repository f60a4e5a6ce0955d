//! The host that a request names, and the sites whose pages may read responses (CORS).

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::guard::Guard;
use super::plain_text;

/// The headers that clients send: MCP's, and those that requests with a token and JSON need.
const SENT: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, \
                    mcp-method, mcp-name";

/// How long a browser stores the answer to a preflight, in seconds: Chromium's maximum.
const STORED: &str = "7200";

/// Rejects a request that names two hosts: a proxy may check one, and the gateway the other.
#[allow(clippy::result_large_err, reason = "the error is the response, created once")]
pub(super) fn check_host(request: &Request) -> Result<(), Response> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    // The request line may contain the host too (RFC 9112, section 3.2.2).
    let absolute = request.uri().authority().map(http::uri::Authority::as_str);
    let differs =
        absolute.is_some_and(|own| first.is_none_or(|host| !host.as_bytes().eq_ignore_ascii_case(own.as_bytes())));
    if second.is_some() || differs {
        let why = "the request names more than one host; send one Host header";
        return Err(plain_text(StatusCode::BAD_REQUEST, why));
    }
    Ok(())
}

/// Answers preflights, and lets pages of the configured origins read responses. A preflight has no
/// token: browsers send none.
pub(super) async fn share_with_origins<A: Future<Output = Response>>(
    guard: &Guard,
    request: Request,
    answer: impl FnOnce(Request) -> A,
) -> Response {
    let Some(origin) = request.headers().get(ORIGIN).filter(|origin| guard.is_configured_origin(origin)).cloned()
    else {
        return answer(request).await;
    };
    let is_preflight =
        request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match guard.check_site(request.headers()) {
        Err(refused) => return refused,
        Ok(()) if is_preflight => preflight(),
        Ok(()) => answer(request).await,
    };
    share(response.headers_mut(), origin);
    response
}

fn preflight() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (ACCESS_CONTROL_MAX_AGE, STORED),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Mcp-Session-Id"));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
