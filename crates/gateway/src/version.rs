//! Protocol versions: which there are, and which of the two lifecycles each has.

use serde_json::value::RawValue;

use crate::object::Object;

/// The versions with `initialize` and sessions, newest first.
pub const WITH_SESSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The version without: every request says for itself what the client is.
pub const STATELESS: &str = "2026-07-28";

/// The member of `_meta` that names the version of a request (SEP-2575).
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The member of `_meta` that says what the client can do.
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The member of `_meta` that says who the client is.
pub const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// The member of `_meta` that says which lines of the log the client wants of this request.
pub const META_LOG: &str = "io.modelcontextprotocol/logLevel";

/// Whether a version begins with `initialize`. Versions are dates, so that they sort.
#[must_use]
pub fn has_sessions(version: &str) -> bool {
    version < STATELESS
}

/// Whether a version is one that the gateway speaks.
#[must_use]
pub fn is_known(version: &str) -> bool {
    version == STATELESS || WITH_SESSIONS.contains(&version)
}

/// The version that the parameters of a request name, if they do.
#[must_use]
pub fn in_meta(params: &RawValue) -> Option<String> {
    if !params.get().contains(META_VERSION) {
        return None;
    }
    Object::from_json(params)?.object("_meta")?.read_as(META_VERSION)
}
