//! The page: one document with inline style and script, and headers that forbid everything else.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use http::{HeaderName, StatusCode, header};
use sha2::{Digest, Sha256};

const DOCUMENT: &str = include_str!("../../../../assets/console.html");
const STYLE: &str = include_str!("../../../../assets/console.css");
const SCRIPT: &str = concat!(
    "'use strict';\n",
    include_str!("../../../../assets/text.js"),
    include_str!("../../../../assets/tables.js"),
    include_str!("../../../../assets/approvals.js"),
    include_str!("../../../../assets/console.js"),
);

struct Page {
    text: String,
    /// The content security policy: only this script, this style, and requests to the page's
    /// origin. Trusted types prevent the script from turning text into markup.
    policy: String,
}

static PAGE: LazyLock<Page> = LazyLock::new(|| {
    let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    Page { text: DOCUMENT.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", SCRIPT), policy }
});

pub(super) fn response() -> Response {
    const SAFE: [(HeaderName, &str); 8] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    let policy = [(header::CONTENT_SECURITY_POLICY, PAGE.policy.as_str())];
    (StatusCode::OK, SAFE, policy, PAGE.text.as_str()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With wrong hashes, the browser rejects both and the page is blank.
    #[test]
    fn the_policy_has_the_hashes_of_script_and_style() {
        for (begin, end, text) in [("<script>", "</script>", SCRIPT), ("<style>", "</style>", STYLE)] {
            let inside = PAGE.text.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).unwrap().0;
            assert_eq!(inside, text);
            assert!(!text.contains('\r') && !text.contains(end));
        }
    }

    #[test]
    fn the_page_loads_nothing_and_turns_no_text_into_markup() {
        for no in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "cookie", "localStorage"]
        {
            assert!(!SCRIPT.contains(no), "{no}");
        }
        for no in ["http://", "https://", "src=", "@import", "url(", " style=", " onclick="] {
            assert!(!PAGE.text.contains(no), "{no}");
        }
    }
}
