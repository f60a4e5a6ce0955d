//! A server's hints about a tool's effects.

use serde::{Deserialize, Serialize};

/// MCP's tool annotations. They are hints from the server, not guarantees. An absent hint is not
/// the same as `false`: the defaults below are the specification's, and an absent hint must not be
/// taken as harmless.
///
/// Source: MCP 2025-11-25, `ToolAnnotations`. No provider shows them to a model or bills them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Annotations {
    /// The tool changes nothing. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may delete or overwrite data. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments has no further effect. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool interacts with systems outside the host. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}
