//! The protocol versions and their lifecycles.

use serde_json::value::RawValue;

use crate::object::Object;

/// The versions with `initialize` and sessions, newest first.
pub const WITH_SESSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The stateless version: every request describes its client.
pub const STATELESS: &str = "2026-07-28";

/// The `_meta` key of a request's version (SEP-2575).
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The `_meta` key of the client's capabilities.
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The `_meta` key of the client's identity.
pub const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// The `_meta` key of the log level that the client requests.
pub const META_LOG: &str = "io.modelcontextprotocol/logLevel";

/// Whether a version begins with `initialize`. Versions are dates, so that they sort.
#[must_use]
pub fn has_sessions(version: &str) -> bool {
    version < STATELESS
}

/// Whether the gateway supports a version.
#[must_use]
pub fn is_known(version: &str) -> bool {
    version == STATELESS || WITH_SESSIONS.contains(&version)
}

/// The version in the `_meta` of a request's parameters.
#[must_use]
pub fn in_meta(params: &RawValue) -> Option<String> {
    if !params.get().contains(META_VERSION) {
        return None;
    }
    Object::from_json(params)?.object("_meta")?.read_as(META_VERSION)
}
